"""Learns how likely found passages are to be right (`python -m tools.make_chance`), and tests it elsewhere.

The weights come from dev sets alone and are written into the package. For `results/asking/chance.json` they
are learnt once more without each set, and tried on that set's test questions: each part alone, and the whole.

What ranks passages that the network has read is chosen from a grid: the most weight on meaning with which no
dev set loses more than .005 to its best part. The likeliest weights would follow the sets where the network
is at its best, and be wrong by far where it is not.

Which passages are looked at depends on the chance that is in the package, as what `ask` reads does: run it
again until the weights stay.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import demur
from demur.asking.meaning.chance import FILE, FORMAT, FOUND, OWN, READ, Weights
from demur.asking.meaning.finding import maker
from demur.logistic import fit, softened
from demur.types import FloatArray, Pool
from tools.chance_data import FAQ_LEARN, FAQS, LEARN, MISSED, NEAR_MISSES, TEST, Seen, seen
from tools.chance_levels import CHOICES, FAQ_CHOICES, Firsts, chosen, firsts, left_out, levels, told_apart
from tools.written import is_written

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / "results" / "asking" / "chance.json"
CACHE = ROOT / "build" / "chance"
MEASURES = ("MAP", "RR", "P@1", "Success@5")
AMONG = (
    np.array([0, 0.05, 0.1, 0.15, 0.2, 0.3]),
    np.array([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1, 1.2, 1.5]),
)
"""What may be the weights of the signals `words among` and `meaning among` in the rank."""
TEXT = [share / 10 for share in range(11)]
"""What may be the weight of a row's answer beside its question's, in the rank."""
ALIKE = 0.001
SCORE = 0.4
"""The weight of the network's score there: one over its spread, which is some 2.5."""
LITTLE = 0.005
"""By how much the whole may be below its best part on a set."""
DIGITS = 2
"""As many of a weight as are the same on every processor."""
SIGNALS = {"found": FOUND, "read": READ, "own": OWN}
LearntFrom = dict[str, dict[str, list[Seen]]]
"""For each of the three kinds of weights, what it is learnt from."""
PARTS = {"words": READ.index("words"), "meaning": READ.index("meaning"), "mini": READ.index("score")}


def learnt(
    sets: Sequence[Sequence[Seen]], signals: tuple[str, ...], likely: tuple[str, ...] = FAQ_CHOICES[-1]
) -> Weights:
    """The weights: first what ranks the candidates of a question, then what makes the first of them likely.

    For the second each question counts twice: with its right candidates, and with these removed. Near misses
    say how much each signal counts against the others; how likely all is, questions as they were asked. What
    a row lacks is known of the first alone, so it ranks nothing. For FAQs, `likely` names what counts then.
    """
    every = [each for some in sets for each in some if each.positives]
    tables = [(chosen(each.table, signals), each.right) for each in every]
    if signals == READ:
        rank = _hedged(sets)
        level, constant = levels([firsts(some, signals, rank) for some in sets])
        return Weights(rank, constant, 0.0, 1.0, level)
    rank = _of_rows(sets) if signals == OWN else _likeliest(tables)
    counts = [True, *(signals != OWN or name in likely for name in signals)]
    first = [(rows * counts, right) for rows, right in (firsts(some, signals, rank) for some in sets)]
    weights, _ = fit(*_together(first), intercept=True)
    real = [each for each, some in zip(first, sets, strict=True) if any(one.positives for one in some)]
    rows, right = _together(real)
    scale, constant = fit((rows @ weights)[:, None], right, intercept=True)
    weights = weights * scale[0]
    return Weights(rank, constant, float(weights[0]), float(weights[0]), weights[1:])


def _together(some: Sequence[Firsts]) -> Firsts:
    """The rows of several sets, and how right they are, softened."""
    rows, right = zip(*some, strict=True)
    return np.concatenate(rows), softened(np.concatenate(right))


def _likeliest(tables: Sequence[tuple[FloatArray, FloatArray]]) -> FloatArray:
    """The likeliest weights of signals that tell a question's right candidates from the others."""
    several = [(table, right) for table, right in tables if len(right) > 1]
    centred = np.concatenate([table - table.mean(axis=0) for table, _ in several])
    return fit(centred, softened(np.concatenate([right for _, right in several])), intercept=True)[0]


def _of_rows(sets: Sequence[Sequence[Seen]]) -> FloatArray:
    """The weights of meaning and text in the order of rows: the least of text that is as good as any.

    What counts is the mean of all sets; the likeliest weights would be those of the set with most questions.
    """
    real = [[each for each in some if each.positives] for some in sets]

    def rank(text: float) -> FloatArray:
        return np.array([{"meaning": 1.0, "text": text}.get(name, 0.0) for name in OWN])

    def worth(text: float) -> float:
        scores = [[chosen(each.table, OWN) @ rank(text) for each in some] for some in real if some]
        several = zip(scores, filter(None, real), strict=True)
        return float(np.mean([_precisions(ranks, some).mean() for ranks, some in several]))

    worths = {text: worth(text) for text in TEXT}
    best = rank(min(text for text, value in worths.items() if value >= max(worths.values()) - ALIKE))
    every = [each for some in real for each in some]
    one = [((chosen(each.table, OWN) @ best)[:, None], each.right) for each in every]
    return best * float(_likeliest(one)[0])


