"""The card of the small model that comes with demur: measured, and written by a machine.

`make mini` writes it; `python -m tools.mini_card` writes it anew, which takes some minutes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import demur
from demur import store
from demur.data import pools
from demur.data.subsets import sample
from demur.errors import DataError, MissingData
from demur.evaluation.readers import evaluate_reader
from demur.export.mini import Alike
from demur.reading.readers.mini import PACKAGED, Mini
from demur.risk.gates.several import Gates, open_gates
from demur.types import Pool
from tools import overlaps
from tools.cards import BEGAN, RISKS, TYPOS, USUAL, failures, fooled, left_out, percents, shared, table, terms
from tools.figures import TEMPLATES, at, tables

RANKED = ("wikiqa/test/answerable", "trecqa/test/clean", "semeval2016/test", "selqa/test", "antique/test")
ASKED = ("wikiqa/test", "trecqa/test", "semeval2016/test", "selqa/test")
"""Where questions without a right answer stay in, as a gate meets them."""
READ = "squad/2.0/dev"
FACTS = ("MAP", "RR", "P@1")
_MOST = 0.3  # of the risks in the table of sets left out
SEEN = TEMPLATES / "results.md"
_MADE = "## How it was made\n\n"

_USE = """```python
import demur

mini = demur.ranker("mini")  # comes with demur; needs no torch and no network
for look in mini.look("who wrote the letter?", ["Ada wrote it in May.", "It rained."]):
    print(look.score, look.quote, look.confidence)
```

`demur ask QUESTION --from FILES --ranker mini` ranks, quotes and says how sure it is; `demur rank`, `score`,
`evaluate` and `calibrate` take it as any ranker."""

_FOR = """For ranking the passages that a search has found, some dozens at a time, in English, on a CPU: with
the answer quoted from the passage, and a confidence by which to say nothing. `demur ask` reads with it what
it has found by words and by meaning; `docs/asking.md` in demur's sources has how good both are.

It is not made for answers that must be put together from several passages, for whole documents, for other
languages, or for saying whether what a passage says is true. Where a wrong answer costs, calibrate a gate on
your own questions, and show the passage beside the quote."""

_LIMITS = """- It reads English. Other languages were not tried.
- It was taught on encyclopaedia, news and forum texts. On others, calibrate a gate of your own:
  `demur calibrate mini DATA --qualifier mini`.
- It learnt most from texts where an answer has words of its question. Where many texts are searched and
  questions share few words with them, as in the bundled handbook and in forums, the cosine of a sentence
  encoder ranks better{below}. `demur reproduce scarce table1 --cached` has the sum of both, too.
- Passages are read in windows of {max_length} tokens; a quote is one piece of the passage, {longest} at most.
- The confidence is of one passage, not of the ranking: two right passages may both have a high one.
- The gate promises its risk for questions drawn as those it was made on, for nothing else; the table above
  shows how it goes elsewhere.
