"""Pools in the order of their scores, as blocks of equal scores. One sort serves all measures.

The names are those of the formulas: a block stands behind `before` items of its pool and has `size` items,
of which `here` are positive; `ahead` positives stand in blocks before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from demur.errors import UsageError
from demur.evaluation.conventions import Rules
from demur.evaluation.judged import Judged
from demur.types import FloatArray, IntArray


class Hits(NamedTuple):
    """Where the positives are: in each block, ahead of each block, and in each pool, found or not."""

    here: IntArray
    ahead: IntArray
    positives: IntArray


@dataclass(frozen=True, eq=False)
class Ranked:
    """Blocks of equal scores, pool by pool and best first. Without ties each block is one item."""

    judged: Judged
    rules: Rules
    labels: IntArray
    starts: IntArray
    pool: IntArray
    before: IntArray
    size: IntArray

    def hits(self, rel: int) -> Hits:
        """Counts of the items labelled `rel` or higher."""
        running = _running(self.labels >= rel)
        bounds, extra = self.judged.bounds, self.judged.unranked_pool[self.judged.unranked_label >= rel]
        start = running[self.starts]
        positives = np.diff(running[bounds]) + np.bincount(extra, minlength=len(bounds) - 1)
        return Hits(running[self.starts + self.size] - start, start - running[bounds[self.pool]], positives)

    def inside(self, at: int | None) -> IntArray:
        """How many items of each block stand within the cut-off."""
        if at is None:
            return self.size
        return np.minimum(np.maximum(at - self.before, 0), self.size)

    def per_pool(self, parts: FloatArray) -> FloatArray:
        """The sum of the blocks' parts, for each pool."""
        return np.bincount(self.pool, parts, minlength=len(self.judged.ids)).astype(np.float64, copy=False)

    def mean_gain(self, gain: IntArray) -> FloatArray:
        """The mean of the items' gains, for each block."""
        running = _running(gain)
        mean: FloatArray = (running[self.starts + self.size] - running[self.starts]) / self.size
        return mean

    @cached_property
    def harmonic(self) -> FloatArray:
        """``1 + 1/2 + … + 1/n`` for n from 0 to the longest pool."""
        return _running(1.0 / np.arange(1, self._longest + 1))

    @cached_property
    def discount(self) -> FloatArray:
        """The sum of the discounts of the first n ranks, for n from 0."""
        return _running(1.0 / np.log2(np.arange(2, self._longest + 2)))

    def log_choose(self, n: IntArray, k: IntArray) -> FloatArray:
        """The logarithm of "n choose k"; minus infinity where there is no such choice."""
        logs = self._log_factorial
        kept = np.clip(k, 0, n)
        return np.where(kept == k, logs[n] - logs[kept] - logs[n - kept], -np.inf)

    @cached_property
    def _log_factorial(self) -> FloatArray:
        return _running(np.log(np.arange(1, self._longest + 1)))

    @property
    def _longest(self) -> int:
        return int(np.diff(self.judged.bounds).max(initial=0))


def rank(judged: Judged, rules: Rules) -> Ranked:
    """The pools sorted by score, ties treated by the rules."""
    scores = judged.scores
    if rules.single:
        with np.errstate(over="ignore"):
            scores = scores.astype(np.float32).astype(np.float64)
    # Complex numbers sort by real, then imaginary part: pools stay together, and one sort does for both.
    keys = np.empty(len(scores), np.complex128)
    keys.real, keys.imag = judged.pool, -scores
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    new = np.ones(len(keys), np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    if rules.ties != "expected":
        _settle(order, new, judged, rules.ties)
        new[:] = True
    starts = np.flatnonzero(new)
    pool = judged.pool[starts]  # pools stand where they stood
    return Ranked(
        judged=judged,
        rules=rules,
        labels=judged.labels[order],
        starts=starts,
        pool=pool,
        before=starts - judged.bounds[pool],
        size=np.diff(starts, append=len(keys)),
    )


def _settle(order: IntArray, new: NDArray[np.bool_], judged: Judged, ties: str) -> None:
    """Put the tied items of the order in place, by the rule for ties."""
    tied = np.flatnonzero(~(new & np.append(new[1:], True)))
    items = order[tied]
    if ties == "input":
        return  # the sort was stable
    if ties == "docid":
        names = [judged.documents[item] for item in items]
        places = {name: place for place, name in enumerate(sorted(set(names), reverse=True))}
        key = np.array([places[name] for name in names], np.int64)
    elif ties in ("best", "worst"):
        key = judged.labels[items] * (-1 if ties == "best" else 1)
    else:
        raise UsageError(f"no such rule for ties: {ties!r}; see docs/conventions.md for those there are")
    order[tied] = items[np.lexsort((key, np.cumsum(new)[tied]))]


def _running(parts: NDArray[Any]) -> NDArray[Any]:
    """The sums of the first n parts, for n from 0."""
    sums = np.zeros(len(parts) + 1, np.float64 if parts.dtype.kind == "f" else np.int64)
    np.cumsum(parts, out=sums[1:])
    return sums