def _hedged(sets: Sequence[Sequence[Seen]]) -> FloatArray:
    """The weights of the grid that trust meaning most, and lose to the best part of no set more than little.

    Among equals the best mean counts.
    """
    parts = [
        [_precisions([each.table[:, at] for each in some], some) for at in PARTS.values()] for some in sets
    ]
    best = [max(several, key=lambda values: float(values.mean())) for several in parts]
    found, most = np.zeros(len(READ)), (False, -1.0, -1.0)
    for words, meaning in itertools.product(*AMONG):
        rank = np.zeros(len(READ))
        for name, weight in (("words among", words), ("meaning among", meaning), ("score", SCORE)):
            rank[READ.index(name)] = weight
        gains = [
            _precisions([chosen(each.table, READ) @ rank for each in some], some) - part
            for some, part in zip(sets, best, strict=True)
        ]
        fair = all(each.mean() >= -LITTLE for each in gains)
        if (worth := (fair, float(meaning), float(np.mean([each.mean() for each in gains])))) > most:
            found, most = rank, worth
    return found


def _precisions(scores: Sequence[FloatArray], some: Sequence[Seen]) -> FloatArray:
    """The average precision of each question for which something right was found."""
    values = []
    for ranks, each in zip(scores, some, strict=True):
        right = each.right[np.argsort(-ranks, kind="stable")]
        if right.any():
            values.append((np.cumsum(right) / np.arange(1, len(right) + 1))[right > 0].mean())
    return np.array(values)


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


def tried(name: str, learnt_from: LearntFrom, some: Sequence[Seen]) -> dict[str, Any]:
    """Each part alone, and the whole as it is learnt without this set.

    Rows of FAQs are learnt from one forum alone, also for that forum's test set; what was written for this
    has other files to learn from.
    """
    others = {
        part: [
            found
            for other, found in each.items()
            if part == "own" or is_written(other) or family(other) != family(name)
        ]
        for part, each in learnt_from.items()
    }
    used = "own" if name in FAQS else "read"
    row: dict[str, Any] = {"questions": len(some)}
    known = {family(other) for other in learnt_from[used] if used == "own" or is_written(other)}
    row["learnt without"] = None if family(name) in known else family(name)
    there = [each for each in some if each.positives]
    row |= {part: measured([each.table[:, at] for each in there], there) for part, at in PARTS.items()}
    for whole, signals in SIGNALS.items():
        weights = learnt(others[whole], signals)
        row[whole] = measured([weights.ranks(chosen(each.table, signals)) for each in there], there)
    best = max(row[part]["MAP"] for part in PARTS)
    weights = learnt(others[used], SIGNALS[used])
    rows, right = firsts(some, SIGNALS[used], weights.rank)
    row["AUROC"] = round(told_apart(rows @ np.append(weights.lead, weights.level), right), 3)
    return row | {"used": used, "MAP over the best part": round(row[used]["MAP"] - best, 4)}


def _of_faqs(faqs: Sequence[Sequence[Seen]], cache: Path) -> dict[str, dict[str, float]]:
    """How well each choice of signals tells right first rows of FAQs from wrong ones: AUROC, set by set."""
    tested = {name: seen(name, count, cache) for name, count in TEST.items() if name in FAQS}
    missed = seen(NEAR_MISSES, TEST[FAQS[-1]], cache)
    tested[f"{FAQS[-1]}, with {MISSED}"] = [*tested[FAQS[-1]], *missed]
    found: dict[str, dict[str, float]] = {}
    for choice in FAQ_CHOICES:
        weights = learnt(faqs, OWN, choice)
        for name, some in tested.items():
            rows, right = firsts(some, OWN, weights.rank)
            auroc = told_apart(rows @ np.append(weights.lead, weights.level), right)
            found.setdefault(", ".join(choice), {})[name] = round(auroc, 3)
    return found


def main() -> None:
    """Learn and test; signals that were made before are taken from `--cache`."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--cache", type=Path, default=CACHE)
    asked.add_argument("-o", "--output", type=Path, default=PLACE)
    wanted = asked.parse_args()
    found = {name: seen(name, count, wanted.cache) for name, count in LEARN.items()}
    faqs = {name: seen(name, count, wanted.cache) for name, count in FAQ_LEARN.items()}
    learnt_from = {"found": found, "read": found, "own": faqs}
    facts: dict[str, Any] = {"command": "python -m tools.make_chance", "encoder": maker().fingerprint}
    facts["learnt on"] = {name: len(some) for name, some in found.items()}
    facts["FAQs learnt on"] = {name: len(some) for name, some in faqs.items()}
    shown = [firsts(some, READ, _hedged(list(found.values()))) for some in found.values()]
    aurocs = {", ".join(names): left_out(shown, names) for names in CHOICES}
    rows = {}
    for name, count in TEST.items():
        rows[name] = tried(name, learnt_from, seen(name, count, wanted.cache))
        print(name, json.dumps(rows[name]), file=sys.stderr, flush=True)
    wanted.output.parent.mkdir(parents=True, exist_ok=True)
    tries = {names: [round(value, 3) for value in values] for names, values in aurocs.items()}
    of_faqs = _of_faqs(list(faqs.values()), wanted.cache)
    kept = {
        **facts,
        "AUROC on each dev set of what the others teach": tries,
        "AUROC of FAQs": of_faqs,
        "sets": rows,
    }
    wanted.output.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
    written: dict[str, Any] = {"format": FORMAT}
    for part, signals in SIGNALS.items():
        weights = learnt(list(learnt_from[part].values()), signals)
        written[part] = {
            "constant": round(weights.constant, DIGITS),
            "lead": round(weights.lead, DIGITS),
            "lag": round(weights.lag, DIGITS),
        }
        for what, values in (("rank", weights.rank), ("level", weights.level)):
            written[part][what] = dict(zip(signals, values.round(DIGITS).tolist(), strict=True))
    FILE.write_text(json.dumps(written | {"made": facts}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