- It was taught further on handbooks that were written for this by a language model, as were the questions.
- The unanswerable questions of SQuAD 2.0's train split are rebuilt here, so that some are not those of the
  published file."""


def text(
    mini: Mini,
    gates: Gates | None,
    made: str,
    count: int = 0,
    say: Callable[[str], None] = lambda line: None,
) -> str:
    """The page; of each test set so many questions are taken, or all. `made` says how it came about."""
    size = sum(path.stat().st_size for path in mini.place.iterdir() if path.name != "README.md") / 1e6
    reading, failures = _reading(mini, count, say)
    doubting, wrong = _doubting(mini, gates, count, say)
    limits = _LIMITS.format(max_length=mini.max_length, longest=mini.longest, below=_below())
    parts = [
        "# mini: ranks, reads and doubts in one pass",
        f"The small model that comes with demur, made by version {_version(mini)}: six layers of 384 "
        f"numbers, int8, {size:.1f} MB with its tokenizer. For a question and passages it says of each "
        "how well it answers, what it would quote, and how sure it is of both.",
        f"## How to use it\n\n{_USE}",
        f"## What it is for\n\n{_FOR}",
        "## How well it ranks\n\n" + _ranking(mini, count, say),
        "## How well it reads\n\n" + reading,
        "## How well it doubts\n\n" + doubting,
        elsewhere(),
        failing(),
        "## Known failures\n\n" + "\n".join([*wrong, fooled(), *failures]),
        f"## Limits\n\n{limits}",
        "## Data and their terms\n\n" + data(mini),
        _MADE + made,
    ]
    return "\n\n".join(parts) + "\n"


def how_made(networks: Mapping[str, Path], near: Alike) -> str:
    """By which recipes, in what time, and how near the bytes are to the network."""
    how = (
        f"`recipes/{name}`{_from(store.open_folder(network, check=False).made)}"
        for name, network in networks.items()
        if store.is_model(network)
    )
    return (
        f"`make mini`: {'; then '.join(how)}; then exported as int8. "
        f"On {near.pairs:,} pairs of texts like those it learnt from, scores agree with the network's own "
        f"with a rank correlation of {near.spearman:.4f}; {near.quotes:.1%} of the quotes are the same, and "
        f"{near.answered:.1%} of what is said to have one. Checksums of all files are in `ranker.json`."
    )


def _version(mini: Mini) -> str:
    """Of demur, that made it."""
    return str(store.open_folder(mini.place, check=False).made.get("demur", demur.__version__))


def _below() -> str:
    """Where the cosine of the encoder that comes with demur ranks better, of sets that both were run on."""
    found: dict[str, str] = {}
    for paper, row in (("mini", "as it comes"), ("scarce", "mini")):
        for name in (column.name for column in tables()[paper, "table1"].column):
            try:
                ours, theirs = (
                    at(SEEN, f"{paper} table1 | {each} | {name} | MAP").mean or 0.0
                    for each in (row, "encoder, as it comes")
                )
            except DataError:  # one of them was not run with the models that are here
                continue
            if ours < theirs:
                found.setdefault(name, f"{name} (MAP {ours:.3f}, the encoder's {theirs:.3f})")
    return f": {', '.join(found.values())}" if found else ""


def _from(made: Mapping[str, Any]) -> str:
    """How long its stages took; or that its weights were not learnt again, but taken from the mini before."""
    if "stages" in made:
        return _taken(made)
    return f", whose weights were taken from the model packaged before ({made['from']})"


def _taken(made: Mapping[str, Any]) -> str:
    """How long the stages took, where `demur train` wrote it down."""
    seconds = [stage["seconds"] for stage in made["stages"] if isinstance(stage, dict)]
    return f" (its stages took {' and '.join(f'{each:,.0f}' for each in seconds)} seconds)" if seconds else ""


def _some(name: str, count: int) -> Sequence[Pool]:
    found = pools(name)
    return list(sample(found, count)) if count else found


def _ranking(mini: Mini, count: int, say: Callable[[str], None]) -> str:
    rows = []
    for name in RANKED:
        try:
            report = demur.evaluate(mini, _some(name, count), FACTS)
        except MissingData as error:
            say(str(error))
            continue
        cells = (f"{one.mean:.3f} ± {(one.high - one.low) / 2:.3f}" for one in report.measures.values())
        rows.append([f"`{name}`", f"{report.pools:,}", *cells])
        say(" ".join(rows[-1]))
    return table(["test set", "questions", *FACTS], rows) + "\n\nBehind ±: half of the 95 % interval."


def _reading(mini: Mini, count: int, say: Callable[[str], None]) -> tuple[str, list[str]]:
    """The section, and what failed."""
    report = evaluate_reader(mini, _some(READ, count), data=READ).report
    rows = [
        [name, f"{one.mean:.3f}", f"{one.low:.3f} – {one.high:.3f}"] for name, one in report.measures.items()
    ]
    say(str(rows))
    right = report.measures["HasAns-EM"].mean
    failed = f"- Of questions whose passage has the answer it quotes exactly the right words for {right:.1%}."
    found = table(["measure", "mean", "interval"], rows)
    return f"On `{READ}`, {report.pools:,} questions.\n\n{found}", [failed]


def _doubting(
    mini: Mini, gates: Gates | None, count: int, say: Callable[[str], None]
) -> tuple[str, list[str]]:
    """The section, and where more was wrong than the usual gate says."""
    how = f'mini(folder="{mini.folder}")' if mini.folder else "mini"
    each = sorted(gates.gates, key=lambda gate: gate.certificate.risk) if gates else []
    rows, above = [], []
    for name in ASKED:
        some = _some(name, count)
        row = [f"`{name}`", f"{len(some):,}"]
        for qualifier in (how, "margin"):
            report = demur.evaluate(mini, some, ["AUROC"], qualifier=qualifier)
            row.append(f"{report.measures['AUROC'].mean:.3f}")
        said = [each[0].answers(mini, some)[0]] * len(each) if each else []  # their thresholds alone differ
        for gate, given in zip(each, said, strict=True):
            risk, most = given.risk(gate.threshold), gate.certificate.risk
            wrong = "none" if np.isnan(risk) else f"{risk:.1%} wrong"
            cell = f"{given.coverage_of_questions(gate.threshold):.1%}, {wrong}"
            row.append(f"**{cell}**" if risk > most else cell)
            if gates and gate is gates.of() and risk > most:
                above.append(f"`{name}` ({risk:.1%})")
        rows.append(row)
        say(" ".join(row))
    head = ["test set", "questions", "AUROC", "AUROC of the margin"]
    head += [f"answered at {percents([gate.certificate.risk])}" for gate in each]
    facts = mini.confidence_model.made if mini.confidence_model else {}
    learnt = (
        f"The confidence learnt from {facts['pools']:,} pools whose questions the network has not seen "
        f"({facts['passages']:,} passages, {facts['right']:,} right); other ones made the gates. "
        if facts
        else ""
    )
    none = set(RISKS) - {gate.certificate.risk for gate in each}
    failed = []
    if gates is None:
        made = "No risk could be promised, so it comes without a gate."
    else:
        usual = gates.of()
        made = f"The gate of `gate.json`, on held-out pools of {usual.certificate.data}: {usual.promise}"
        made += f" For a risk of {percents(none)} no gate could be made." if none else ""
        if above:
            failed.append(
                f"- By the gate for {percents([usual.certificate.risk])}, more of what was answered was "
                f"wrong on {', '.join(above)}."
            )
    told = (
        "AUROC is how often the confidence is higher for a right top passage than for a wrong one. For each "
        "risk that there is a gate for stands how many of the questions are answered, and how many of these "
        "answers are wrong; in bold, where more are than the gate says. Nothing was promised for these sets."
    )
    return f"{learnt}{made}\n\n{table(head, rows)}\n\n{told}", failed


def elsewhere() -> str:
    """What gates of `mini` do on sets that did not make them."""
    risks = [risk for risk in RISKS if risk <= _MOST]
    return f"""## On sets that a gate was not made on

