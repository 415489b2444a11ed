"""Learns how likely found passages are to be right (`python -m tools.make_chance`), and tests it elsewhere.

The weights come from dev sets alone and are written into the package. For `results/asking/chance.json` they
are learnt once more without each set, and tried on that set's test questions: each part alone, and the whole.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import demur
from demur.asking.chance import FILE, FORMAT, FOUND, OWN, READ, Weights, ahead
from demur.asking.finding import maker
from demur.logistic import fit, softened
from demur.types import FloatArray, Pool
from tools.chance_data import LEARN, TEST, Seen, seen

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / "results" / "asking" / "chance.json"
CACHE = ROOT / "build" / "chance"
FAQS = ("covidfaq/test",)  # whose candidates have questions of their own
MEASURES = ("MAP", "RR", "P@1", "Success@5")
SIGNALS = {"found": FOUND, "read": READ, "own": OWN}
PARTS = {"words": READ.index("words"), "meaning": READ.index("meaning"), "mini": READ.index("score")}


def learnt(some: Sequence[Seen], signals: tuple[str, ...]) -> Weights:
    """The likeliest weights: first what ranks the candidates of a question, then what makes them likely.

    For the second each question counts twice: with its right candidates, and with these taken away.
    """
    tables = [(_chosen(each, signals), each.right) for each in some]
    several = [(table, right) for table, right in tables if len(right) > 1]
    centred = np.concatenate([table - table.mean(axis=0) for table, _ in several])
    rank, _ = fit(centred, softened(np.concatenate([right for _, right in several])), intercept=True)
    rows, labels = [], []
    for table, right in tables + [(table[right == 0], right[right == 0]) for table, right in tables]:
        if len(table):
            ranks = table @ rank
            rows.append(np.append(ahead(ranks)[ranks.argmax()], table[ranks.argmax()]))
            labels.append(right[ranks.argmax()])
    weights, constant = fit(np.array(rows), softened(np.array(labels)), intercept=True)
    return Weights(rank, constant, float(weights[0]), weights[1:])


def _chosen(each: Seen, signals: tuple[str, ...]) -> FloatArray:
    """The signals of these names."""
    return each.table[:, [READ.index(name) for name in signals]]


def measured(scores: Sequence[FloatArray], some: Sequence[Seen]) -> dict[str, float]:
    """The measures of scores of found candidates."""
    pools = [
        Pool.of("", [""] * len(each.right), each.right.astype(int).tolist(), id=str(number))
        for number, each in enumerate(some)
    ]
    report = demur.evaluate(list(scores), pools, MEASURES)
    return {name: round(one.mean, 4) for name, one in report.measures.items()}


def family(name: str) -> str:
    """The dataset that a set is of, whatever its split."""
    return name.partition("/")[0]


def tried(name: str, lessons: dict[str, list[Seen]], some: Sequence[Seen]) -> dict[str, Any]:
    """Each part alone, and the whole as it is learnt without this set."""
    others = [each for other, found in lessons.items() if family(other) != family(name) for each in found]
    row: dict[str, Any] = {"questions": len(some), "learnt without": family(name)}
    row |= {part: measured([each.table[:, at] for each in some], some) for part, at in PARTS.items()}
    for whole, signals in SIGNALS.items():
        weights = learnt(others, signals)
        row[whole] = measured([weights.ranks(_chosen(each, signals)) for each in some], some)
    best = max(row[part]["MAP"] for part in PARTS)
    used = "own" if name in FAQS else "read"
    return row | {"used": used, "MAP over the best part": round(row[used]["MAP"] - best, 4)}


def main() -> None:
    """Learn and test; signals that were made before are taken from `--cache`."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--cache", type=Path, default=CACHE)
    asked.add_argument("-o", "--output", type=Path, default=PLACE)
    wanted = asked.parse_args()
    lessons = {name: seen(name, count, wanted.cache) for name, count in LEARN.items()}
    facts: dict[str, Any] = {"command": "python -m tools.make_chance", "encoder": maker().fingerprint}
    facts["learnt on"] = {name: len(found) for name, found in lessons.items()}
    rows = {}
    for name, count in TEST.items():
        rows[name] = tried(name, lessons, seen(name, count, wanted.cache))
        print(name, json.dumps(rows[name]), file=sys.stderr, flush=True)
    wanted.output.parent.mkdir(parents=True, exist_ok=True)
    wanted.output.write_text(json.dumps({**facts, "sets": rows}, indent=1) + "\n", "utf-8")
    written: dict[str, Any] = {"format": FORMAT}
    for part, signals in SIGNALS.items():
        weights = learnt([each for found in lessons.values() for each in found], signals)
        written[part] = {"constant": round(weights.constant, 5), "lead": round(weights.lead, 5)}
        for what, values in (("rank", weights.rank), ("level", weights.level)):
            written[part][what] = dict(zip(signals, values.round(5).tolist(), strict=True))
    FILE.write_text(json.dumps(written | {"made": facts}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
