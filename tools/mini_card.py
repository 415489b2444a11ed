"""The card of the small model that comes with demur: measured, and written by a machine."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import demur
from demur import store
from demur.data import pools, sources
from demur.data.subsets import sample
from demur.errors import MissingData
from demur.evaluation.readers import evaluate_reader
from demur.export.mini import Alike
from demur.reading.readers.mini import PACKAGED, Mini
from demur.risk import Gate
from demur.training.recipes.stages import Recipe, Stage
from demur.types import Pool
from tools.written import is_written

RANKED = ("wikiqa/test/answerable", "trecqa/test/clean", "semeval2016/test", "selqa/test", "antique/test")
ASKED = ("wikiqa/test", "trecqa/test", "semeval2016/test", "selqa/test")
"""Where questions without a right answer stay in, as a gate meets them."""
READ = "squad/2.0/dev"
FACTS = ("MAP", "RR", "P@1")

_USE = """```python
import demur

mini = demur.ranker("mini")  # comes with demur; needs no torch and no network
for look in mini.look("who wrote the letter?", ["Ada wrote it in May.", "It rained."]):
    print(look.score, look.quote, look.confidence)
```

`demur ask QUESTION --from FILES --ranker mini` ranks, quotes and says how sure it is; `demur rank`, `score`,
`evaluate` and `calibrate` take it as any ranker."""

_LIMITS = """- It reads English. Other languages were not tried.
- It was taught on encyclopaedia, news and forum texts. On others, calibrate a gate of your own:
  `demur calibrate mini DATA --qualifier mini`.
- It learnt most from texts where an answer has words of its question. Where many texts are searched and
  questions share few words with them, as in the bundled handbook and in forums, the cosine of a sentence
  encoder ranks better, and both together best: `demur reproduce mini table1 --cached`.
- Passages are read in windows of {max_length} tokens; a quote is one piece of the passage, {longest} at most.
- The confidence is of one passage, not of the ranking: two right passages may both have a high one.
- The gate promises its risk for questions drawn as those it was made on, for nothing else; the table above
  shows how it goes elsewhere.
