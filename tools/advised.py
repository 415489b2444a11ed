"""What `demur advise` loses by its choice, replayed on the results that are kept, beside other rules.

``python -m tools.advised`` writes results/advice/lost.json, in a minute or two; `page` is docs/advice.md,
which `make docs` writes of it. With --check it says whether what is replayed has changed since.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from demur.advice.deciding import evidence, rules
from demur.advice.deciding.rules import RULES, Values
from demur.advice.methods import METHODS
from demur.experiments.kinds import KINDS
from demur.files import replacing
from demur.types import FloatArray
from tools.make_evidence import COLUMNS, CONVENTION, MEASURE, RESULTS, ROOT, kept_of, measured_in

LOST = RESULTS / "advice" / "lost.json"
SETS = ("WikiQA", "TrecQA", "SelQA", "SemEval 2016", "Yahoo CQA", "InsuranceQA", "ANTIQUE")
SIZES = (8, 20, 80)
REPLAYS = 2000
FEWER: dict[object, int] = {rules.by_significance: 200}
"""Replays of a rule that takes long."""
GOAL, AT = 0.02, 20
INTRODUCTION = """# How good the advice is

`demur advise` chooses a method by its MAP on your labelled questions, shrunk towards what it reached on
other data, and takes a simpler one only where that is within .004 of the best. This page says what such a
choice costs: how far the MAP of the chosen method is below that of the best one, on datasets where that is
known. The first rule of each table is that of `demur advise`; of the others, *the simplest not significantly
worse* takes the simplest method that a permutation test does not tell from the best (it was the rule of
`demur advise` once), and has 200 replays.

Each replay draws 8, 20 or 80 of a dataset's questions (with replacement, as if there were endlessly many of
their kind), looks up what each method got on them in the results that are kept, and lets a rule choose.
What is lost is measured over all questions of the dataset. There are {replays} replays to a cell; the small
figures are a 95 % interval over replays, and say nothing of other questions than these. The dataset that a
replay is about is no evidence to it: it sees that of all others. Nor is what `mini` and its sum got where
it has learnt from the train split (WikiQA, TrecQA and SemEval 2016), though they may be chosen there.

The methods are {methods}. Of others ({untried}) no results by question are kept, so they take no
part. How close a simpler method must come was set beforehand; that ours compares with the encoder, and not
with the best method so far, was chosen on these very sets.

`{command}` makes it again, from results alone."""
NO_LABELS = [method for method in METHODS if not method.labels]


def kept_values(results: Path = RESULTS) -> dict[str, dict[str, FloatArray]]:
    """By dataset and method, the figure of each question; for the methods that have any."""
    tables = measured_in(ROOT / "experiments")
    found: dict[str, dict[str, Mapping[str, float]]] = {}
    for column in tables[0].column:
        if COLUMNS.get(column.name) in SETS:
            runs = {each.name: kept_of(each, column.data, tables, results) for each in NO_LABELS}
            found[COLUMNS[column.name]] = {
                name: KINDS["ranking"].values(one, CONVENTION, MEASURE) for name, one in runs.items() if one
            }
    return {name: _aligned(figures) for name, figures in found.items()}


def _aligned(figures: Mapping[str, Mapping[str, float]]) -> dict[str, FloatArray]:
    """The figures of each method, all in one order of questions."""
    pools = sorted(next(iter(figures.values())))
    return {name: np.array([each[pool] for pool in pools]) for name, each in figures.items()}


def lost(values: Values, leads: rules.Leads, rule: str, size: int, replays: int, seed: int = 0) -> FloatArray:
    """For each replay, how far the chosen method's mean over all questions is below the best one's.

    A replay draws so many questions, with replacement, as if there were endlessly many of their kind.
    """
    count = len(next(iter(values.values())))
    means = {name: float(figures.mean()) for name, figures in values.items()}
    best = max(means.values())
    draws = np.random.default_rng([seed, size])
    found = []
    for _ in range(replays):
        drawn = draws.integers(0, count, size)
        part = {name: figures[drawn] for name, figures in values.items()}
        found.append(best - means[RULES[rule](part, leads)])
    return np.array(found)


def make(values: Mapping[str, Values], known: evidence.Evidence, seed: int = 0) -> dict[str, Any]:
    """The whole table, as the file holds it. The evidence of a dataset is not shown to its own replay."""
    cells: dict[str, Any] = {}
    for name, each in values.items():
        leads = leads_for(name, each, known)
        for rule, by in RULES.items():
            replays = FEWER.get(by, REPLAYS)
            for size in SIZES:
                found = lost(each, leads, rule, size, replays, seed)
                half = 1.96 * float(found.std(ddof=1)) / replays**0.5
                mean = float(found.mean())
                cells.setdefault(rule, {}).setdefault(name, {})[str(size)] = {
                    "mean": round(mean, 6),
                    "low": round(max(mean - half, 0.0), 6),
                    "high": round(mean + half, 6),
                    "tenth": round(float(np.quantile(found, 0.9)), 6),
                    "replays": replays,
                }
    sets = {
        name: {
            "questions": len(next(iter(each.values()))),
            "means": {method: round(float(figures.mean()), 6) for method, figures in each.items()},
        }
        for name, each in values.items()
    }
    return {
        "made": "python -m tools.advised",
        "of": fingerprint(values, known),
        "measure": MEASURE,
        "convention": CONVENTION,
        "seed": seed,
        "sets": sets,
        "lost": cells,
    }


def leads_for(name: str, values: Values, known: evidence.Evidence) -> rules.Leads:
    """What a replay may know: the evidence of all other datasets."""
    methods = [method for method in METHODS if method.name in values]
    return known.without(name).leads(methods, rules.yardstick(values))


def fingerprint(values: Mapping[str, Values], known: evidence.Evidence) -> str:
    """A hash of the figures that are replayed, of the rules' names and of the evidence."""
    digest = hashlib.sha256(repr([*RULES, SIZES, REPLAYS]).encode())
    for name, each in sorted(values.items()):
        for method, figures in each.items():
            digest.update(f"{name}\0{method}\0".encode())
            digest.update(np.round(figures, 6).tobytes())
    digest.update(repr([(each.name, each.figures) for each in known.datasets]).encode())
    return digest.hexdigest()[:16]


