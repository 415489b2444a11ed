"""What a table of readers has beside what was kept: AURC above the oracle's, and gains, the paper's too.

They are worked out of the answers that are kept of each run, so that nothing is run for them. `E-AURC` is
what a doubt has left to win; `gain E-AURC` is the share of PROBA's that it wins: all of it, for the oracle.

Intervals are over questions and seeds. What questions leave open is computed from how far each of them moves
the figure (its influence), a question counting once however many seeds there are; what seeds leave open from
how far these are apart. One seed says nothing of others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from demur.errors import UnknownName
from demur.evaluation.selective.measures import EAURC
from demur.evaluation.selective.ordered import Answers
from demur.experiments.kinds.answer_figures import HIGHER
from demur.experiments.kinds.base import Figure
from demur.experiments.kinds.reading import ORACLE
from demur.experiments.recipe import Column, Row, Table
from demur.experiments.results import stored
from demur.experiments.runs import Run
from demur.types import FloatArray

GAIN = "gain "
DERIVED = ("E-AURC", f"{GAIN}E-AURC")
_BASE = "proba"
_NORMAL_95 = 1.959964
"""Standard deviations to each side, of 95 %."""


@dataclass(frozen=True, eq=False)
class Part:
    """A figure of one run, and by how much each of its answers moves it."""

    mean: float
    influence: FloatArray
    ids: tuple[str, ...]
    pools: int


def figures(table: Table, row: Row, column: Column, results: Path) -> dict[str, Figure]:
    """The derived figures of a cell, by measure; those that cannot be told are left out."""
    for name in table.derived:
        if name not in DERIVED:
            raise UnknownName("derived measure", name, DERIVED)
    parts = _parts(table, row, column, results)
    if not parts:
        return {}
    said = {DERIVED[0]: together(list(parts.values()))}
    beside = base_of(table, row)
    before = _parts(table, beside, column, results) if beside else {}
    if before:
        first = next(iter(before.values()))
        pairs = [(before.get(seed, first), part) for seed, part in parts.items()]
        if all(base.mean > 0 and base.ids == part.ids for base, part in pairs):
            said[DERIVED[1]] = together([share(*pair) for pair in pairs])
    return said


def base_of(table: Table, row: Row) -> Row | None:
    """The row that a gain is over: that of the same reader by PROBA."""
    return next(
        (each for each in table.row if (each.reader, each.doubt) == (row.reader, _BASE) and each.reader), None
    )


def published(table: Table, row: Row, column: Column, measure: str, convention: str) -> float | None:
    """What the paper prints there, or what follows from what it prints."""
    found = table.figure(row, column, measure, convention)
    if found is not None or not table.derived:
        return found

    def printed(other: Row | None, name: str) -> float | None:
        return None if other is None else published(table, other, column, name, convention)

    if measure == DERIVED[0]:
        oracle = [each for each in table.row if (each.reader, each.doubt) == (row.reader, ORACLE)]
        own, lowest = printed(row, "AURC"), printed(oracle[0] if oracle else None, "AURC")
        return None if own is None or lowest is None else own - lowest
    name, base = measure.removeprefix(GAIN), base_of(table, row)
    if name == measure or base is row or row.doubt == ORACLE:
        return None
    after, before = printed(row, name), printed(base, name)
    if after is None or not before:
        return None
    return (after - before if name in HIGHER else before - after) / before


def _parts(table: Table, row: Row, column: Column, results: Path) -> dict[int, Part]:
    """The excess of each seed that is kept."""
    files = {seed: Run(table, row, column, seed).file for seed in row.seeds if column.data}
    found = {seed: _part(results, file, stored.written(results, file)) for seed, file in files.items()}
    return {seed: part for seed, part in found.items() if part is not None}


@lru_cache(maxsize=64)
def _part(results: Path, file: str, written: stored.Stamp) -> Part | None:
    """What is kept of a run, as it was written then; None if there is nothing, or nothing was answered."""
    one = stored.read_result(results, file)
    if one is None:
        return None
    answers = one["answers"]
    wrong = [float(outcome != "AD+") for outcome in answers["outcome"]]
    return excess(answers["confidence"], wrong, answers["ids"], one["pools"]) if wrong else None


def excess(confidence: ArrayLike, loss: ArrayLike, ids: Sequence[str], pools: int) -> Part:
    """E-AURC of some answers."""
    confidences, wrong = np.array(confidence, np.float64), np.array(loss, np.float64)
    value = float(EAURC.values_of(Answers.of(confidences, wrong).drawn())[0])
    return Part(value, influence(confidences, wrong) - influence(-wrong, wrong), tuple(ids), pools)


def share(base: Part, ours: Part) -> Part:
    """The share of the one's excess that the other saves."""
    moved = ours.mean * base.influence / base.mean**2 - ours.influence / base.mean
    return replace(ours, mean=1 - ours.mean / base.mean, influence=moved)


def together(parts: Sequence[Part]) -> Figure:
    """The mean over seeds: a question's influence is the mean of those that it has."""
    moved = np.concatenate([part.influence / (len(part.ids) * len(parts)) for part in parts])
    if len({part.ids for part in parts}) == 1:  # as they all are, where seeds are of doubts
        moved = moved.reshape(len(parts), -1).sum(axis=0)
    else:
        _, whose = np.unique(np.concatenate([part.ids for part in parts]), return_inverse=True)
        moved = np.bincount(whose, moved)
    half = round(_NORMAL_95 * float(np.sqrt((moved**2).sum())), 12)
    means = [part.mean for part in parts]
    mean = float(np.mean(means))
    return Figure(mean, mean - half, mean + half, parts[0].pools).over(means)


def influence(confidence: FloatArray, loss: FloatArray) -> FloatArray:
    """By how much AURC would grow, times the number of answers, if there were more like each of them.

    AURC is the mean over ranks of the risk up to there. One more answer adds the risk at its own rank, less
    the mean, and moves the risk at every rank from its own on. Equally confident answers share their ranks.
    """
    order = np.argsort(-confidence, kind="stable")
    ordered, ranks = confidence[order], np.arange(1, len(order) + 1)
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    sizes = np.diff(np.append(starts, len(order)))

    def shared(values: FloatArray) -> FloatArray:
        return np.repeat(np.add.reduceat(values, starts) / sizes, sizes)

    risk = np.cumsum(shared(loss[order])) / ranks
    onwards, moved = (np.cumsum(each[::-1])[::-1] for each in (1 / ranks, risk / ranks))
    found = np.empty(len(order))
    found[order] = shared(risk) - risk.mean() + loss[order] * shared(onwards) - shared(moved)
    return found
