"""Answers in the order of their confidence, as blocks of equal confidence: what `ranked` is to candidates.

All is counted for many resamples at once: a resample says how often each answer was drawn, and an answer
drawn twice stands in a block with itself. The answers as they are are the resample that has each once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demur.errors import UsageError
from demur.types import FloatArray, IntArray


class Layout(NamedTuple):
    """An order of the answers, and where its blocks of equal keys start."""

    order: IntArray
    starts: IntArray
    key: FloatArray


@dataclass(frozen=True, eq=False)
class Answers:
    """How sure each answer is, and what it costs: 0 if right, 1 if wrong, between where that is a chance."""

    confidence: FloatArray
    loss: FloatArray

    @classmethod
    def of(cls, confidence: ArrayLike, loss: ArrayLike) -> Answers:
        """The answers of two arrays that fit together."""
        confidences, cost = np.asarray(confidence, np.float64), np.asarray(loss, np.float64)
        if confidences.ndim != 1 or confidences.shape != cost.shape:
            raise UsageError(
                f"confidence of shape {confidences.shape} and loss of {cost.shape}; give one of each"
            )
        if not len(confidences):
            raise UsageError("there are no answers, so nothing can be measured; give the confidences of some")
        if np.isnan(confidences).any():
            raise UsageError(
                f"the confidence at place {int(np.isnan(confidences).argmax())} is not a number; "
                "mend what it comes from"
            )
        if not ((cost >= 0) & (cost <= 1)).all():
            raise UsageError("a loss must be from 0, right, to 1, wrong")
        return cls(confidences, cost)

    def drawn(self, times: IntArray | None = None) -> Drawn:
        """The resamples, where answer `a` is drawn `times[resample, a]` times; if not said, one of each."""
        return Drawn(self, np.ones((1, len(self.loss)), np.int64) if times is None else times)

    @cached_property
    def by_confidence(self) -> Layout:
        """The answers, surest first."""
        return _laid_out(self.confidence)

    @cached_property
    def by_loss(self) -> Layout:
        """The answers, right ones first: the order of a confidence that knows."""
        return _laid_out(-self.loss)

    @cached_property
    def harmonic(self) -> FloatArray:
        """``1 + 1/2 + … + 1/n`` for n from 0 to the number of answers."""
        return np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, len(self.loss) + 1))))


@dataclass(frozen=True, eq=False)
class Drawn:
    """Some answers and their resamples: what a measure over answers is computed from."""

    answers: Answers
    times: IntArray

    @cached_property
    def blocks(self) -> Blocks:
        """The blocks of equal confidence, surest first."""
        return self._blocks(self.answers.by_confidence)

    @cached_property
    def best(self) -> Blocks:
        """The blocks of equal loss, right answers first."""
        return self._blocks(self.answers.by_loss)

    @cached_property
    def count(self) -> IntArray:
        """How many answers each resample has."""
        return np.asarray(self.times.sum(axis=1))

    @cached_property
    def wrong(self) -> FloatArray:
        """How many wrong answers each resample has."""
        return np.asarray(self.times @ self.answers.loss)

    def _blocks(self, layout: Layout) -> Blocks:
        times = self.times[:, layout.order]
        loss = self.answers.loss[layout.order]
        wrong = times * loss
        whole = bool(((loss == 0) | (loss == 1)).all())
        alone = wrong if whole else wrong * loss
        if len(layout.starts) < len(loss):
            times, wrong, alone = (np.add.reduceat(a, layout.starts, axis=1) for a in (times, wrong, alone))
        return Blocks(times, wrong, alone, layout.key, self.answers.harmonic)


@dataclass(frozen=True, eq=False)
class Blocks:
    """Blocks of answers, one row of them for each resample. A block may be empty in a resample."""

    size: IntArray
    wrong: FloatArray
    alone: FloatArray
    """The sum of squared losses: what ``wrong ** 2`` counts of pairs of one answer with itself."""
    key: FloatArray
    harmonic: FloatArray

    @cached_property
    def upto(self) -> IntArray:
        """How many answers each block and those before it hold."""
        return np.cumsum(self.size, axis=1)

    @cached_property
    def wrong_upto(self) -> FloatArray:
        """How many wrong answers each block and those before it hold."""
        return np.cumsum(self.wrong, axis=1)

    @cached_property
    def rate(self) -> FloatArray:
        """The share of wrong answers in each block; 0 in an empty one."""
        return np.divide(self.wrong, self.size, out=np.zeros_like(self.wrong), where=self.size > 0)

    @cached_property
    def steps(self) -> FloatArray:
        """The sum of 1/k over the ranks k that each block fills."""
        steps: FloatArray = self.harmonic[self.upto] - self.harmonic[self.upto - self.size]
        return steps

    @cached_property
    def reversed(self) -> Blocks:
        """The same blocks, the last first."""
        size, wrong, alone = self.size[:, ::-1], self.wrong[:, ::-1], self.alone[:, ::-1]
        return Blocks(size, wrong, alone, self.key[::-1], self.harmonic)


def _laid_out(key: NDArray[Any]) -> Layout:
    order = np.argsort(-key, kind="stable")
    ordered = key[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    return Layout(order, starts, ordered[starts])
