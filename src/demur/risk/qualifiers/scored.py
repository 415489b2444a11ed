"""Scores of many pools as one array, best first within each pool, so that no order of input can matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from demur.errors import UsageError, count_of
from demur.types import FloatArray, IntArray, Pool


@dataclass(frozen=True, eq=False)
class Scored:
    """The scores of some pools, each with at least one."""

    scores: FloatArray  # pool after pool, best first
    order: IntArray  # per score: its place in the input
    sizes: IntArray  # per pool

    @classmethod
    def of(cls, scores: Sequence[FloatArray]) -> Scored:
        """The scores sorted; none of the arrays may be empty."""
        sizes = np.fromiter(map(len, scores), np.int64, len(scores))
        flat = np.concatenate([*scores, np.empty(0)]).astype(np.float64)
        order = np.lexsort((-flat, np.repeat(np.arange(len(sizes)), sizes)))
        return cls(flat[order], order, sizes)

    @cached_property
    def first(self) -> IntArray:
        """Per pool, the place of its best score."""
        return np.cumsum(self.sizes) - self.sizes

    @property
    def top(self) -> FloatArray:
        """Per pool, its best score."""
        return self.scores[self.first]

    @cached_property
    def below(self) -> FloatArray:
        """Per score, how far it is below the best: 0 for the best and its equals, infinite ones too."""
        top = np.repeat(self.top, self.sizes)
        gap = np.zeros(len(top))
        with np.errstate(over="ignore"):  # 1e308 and -1e308: infinitely far
            np.subtract(top, self.scores, out=gap, where=top != self.scores)
        return gap

    @property
    def margin(self) -> FloatArray:
        """Per pool, how far the second is below the best; 0 where there is no second."""
        gap = np.zeros(len(self.sizes))
        rivals = self.sizes > 1
        gap[rivals] = self.below[self.first[rivals] + 1]
        return gap

    def odds(self, temperature: float = 1.0) -> FloatArray:
        """Per score, its probability by softmax."""
        raw = np.exp(-self.below / temperature)
        return raw / np.repeat(self.sums(raw), self.sizes)

    @cached_property
    def standard(self) -> FloatArray:
        """Per score, its z-score in the pool: 0 where all are equal, a limit where gaps are infinite."""
        last = np.repeat(self.below[self.first + self.sizes - 1], self.sizes)
        finite = ~np.isinf(last) & (last > 0)  # gaps as shares of the widest: no square can overflow
        gap = np.divide(self.below, last, out=np.isinf(self.below).astype(np.float64), where=finite)
        off = np.repeat(self.means(gap), self.sizes) - gap
        spread = np.repeat(np.sqrt(self.means(off**2)), self.sizes)
        standard: FloatArray = np.divide(off, spread, out=np.zeros_like(off), where=last > 0)
        return standard

    def sums(self, values: FloatArray) -> FloatArray:
        """Per pool, the sum of a value of each score."""
        return np.add.reduceat(values, self.first) if len(self.sizes) else np.empty(0)

    def means(self, values: FloatArray) -> FloatArray:
        """Per pool, the mean of a value of each score."""
        return self.sums(values) / self.sizes

    def of_top(self, values: FloatArray) -> FloatArray:
        """Per pool, the value of its best candidate, the least of them if several are best.

        The values are in the order of input.
        """
        worst = np.where(self.below == 0, values[self.order], np.inf)
        return np.minimum.reduceat(worst, self.first) if len(self.sizes) else np.empty(0)

    def as_given(self, values: FloatArray) -> FloatArray:
        """A value of each score, put into the order of input."""
        given = np.empty_like(values)
        given[self.order] = values
        return given


def check(pools: Sequence[Pool], scores: Sequence[FloatArray]) -> None:
    """Complain unless there is one number, which may be infinite, for each candidate of each pool."""
    if len(pools) != len(scores):
        raise UsageError(
            f"{count_of(len(pools), 'pool')} but {count_of(len(scores), 'array')} of scores; "
            "give one array per pool"
        )
    for pool, each in zip(pools, scores, strict=True):
        if len(pool) != len(each):
            raise UsageError(
                f"pool {pool.id!r} has {len(pool)} candidates but {len(each)} scores; "
                "give one score per candidate"
            )
    flat = np.concatenate([*scores, np.empty(0)])
    if np.isnan(flat).any():
        place = int(np.flatnonzero(np.isnan(flat))[0])
        ends = np.cumsum([len(each) for each in scores])
        which = pools[int(np.searchsorted(ends, place, side="right"))].id
        raise UsageError(f"pool {which!r} has a score that is not a number; look at its ranker")