- It was taught further on handbooks that were written for this by a language model, as were the questions.
- The unanswerable questions of SQuAD 2.0's train split are rebuilt here, so that some are not those of the
  published file."""


def measured(
    mini: Mini, gate: Gate | None, count: int = 0, say: Callable[[str], None] = lambda line: None
) -> str:
    """The parts of the page that tables are in."""
    parts = [
        "## How well it ranks\n\n" + _ranking(mini, count, say),
        "## How well it reads\n\n" + _reading(mini, count, say),
        "## How well it doubts\n\n" + _doubting(mini, gate, count, say),
    ]
    return "\n\n".join(parts)


def text(
    mini: Mini,
    networks: Mapping[str, Path],
    recipes: Sequence[Recipe],
    gate: Gate | None,
    near: Alike,
    count: int = 0,
    say: Callable[[str], None] = lambda line: None,
) -> str:
    """The page; of each test set so many questions are taken, or all."""
    size = sum(path.stat().st_size for path in mini.place.iterdir() if path.name != "README.md") / 1e6
    how = (
        f"`recipes/{name}`{_from(store.open_folder(network, check=False).made)}"
        for name, network in networks.items()
        if store.is_model(network)
    )
    parts = [
        "# mini: ranks, reads and doubts in one pass",
        f"The small model that comes with demur, made by version {demur.__version__}: six layers of 384 "
        f"numbers, in bytes, {size:.1f} MB with its tokenizer. For a question and passages it says of each "
        "how well it answers, what it would quote, and how sure it is of both.",
        f"## How to use it\n\n{_USE}",
        measured(mini, gate, count, say),
        "## Limits\n\n" + _LIMITS.format(max_length=mini.max_length, longest=mini.longest),
        "## Data and their terms\n\n" + _data(mini, recipes),
        f"## How it was made\n\n`make mini`: {'; then '.join(how)}; then exported in bytes. "
        f"On {near.pairs:,} pairs of texts like those it learnt from, scores agree with the network's own "
        f"with a rank correlation of {near.spearman:.4f}; {near.quotes:.1%} of the quotes are the same, and "
        f"{near.answered:.1%} of what is said to have one. Checksums of all files are in `ranker.json`.",
    ]
    return "\n\n".join(parts) + "\n"


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
    return _table(["test set", "questions", *FACTS], rows) + "\n\nBehind ±: half of the 95 % interval."


def _reading(mini: Mini, count: int, say: Callable[[str], None]) -> str:
    report = evaluate_reader(mini, _some(READ, count), data=READ).report
    rows = [
        [name, f"{one.mean:.3f}", f"{one.low:.3f} – {one.high:.3f}"] for name, one in report.measures.items()
    ]
    say(str(rows))
    return f"On `{READ}`, {report.pools:,} questions.\n\n" + _table(["measure", "mean", "interval"], rows)


def _doubting(mini: Mini, gate: Gate | None, count: int, say: Callable[[str], None]) -> str:
    how = f'mini(folder="{mini.folder}")' if mini.folder else "mini"
    rows = []
    for name in ASKED:
        some = _some(name, count)
        row = [f"`{name}`", f"{len(some):,}"]
        for qualifier in (how, "margin"):
            report = demur.evaluate(mini, some, ["AUROC"], qualifier=qualifier)
            row.append(f"{report.measures['AUROC'].mean:.3f}")
        if gate is not None:
            said = gate.answers(mini, some)[0]
            risk = said.risk(gate.threshold)
            row += [
                f"{said.coverage_of_questions(gate.threshold):.1%}",
                "–" if np.isnan(risk) else f"{risk:.1%}",
            ]
        rows.append(row)
        say(" ".join(row))
    head = ["test set", "questions", "AUROC", "of the margin"]
    made = "No risk could be promised, so it comes without a gate."
    if gate is not None:
        head += ["answered", "of them wrong"]
        made = f"The gate that comes with it, on held-out pools of {gate.certificate.data}: {gate.promise}"
    facts = mini.confidence_model.made if mini.confidence_model else {}
    learnt = (
        f"The confidence learnt from {facts['pools']:,} pools that the network has not seen "
        f"({facts['passages']:,} passages, {facts['right']:,} right); other ones made the gate. "
        if facts
        else ""
    )
    said_ = "AUROC is how often the confidence is higher for a right top passage than for a wrong one."
    return f"{learnt}{made}\n\n{_table(head, rows)}\n\n{said_}"


def _data(mini: Mini, recipes: Sequence[Recipe]) -> str:
    held = list(mini.confidence_model.made.get("data", ())) if mini.confidence_model else []
    stages = list(itertools.chain.from_iterable(recipe.stage for recipe in recipes))
    lines = [
        *terms(stages, [f"{part} (confidence and gate)" for part in held]),
        "- Handbooks that were written for this, in `tools/handbooks`: `learn`, and `chance` (confidence).",
        "- The encoder it began from is all-MiniLM-L6-v2; all-mpnet-base-v2 was a teacher; both Apache-2.0.",
    ]
    return "Nothing of any test set.\n\n" + "\n".join(lines)


def terms(stages: Iterable[Stage], others: Iterable[str] = ()) -> list[str]:
    """For each dataset of these stages, and of `others`, what was taken, and under which terms."""
    used: dict[str, list[str]] = {}
    parts = (part.strip() for stage in stages for part in stage.data.split("+"))
    for part in filter(_is_a_dataset, [*parts, *others]):
        name, space, why = part.partition(" ")
        used.setdefault(name.partition("/")[0], []).append(f"`{name}`{space}{why}")
    return [
        f"- {name}: {', '.join(dict.fromkeys(parts))}; licence {facts.licence}. {facts.citation}."
        for name, parts in used.items()
        for facts in [sources.facts(name)]
    ]


def _is_a_dataset(name: str) -> bool:
    return not name.startswith("build/") and not is_written(name)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


__all__ = ["PACKAGED", "text"]
