"""Command lines: a good one is changed by options of its verb, other values and broken specs."""

from __future__ import annotations

import inspect
import shlex
from functools import cache
from typing import Any

from hypothesis import strategies as st

from demur import registry
from fuzz.calling import COMMAND

GOOD = [
    shlex.split(line)
    for line in (
        "ask drill? --from faq.md --ranker bm25",
        "ask drill? --kb base.kb --ranker bm25 --json",
        "ask drill? --from faq.csv --explain",
        "ask - --from page.html --ranker overlap --top 2",
        "ask drill? --example --ranker bm25 --stem none",
        "rank drill? --candidates candidates.txt",
        "rank drill? --candidates - --ranker overlap --json",
        "rank drill? --candidates candidates.txt --set 0.9 --calibration many.jsonl --explain",
        "rank drill? --candidates candidates.txt --ranker ./onnx",
        "rank drill? --candidates candidates.txt --gate gate.json --explain",
        "score pools.jsonl -o out.jsonl",
        "score pools.csv -o - --to run --ranker length",
        "score beir -o out.csv --json --restart",
        "evaluate pools.jsonl --ranker bm25",
        "evaluate pools.tsv --ranker length -m MAP,nDCG(gain=exp)@10,AURC --qualifier margin -o out.json",
        "evaluate --run scores.run --qrels qrels.txt --convention trec",
        "evaluate pools.jsonl --cases a.json b.json --top 2",
        "evaluate squad.json --answers answers.json --json",
        "evaluate pools.jsonl --ranker bm25 --suite robust --seeds 1",
        "compare a.json b.json",
        "compare a.json b.json --test wilcoxon,mcnemar --baseline b.json --json",
        "train recipe.toml -o out",
        "train --data pools.jsonl --trainer self(student=length) -o out --questions 3",
        "export ./onnx -o out",
        "calibrate bm25 many.jsonl --risk 0.4 -o out.json",
        "calibrate bm25 many.jsonl --plan --json",
        "calibrate bm25 pools.jsonl --check gate.json",
        "calibrate bm25 many.jsonl --set 0.9 -o out.json",
        "calibrate meaning --from faq.csv --without-labels --apart 0.5",
        "advise pools.jsonl --minutes 0.001 --label-next 2",
        "serve --from faq.md --ranker bm25 --port 0",
        "serve --kb base.kb --ranker bm25 --port 0 --key-file keys --allow-host * --read-only",
        "mcp --example --ranker bm25 --http --port 0",
        "plot many.jsonl -o out.svg --show histogram",
        "reproduce toy table1 --dirty",
        "reproduce --cached --json --only length",
        "kb add new.kb faq.md page.docx --words-only",
        "kb add base.kb faq.jsonl . --words-only --json",
        "kb update base.kb --words-only",
        "kb remove base.kb faq.md",
        "kb status base.kb --json",
        "kb rebuild base.kb --words-only",
        "data list --json",
        "data show pools.jsonl",
        "data show wikiqa --json",
        "data check wikiqa",
        "vectors train faq.txt -o out.txt --width 2 --min-count 1 --epochs 1 --model ppmi",
        "vectors show vectors.txt --like ship --json",
        "vectors convert vectors.txt -o out.safetensors --half --limit 3",
    )
]
FILES = shlex.split(
    "faq.md faq.csv faq.jsonl faq.txt page.html page.docx page.pdf candidates.txt answers.json recipe.toml "
    "vectors.txt vectors.bin keys empty binary qrels.txt scores.run pools.jsonl pools.csv pools.tsv beir "
    "pools.parquet squad.json many.jsonl a.json b.json gate.json sets.json base.kb siamese onnx . data "
    "nowhere nowhere/at/all no.jsonl faq.md/part pools.jsonl/sample-2 pools.jsonl/sample-x keys/ "
    "base.kb/kb.sqlite"
)
OUT = shlex.split(
    "out out.json out.jsonl out.csv out.tsv out.parquet out.run out.svg out.npz out.bin out.vec.gz out/x "
    "keys/x"
)
NAMES = shlex.split(
    "none mini meaning minilm glove example example/questions wikiqa wikiqa/test/clean squad/1.1/train bm25 "
    "margin english klingon fixed trec skip zero learned averaged platt curve permutation robust ltt local "
    "bonferroni ray auto fp32 int8 skipgram cbow ppmi paper drop 300ms 2s 0ms 127.0.0.1 ::1 localhost a/b/c "
    "postgresql://nobody@nowhere/x no/such-model train bm25;length bm25; ; [bm25] jsonl csv * http://x MAP "
    "P@0 nDCG@1.5 AURC Risk@2"
)
NUMBERS = shlex.split(
    "0 1 2 3 -1 0.5 0.1 0.9 1.0 1.5 1e308 1e-300 nan inf -inf 99999999999999999999 1_0 ٣ 0x1 +1 1e3"
)
ODD = [
    "",
    " ",
    "-",
    "--",
    "--no",
    "-x",
    "a b",
    "a\nb",
    "a\tb",
    "é",
    "日本",
    "\udc80",
    "%s",
    "{}",
    "[red]x",
    "x" * 300,
]
KINDS = tuple(each for each in registry.OURS if each != "dataset")
odd = st.sampled_from(ODD) | st.text("ab(=;[])\"'@%:+*?\n\té😀\udc80-0 ,", max_size=12)


