"""What `README.md` says of how good and how quick the models are that come with demur, from `results/`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from demur.processor import Processor
from tools import figures, overlaps, speed
from tools.asked import answered
from tools.cards import table

CHANCE = Path(__file__).resolve().parents[1] / "results" / "asking" / "chance.json"
ASKED = {
    "covidfaq/test": "an FAQ on COVID-19 (covidfaq)",
    "written FAQs/test": "FAQs that were written for this",
    "written handbooks/test": "handbooks that were written for this",
    "wikiqa/test": "sentences of Wikipedia (WikiQA)",
    "fiqa/test": "advice on finance (FiQA)",
}
RANKED = {
    "WikiQA": "wikiqa answerable",
    "TrecQA": "trecqa clean",
    "SemEval 2016": "semeval2016",
    "SelQA": "selqa",
}
TESTS = {
    "WikiQA": "wikiqa/test",
    "TrecQA": "trecqa/test",
    "SemEval 2016": "semeval2016/test",
    "SelQA": "selqa/test",
}
_QUICK = "asked by meaning: each question after"
_FIRST = "demur ask by meaning, process and all"
_TEXT = """How good `demur ask` is where what is asked has the answer: how often the first passage is right,
and the mean of one over the place of the first right one (MRR).

{asked}

[All sets, each part alone, and how often a gate was wrong](docs/asking.md). {speed}
[More on speed](docs/speed.md). `mini` alone ranks with a MAP of {ranked}
(it learnt from train splits of the first three; among what it learnt from are {met}, too);
[other rankers beside it](docs/results/mini.md#table1).

What the models are for, what they learnt from and where they fail is in their cards:
[`mini`](src/demur/models/mini/README.md), [`encoder`](src/demur/models/encoder/README.md), [the gates of
`demur ask`](src/demur/models/meaning/README.md)."""


def models() -> str:
    """The passage."""
    maps = {name: _map(column) for name, column in RANKED.items()}
    *most, last = (f"{value:.3f} on {name}" for name, value in maps.items())
    return _TEXT.format(
        asked=_asked(), ranked=f"{', '.join(most)} and {last}", met=_met(), speed=" ".join(_speeds())
    )


def _met() -> str:
    """How many test questions are among what `mini` learnt from, of the sets that have any."""
    counts = {name: overlaps.count("mini", test, "questions") for name, test in TESTS.items()}
    return " and ".join(f"{count} of {name}'s test questions" for name, count in counts.items() if count)


def _asked() -> str:
    sets: dict[str, Any] = json.loads(CHANCE.read_text("utf-8"))["sets"]
    rows = []
    for name, called in ASKED.items():
        whole = sets[name][sets[name]["used"]]
        rows.append([called, f"{answered(name, sets[name]):,}", f"{whole['P@1']:.1%}", f"{whole['RR']:.3f}"])
    return table(["asked", "questions", "first right", "MRR"], rows)


def _map(column: str) -> float:
    cell = figures.at(figures.TEMPLATES / "results.md", f"mini table1 | as it comes | {column} | MAP")
    assert cell.mean is not None
    return cell.mean


def _speeds() -> Iterator[str]:
    """How long asking takes, on each kind of processor that it was measured on."""
    for report in speed.kept(speed.KEPT, "ask"):
        found = {row["what"]: row["found"] for row in report["rows"]}
        first = next((value for what, value in found.items() if what.startswith(_FIRST)), None)
        each = next(((what, value) for what, value in found.items() if what.startswith(_QUICK)), None)
        if first and each and (said := report.get("processor")):
            kind = Processor(said["name"], tuple(said["features"]), said["restricted"]).label
            among = each[0].removeprefix(_QUICK).rpartition(":")[0].strip(", ")
            yield (
                f"The first answer takes {first}, process and all, and each one after {each[1]} ({among}), "
                f"on {report['machine'].partition(', Python')[0]} ({kind.partition(' (')[0]})."
            )