def page(file: Path = LOST) -> str:
    """`docs/advice.md`, of what is kept; nothing is replayed."""
    made = json.loads(file.read_text("utf-8"))
    replays = sorted({cell["replays"] for cell in _cells(made)}, reverse=True)
    about = INTRODUCTION.format(
        methods=", ".join(f"`{name}`" for name in _measured(made)),
        untried=", ".join(f"`{each.name}`" for each in METHODS if each.name not in _measured(made)),
        replays=" or ".join(f"{count:,}" for count in replays),
        command=made["made"],
    )
    parts = [
        about,
        *(_section(made, size) for size in SIZES),
        "## What there is to choose from",
        _means(made),
    ]
    return "\n\n".join(parts) + "\n"


def _cells(made: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for rule in made["lost"].values() for sets in rule.values() for cell in sets.values()]


def _measured(made: dict[str, Any]) -> list[str]:
    """The methods that take part in a replay, the simplest first."""
    known = {name for each in made["sets"].values() for name in each["means"]}
    return [method.name for method in METHODS if method.name in known]


def _section(made: dict[str, Any], size: int) -> str:
    """A table of one number of questions: rules against datasets."""
    names = [name for name in SETS if name in made["sets"]]
    head = [f"{name} ({made['sets'][name]['questions']:,})" for name in names]
    lines = [f"| | {' | '.join(head)} | mean |", "|---" * (len(names) + 2) + "|"]
    for rule in RULES:
        cells = [made["lost"][rule][name][str(size)] for name in names]
        shown = [f"{each['mean']:.3f} <sub>{each['low']:.3f}–{each['high']:.3f}</sub>" for each in cells]
        lines.append(f"| {rule} | {' | '.join(shown)} | {np.mean([each['mean'] for each in cells]):.3f} |")
    parts = [f"## MAP lost with {size} labelled questions", "\n".join(lines)]
    if size == AT:
        parts.append(f"The goal is {GOAL:g} or less on each set. {_verdict(made, names)}")
    return "\n\n".join(parts)


def _verdict(made: dict[str, Any], names: Sequence[str]) -> str:
    """Whether our rule meets the goal."""
    over = {
        rule: [name for name in names if made["lost"][rule][name][str(AT)]["mean"] > GOAL] for rule in RULES
    }
    ours, *others = over
    if not over[ours]:
        return "By its mean the first rule, that of `demur advise`, meets it on all."
    meet = ", ".join(f"*{rule}*" for rule in others if not over[rule]) or "none"
    said = f"By its mean the first rule, that of `demur advise`, misses it on {', '.join(over[ours])}."
    return f"{said} Of the other rules, these meet it on all: {meet}."


def _means(made: dict[str, Any]) -> str:
    names = [name for name in SETS if name in made["sets"]]
    lines = [f"| MAP | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for method in _measured(made):
        means = [made["sets"][name]["means"].get(method) for name in names]
        lines.append(f"| {method} | {' | '.join('–' if each is None else f'{each:.3f}' for each in means)} |")
    return "\n".join(lines)


def main() -> int:
    """Write the file, or check it: 0 when it is as it should be."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--check", action="store_true")
    check = arguments.parse_args().check
    values, known = kept_values(), evidence.packaged()
    there = json.loads(LOST.read_text("utf-8")) if LOST.is_file() else {}
    if there.get("of") == fingerprint(values, known):
        print("advised: up to date")
        return 0
    if check:
        print("advised: out of date; run python -m tools.advised", file=sys.stderr)
        return 1
    LOST.parent.mkdir(parents=True, exist_ok=True)
    with replacing(LOST) as file:
        file.write(json.dumps(make(values, known), ensure_ascii=False, indent=1, sort_keys=True) + "\n")
    print("advised: written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
