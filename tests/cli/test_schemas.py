"""Each verb's --json is as docs/schemas/ says; `printed` checks that in all other tests that print JSON too.

Training, exporting, doubts, advice and gates without labels take longer, and are checked there.
"""

from __future__ import annotations

import inspect
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import printed
from cli.calling import run
from demur.data import formats
from demur.types import Pool

POOLS = [
    Pool.of(
        f"which ape eats {n}", ["an ape eats figs", "a bee flies", f"apes sleep {n}"], [1, 0, 0], id=f"q{n}"
    )
    for n in range(12)
]
ENDLESS = {"serve", "mcp"}  # these run until they are stopped, and print nothing
GATE = "calibrate", "bm25", "pools.jsonl", "--risk", "0.9"
DONE = [
    ("ask", "lost card?", "--example", "--ranker", "bm25"),
    ("ask", "who won the cup?", "--example"),
    ("rank", "which ape?", "--candidates", "answers.txt", "--explain"),
    ("rank", "which ape?", "--candidates", "answers.txt", "--gate", "gate.json", "--ranker", "bm25"),
    ("rank", "which ape?", "--candidates", "answers.txt", "--set", "0.5", "--calibration", "pools.jsonl"),
    ("score", "pools.jsonl", "-o", "scored.jsonl"),
    ("score", "folder", "-o", "out"),
    ("evaluate", "pools.jsonl", "--ranker", "bm25", "-m", "MAP,AURC"),
    ("evaluate", "pools.jsonl", "--suite", "robust", "--seeds", "1", "--ranker", "length"),
    ("compare", "a.json", "b.json", "--test", "permutation,wilcoxon"),
    ("calibrate", "bm25", "pools.jsonl", "--plan"),
    ("calibrate", "bm25", "others.jsonl", "--check", "gate.json"),
    ("calibrate", "bm25", "pools.jsonl", "--set", "0.5"),
    GATE,
    ("advise", "unlabelled.jsonl", "--label-next", "2"),
    ("advise", "unlabelled.jsonl"),
    ("reproduce", "mini", "--cached"),
    ("kb", "add", "a.kb", "guide.md"),
    ("kb", "update", "a.kb", "--words-only"),
    ("kb", "status", "a.kb"),
    ("kb", "rebuild", "a.kb", "--words-only"),
    ("kb", "remove", "a.kb", "guide.md"),
    ("data", "list"),
    ("data", "show", "wikiqa"),
    ("data", "show", "pools.jsonl"),
    ("vectors", "train", "guide.md", "-o", "v.vec", "--model", "ppmi", "--min-count", "1", "--width", "2"),
    ("vectors", "show", "w.txt", "--like", "ape"),
    ("vectors", "convert", "w.txt", "-o", "v.safetensors"),
    ("plot", "pools.jsonl", "-o", "curve.svg"),
]
FAILED = [
    ("calibrate", "bm25", "pools.jsonl", "--risk", "0.01"),
    ("data", "check", "wikiqa"),
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DEMUR_DATA", str(tmp_path))
    monkeypatch.setattr("demur.advice.labelling.installed", lambda extra: False)
    formats.write_pools("pools.jsonl", POOLS)
    formats.write_pools("others.jsonl", [Pool.of(f"{p.question}?", p.answers, p.labels, p.id) for p in POOLS])
    formats.write_pools("unlabelled.jsonl", [Pool.of(p.question, p.answers, id=p.id) for p in POOLS])
    Path("folder").mkdir()
    formats.write_pools("folder/part.jsonl", POOLS[:2])
    Path("answers.txt").write_text("an ape eats figs\na bee flies\n", "utf-8")
    Path("guide.md").write_text("# Apes\n\nAn ape eats figs.\n\nA bee flies to the figs.\n", "utf-8")
    Path("w.txt").write_text("ape 1 0\nbee 0 1\nfig 1 1\n", "utf-8")
    return tmp_path


def made(words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """What the command needs, if other commands make it."""
    before: dict[str, list[tuple[str, ...]]] = {
        "gate.json": [(*GATE, "-o", "gate.json")],
        "a.json": [("evaluate", "pools.jsonl", "--ranker", name, "-o", f"{file}.json")
                   for name, file in (("bm25", "a"), ("length", "b"))],
        "a.kb": [("kb", "add", "a.kb", "guide.md", "--words-only")] if words[1] != "add" else [],
    }  # fmt: skip
    for word in words:
        for command in before.get(word, []):
            assert run(monkeypatch, *command) == 0


@pytest.mark.parametrize(("words", "code"), [*((each, 0) for each in DONE), *((each, 1) for each in FAILED)])
def test_it_is_as_its_schema_says(
    words: tuple[str, ...],
    code: int,
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if words[0] == "plot" and not find_spec("matplotlib"):
        pytest.skip("this needs matplotlib")
    made(words, monkeypatch)
    capsys.readouterr()
    assert run(monkeypatch, *words, "--json") == code
    out = capsys.readouterr().out
    assert "\x1b" not in out
    printed.check(" ".join(words[: 2 if words[0] in ("kb", "data", "vectors") else 1]), json.loads(out))


def takes_json(callback: Any) -> bool:
    return "json" in inspect.signature(callback).parameters


def test_every_verb_that_ends_has_a_schema() -> None:
    verbs = dict(printed.verbs())
    assert {verb for verb, callback in verbs.items() if not takes_json(callback)} == ENDLESS
    files = {path.stem for path in printed.SCHEMAS.glob("*.json")}
    assert files == {verb.replace(" ", "-") for verb in set(verbs) - ENDLESS}


def test_what_a_schema_does_not_describe_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    good = {"output": "a", "ranker": "bm25", "pools": 1, "pairs": 2, "resumed_pools": 0}
    printed.check("score", good)
    for bad in ({**good, "more": 1}, {**good, "pools": "1"}, {k: v for k, v in good.items() if k != "pairs"}):
        with pytest.raises(AssertionError, match="demur score --json is not as its schema says"):
            printed.check("score", bad)
    monkeypatch.setattr("demur.cli.data._listed", lambda dataset: {"name": dataset.name})
    with pytest.raises(AssertionError, match="demur data list --json"):
        run(monkeypatch, "data", "list", "--json")
