"""Intervals and differences of measures over sets of answers, by resampling the questions.

A resample's value may be undefined, such as AUROC where no wrong answer was drawn: those are left out, so
the interval is one given that the measure is defined. Intervals are those of the percentiles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from demur.errors import DataError, UsageError
from demur.evaluation.intervals import Estimate, draws
from demur.evaluation.selective.measures import Selective
from demur.evaluation.selective.ordered import Answers
from demur.types import FloatArray

RESAMPLES = 9_999
FEWEST = 199
WORK = 10_000_000  # answers drawn in all: beyond 1,000 questions fewer resamples do


@dataclass(frozen=True)
class Difference:
    """What two systems get on the same questions, and how far apart they are."""

    before: float
    after: float
    low: float
    high: float
    p: float


def measure_answers(
    measures: Sequence[Selective],
    answers: Mapping[int, Answers],
    *,
    confidence: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> list[Estimate]:
    """One estimate per measure; `answers` are by the lowest label that counts as right (`rel`)."""
    means = [value(measure, answers[measure.rel]) for measure in measures]
    replicates = _replicates(measures, answers, seed, resamples)
    intervals = [_interval(column, confidence) for column in replicates]
    return [
        Estimate(mean, *(interval or (mean, mean))) for mean, interval in zip(means, intervals, strict=True)
    ]


def difference(
    measure: Selective,
    before: Answers,
    after: Answers,
    *,
    confidence: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Difference:
    """The difference of two systems' answers to the same questions, in the same order.

    Both are resampled together. The p is twice the share of resamples on the rarer side of no difference.
    """
    values = value(measure, before), value(measure, after)
    pair = [_replicates([measure], {measure.rel: answers}, seed, resamples)[0] for answers in (before, after)]
    apart = pair[1] - pair[0]
    apart = np.round(apart[~np.isnan(apart)], 12)  # the same value summed in another order is the same
    rarer = min(int((apart <= 0).sum()), int((apart >= 0).sum()))
    low, high = _interval(apart, confidence) or (values[1] - values[0],) * 2
    return Difference(*values, low, high, min(1.0, 2 * (rarer + 1) / (len(apart) + 1)))


def value(measure: Selective, answers: Answers) -> float:
    """The measure of the answers as they are; what it cannot say of them is one clear line."""
    found = float(measure.values_of(answers.drawn())[0])
    if np.isnan(found):
        raise DataError(f"{measure} is undefined here, as {measure.undefined}; leave that measure out")
    return found


def _replicates(
    measures: Sequence[Selective], answers: Mapping[int, Answers], seed: int, resamples: int
) -> FloatArray:
    """A row of values for each measure, one for each resample; all measures share their resamples."""
    count = len(next(iter(answers.values())).loss)
    resamples = max(min(resamples, WORK // count), min(resamples, FEWEST))
    parts = []
    for times in draws(count, seed, resamples):
        drawn = {rel: each.drawn(times) for rel, each in answers.items()}
        parts.append([measure.values_of(drawn[measure.rel]) for measure in measures])
    return np.concatenate(parts, axis=1)


def _interval(replicates: FloatArray, confidence: float) -> tuple[float, float] | None:
    """The percentiles between which the replicates lie; None if there are none."""
    if not 0 < confidence < 1:
        raise UsageError(f"confidence is {confidence}; it must be between 0 and 1, such as 0.95")
    defined = replicates[~np.isnan(replicates)]
    if not len(defined):
        return None
    low, high = np.quantile(defined, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)
