"""What `demur advise` loses by its choice, replayed on the results that are kept, beside other rules.

``python -m tools.advised`` writes results/advice/lost.json, in a minute or two; `page` is docs/advice.md,
which `make docs` writes of it. With --check it says whether what is replayed has changed since.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from demur.advice import evidence, rules
from demur.advice.methods import METHODS
from demur.advice.rules import RULES, Values
from demur.experiments.kinds import KINDS
from demur.files import replacing
from demur.types import FloatArray
from tools.make_evidence import COLUMNS, CONVENTION, MEASURE, RESULTS, ROOT, kept_of, measured_in

LOST = RESULTS / "advice" / "lost.json"
SIZES = (8, 20, 80)
REPLAYS = 1_000
FEWER = {rules.by_significance: 200}
"""Replays of a rule that takes long."""
GOAL, AT = 0.02, 20
NO_LABELS = [method for method in METHODS if not method.labels]


def kept_values(results: Path = RESULTS) -> dict[str, dict[str, FloatArray]]:
    """By dataset and method, the figure of each question; of datasets with figures of most methods."""
    tables = measured_in(ROOT / "experiments")
    found: dict[str, dict[str, Mapping[str, float]]] = {}
    for column in tables[0].column:
        if column.name in COLUMNS:
            runs = {each.name: kept_of(each, column.data, tables, results) for each in NO_LABELS}
            found[COLUMNS[column.name]] = {
                name: KINDS["ranking"].values(one, CONVENTION, MEASURE) for name, one in runs.items() if one
            }
    most = max(map(len, found.values()))
    return {name: _aligned(each) for name, each in found.items() if len(each) == most}


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
