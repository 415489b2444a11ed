"""Bootstrap intervals for means over pools."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from demur.errors import UsageError
from demur.types import FloatArray, IntArray

RESAMPLES = 9_999
FEWEST = 999
WORK = 100_000_000  # pools drawn in all: beyond 10,000 pools fewer resamples do
_CHUNK = 1 << 18  # pools drawn at a time
_DIGITS = 12  # of a mean: the same values summed in another order are the same mean


@dataclass(frozen=True)
class Estimate:
    """A mean over pools, and the interval in which a bootstrap over pools puts it."""

    mean: float
    low: float
    high: float


def estimates(
    columns: FloatArray,
    *,
    confidence: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
    method: str = "bca",
) -> list[Estimate]:
    """One estimate per column of a table with a row for each pool.

    All columns share their resamples, and the same seed gives the same interval whichever columns there are.
    One pool, or pools that are all alike, tell nothing about spread: the interval is then the mean.
    """
    if not 0 < confidence < 1:
        raise UsageError(f"confidence is {confidence}; it must be between 0 and 1, such as 0.95")
    if method not in ("bca", "percentile"):
        raise UsageError(f"no such bootstrap: {method!r}; write bca or percentile")
    drawn = _resampled(columns, seed, resamples)
    found = []
    for column, replicates in zip(np.ascontiguousarray(columns.T), drawn.T, strict=True):
        low = high = mean = column.mean()
        if np.ptp(column) > 0:
            tails = np.array([1 - confidence, 1 + confidence]) / 2
            if method == "bca":
                tails = _corrected(tails, column, mean, replicates)
            low, high = np.quantile(replicates, tails)
        found.append(Estimate(float(mean), float(low), float(high)))
    return found


def _resampled(columns: FloatArray, seed: int, resamples: int) -> FloatArray:
    """The columns' means in each resample: how often each pool was drawn, times the columns."""
    pools = len(columns)
    resamples = max(min(resamples, WORK // pools), min(resamples, FEWEST))
    parts = [times @ columns / pools for times in draws(pools, seed, resamples)]
    return np.concatenate(parts).round(_DIGITS)


def draws(pools: int, seed: int, resamples: int) -> Iterator[IntArray]:
    """Tables of how often each pool is drawn, a row to a resample; a few rows at a time."""
    random = generator(seed)
    rows = max(1, _CHUNK // pools)
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start)
        drawn = random.integers(0, pools, (count, pools)) + np.arange(count)[:, None] * pools
        yield np.bincount(drawn.ravel(), minlength=count * pools).reshape(count, pools)


def generator(seed: Any) -> np.random.Generator:
    """The random numbers of a seed."""
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise UsageError(f"the seed is {seed}; it must be a whole number from 0")
    return np.random.default_rng(seed)


def _corrected(tails: FloatArray, column: FloatArray, mean: float, replicates: FloatArray) -> FloatArray:
    """The tails of Efron's BCa interval (1987): corrected for bias and for skewness."""
    normal = NormalDist()
    mean = round(mean, _DIGITS)
    below = ((replicates < mean).mean() + (replicates <= mean).mean()) / 2
    if not 0 < below < 1:
        return tails  # all resamples on one side: nothing to correct by
    bias = normal.inv_cdf(float(below))
    off = column - mean
    skew = float((off**3).sum() / (6 * (off**2).sum() ** 1.5))
    shifted = [bias + normal.inv_cdf(float(tail)) for tail in tails]
    return np.array([normal.cdf(bias + shift / (1 - skew * shift)) for shift in shifted])