@cache
def _settings(kind: str, name: str) -> tuple[str, ...]:
    return tuple(inspect.signature(registry.find(kind, name)).parameters)


@st.composite
def specs(draw: st.DrawFn, kinds: tuple[str, ...] = KINDS) -> str:
    """A name with settings that it takes or not, of right and wrong kinds; perhaps with a broken bracket."""
    kind = draw(st.sampled_from(kinds))
    name = draw(st.sampled_from(registry.names(kind)))
    keys = st.sampled_from((*_settings(kind, name), "nothing"))
    values = st.sampled_from([*NUMBERS, *FILES, *NAMES]) | odd | st.just("bm25(k1=1)")
    inside = draw(st.lists(st.builds("{}={}".format, keys, values), max_size=2))
    text = f"{name}({', '.join(inside)})" if inside else name
    return draw(st.just(text) | st.just(text) | broken(text))


@st.composite
def broken(draw: st.DrawFn, text: str) -> str:
    """A text with up to three characters too many or too few."""
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(text)))
        more = draw(st.sampled_from(["", *"()[]=,;'\"@ \\\n0"]))
        text = text[:place] + more + text[place + (not more) :]
    return text


values = st.one_of(*(st.sampled_from(each) for each in (FILES, OUT, NAMES, NUMBERS)), odd, specs())


def _verb(words: list[str]) -> tuple[Any, int]:
    """The command that these words name, and how many of them do."""
    found, count = COMMAND, 0
    while hasattr(found, "commands") and count < len(words) and words[count] in found.commands:
        found, count = found.commands[words[count]], count + 1
    return found, count


def _fitting(option: Any) -> st.SearchStrategy[str]:
    """Values of an option, mostly of its kind."""
    name = option.name.rstrip("s")
    if option.type_descriptor.annotation in (int, float, int | None, float | None):
        return st.sampled_from(NUMBERS) | values
    if name in registry.OURS:
        return specs((name,)) | specs((name,)) | values
    if name in ("output", "save"):
        return st.sampled_from(OUT) | values
    return values


@st.composite
def lines(draw: st.DrawFn) -> list[str]:
    """A command line."""
    words = list(draw(st.sampled_from(GOOD)))
    verb, first = _verb(words)
    options = [each for each in verb.params if each.opts[0].startswith("-")]
    for _ in range(draw(st.sampled_from([1, 1, 2, 3]))):
        place = draw(st.integers(first, len(words)))
        match draw(st.sampled_from([*["option"] * 5, "other", "more", "less", "verb", "broken"])):
            case "option":
                option = draw(st.sampled_from(options))
                flag = getattr(option, "is_flag", False)
                words += [draw(st.sampled_from(option.opts)), *([] if flag else [draw(_fitting(option))])]
            case "other":
                words[place : place + 1] = [draw(values)]
            case "more":
                words.insert(place, draw(values))
            case "less":
                del words[place : place + 1]
            case "verb":
                words[:1] = [draw(st.sampled_from(sorted(COMMAND.commands)) | odd)]  # type: ignore[attr-defined]
            case "broken":
                words[place : place + 1] = [draw(broken(each)) for each in words[place : place + 1]]
    return words
