"""How far stated chances are from what comes true: reliability, calibration error, and Brier's score.

Bins hold about equally many answers, and equal chances are never parted, so that the order of the answers
does not matter. An isotonic or otherwise stepped calibrator may leave fewer bins than were asked for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from demur.errors import UsageError
from demur.types import FloatArray, IntArray

BINS = 15


class Reliability(NamedTuple):
    """A reliability diagram, a bin to an entry: what was stated, what came true, and its interval."""

    answers: IntArray
    stated: FloatArray
    correct: FloatArray
    low: FloatArray
    high: FloatArray


class Brier(NamedTuple):
    """Brier's score and its parts: ``score == reliability - resolution + uncertainty + within``."""

    score: float
    reliability: float
    """How far the stated chances are from what came true; lower is better."""
    resolution: float
    """How far what came true differs from bin to bin; higher is better."""
    uncertainty: float
    """What a forecast of the mean would score."""
    within: float
    """What binning hides; 0 if each bin has one stated chance."""


def reliability(
    chance: ArrayLike, correct: ArrayLike, bins: int = BINS, confidence: float = 0.95
) -> Reliability:
    """The reliability diagram, with exact binomial intervals (Clopper and Pearson)."""
    stated, right = _pairs(chance, correct)
    place = _bins(stated, bins)
    count = np.bincount(place)
    hits = np.bincount(place, right)
    tail = (1 - confidence) / 2
    low = np.where(hits > 0, betaincinv(np.maximum(hits, 1e-300), count - hits + 1, tail), 0.0)
    misses = count - hits
    high = np.where(misses > 0, betaincinv(hits + 1, np.maximum(misses, 1e-300), 1 - tail), 1.0)
    return Reliability(count, np.bincount(place, stated) / count, hits / count, low, high)


def squared_error(chance: ArrayLike, correct: ArrayLike, bins: int = BINS, *, debiased: bool = True) -> float:
    """The mean squared distance between stated chance and what came true, bin by bin.

    Chance alone parts the two in every bin, so the plain figure is too high. The debiased one takes away the
    variance of each bin's mean, as Kumar et al. (2019) do, and may fall below 0. Like every binned figure it
    is a lower bound for chances that differ within a bin.
    """
    stated, right = _pairs(chance, correct)
    if debiased and len(stated) < 2:
        raise UsageError("one answer says nothing of spread; give two or more, or debiased=False")
    place = _bins(stated, bins, fewest=2 if debiased else 1)
    count = np.bincount(place)
    off = np.bincount(place, stated - right) / count
    squared = off**2
    if debiased:
        spread = np.bincount(place, (stated - right - off[place]) ** 2)
        squared = squared - spread / (count * (count - 1))
    return float((count * squared).sum() / len(stated))


def calibration_error(
    chance: ArrayLike, correct: ArrayLike, bins: int = BINS, *, debiased: bool = True
) -> float:
    """The root of `squared_error`; 0 where that is below 0."""
    return float(np.sqrt(max(0.0, squared_error(chance, correct, bins, debiased=debiased))))


def brier(chance: ArrayLike, correct: ArrayLike, bins: int | None = BINS) -> Brier:
    """Brier's score in parts (Murphy 1973); without bins, each stated chance is a bin of its own."""
    stated, right = _pairs(chance, correct)
    place = _bins(stated, len(stated) if bins is None else bins)
    count = np.bincount(place)
    share = count / len(stated)
    mean, came = np.bincount(place, stated) / count, np.bincount(place, right) / count
    base = right.mean()
    off = stated - mean[place]
    return Brier(
        score=float(((stated - right) ** 2).mean()),
        reliability=float((share * (mean - came) ** 2).sum()),
        resolution=float((share * (came - base) ** 2).sum()),
        uncertainty=float(((right - base) ** 2).mean()),
        within=float((off**2).mean() - 2 * (off * (right - came[place])).mean()),
    )


def _pairs(chance: ArrayLike, correct: ArrayLike) -> tuple[FloatArray, FloatArray]:
    stated, right = np.asarray(chance, np.float64), np.asarray(correct, np.float64)
    if stated.ndim != 1 or stated.shape != right.shape or not len(stated):
        raise UsageError(f"{stated.shape} chances but {right.shape} answers; give one of each, at least one")
    for name, values in (("a chance", stated), ("correct", right)):
        if not ((values >= 0) & (values <= 1)).all():
            raise UsageError(f"{name} must be from 0 to 1")
    return stated, right


def _bins(stated: FloatArray, bins: int, fewest: int = 1) -> IntArray:
    """The number of each answer's bin, from 0 and without gaps; a bin of fewer than the fewest is merged."""
    if bins < 1:
        raise UsageError(f"{bins} bins; one is the fewest")
    order = np.sort(stated)
    firsts = order[(np.arange(1, bins) * len(order)) // bins]  # where each bin but the first would start
    _, place = np.unique(np.searchsorted(firsts, stated, side="right"), return_inverse=True)
    new, held = [0], 0
    for count in np.bincount(place).tolist():
        held = count if held >= fewest else held + count
        new.append(new[-1] + (held >= fewest))
    number = np.array(new[:-1])
    return np.asarray(np.minimum(number, max(new[-1] - 1, 0))[place], np.int64)