A gate promises its risk for questions like those it was made on. For each set there were three gates: made
on its own held-out questions, on those of all sets, which is the gate that comes with `mini`, and on those of
all sets but this. Each met the set's test questions; here stand the share that it answers, and how much of
that is wrong, in bold where that is more than the gate says. `python -m tools.mini_left_out` measured it.

{left_out(risks)}

SQuAD's held-out questions have an answer twice as often as not, those of its dev set every second time; so
even a gate of its own does not hold there."""


def failing() -> str:
    """What its doubt does where an answer must fail."""
    return f"""## Where an answer must fail

Questions of each set were asked with typos (in {TYPOS:.0%} of their words, at least in one); as random
letters; as a heap of words of other questions; of passages of another set; and with all right passages
taken away, so that near misses are left. But for typos, nothing that is answered then can be right. Here
stand the share that the gate for {percents([USUAL])} answers, how much of that is wrong, and how often a
right answer is surer than a wrong one. Beside it stands the same of a confidence that learnt from typos and
from questions without sense, too: it was made to see whether that helps, and does not come with demur.
`python -m tools.mini_failures` measured both.

{failures()}"""


def data(mini: Mini) -> str:
    """What it was made from, under which terms, and what of it stands in test sets."""
    held = list(mini.confidence_model.made.get("data", ())) if mini.confidence_model else []
    by_recipe = overlaps.named()
    names = [name for recipe in overlaps.NETWORKS["mini"] for name in by_recipe[recipe]]
    lines = [
        *terms([*names, *(f"{part} (confidence and gate)" for part in held)]),
        "- Handbooks that were written for this, in `tools/handbooks`: `learn`, and `chance` (confidence).",
        "- The encoder it began from is all-MiniLM-L6-v2; all-mpnet-base-v2 was a teacher; both Apache-2.0.",
    ]
    met = shared({"mini": "learnt from", "mini's confidence and gates": "confidence and gates"})
    return f"{met}\n\n{BEGAN}\n\n" + "\n".join(lines)


def main() -> None:
    """Write the page of the model that is there, measured anew; how it was made stays as it is told."""
    said = argparse.ArgumentParser(description=__doc__)
    said.add_argument("--measure", type=int, default=0, help="questions of each test set; 0 is all")
    asked = said.parse_args()
    place = PACKAGED / "README.md"
    made = place.read_text("utf-8").partition(_MADE)[2].strip()
    page = text(Mini(), open_gates(PACKAGED), made, asked.measure, lambda line: print(line, file=sys.stderr))
    place.write_text(page, "utf-8")


__all__ = ["PACKAGED", "how_made", "text"]

if __name__ == "__main__":
    main()
