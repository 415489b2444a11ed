"""How many more labels until a trained method wins: a learning curve fitted and drawn further.

What is followed is the gain, the MAP of the trained method less that of the best one without labels, on the
same held-out pools: gain(n) = a - b * n**-c for n labelled questions (a power law, as Cortes et al. 1993).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from demur.types import FloatArray

FARTHEST = 10
"""Beyond so many times the labels there are, a curve says nothing."""
_BOUNDS = ([-1.0, 0.0, 0.1], [1.0, 4.0, 2.0])  # of a, b and c
_NOTHING = 1e-4  # a gain that nobody would notice
_RESAMPLES = 200
_TAILS = (0.1, 0.9)


@dataclass(frozen=True)
class Curve:
    """The gains at some sizes: a row for each held-out pool of each repeat, a column for each size."""

    sizes: tuple[int, ...]
    gains: FloatArray

    @property
    def means(self) -> list[float]:
        """The mean gain at each size."""
        return [float(mean) for mean in self.gains.mean(axis=0)]


@dataclass(frozen=True)
class Forecast:
    """How many questions it takes in all until the trained method is level, with an interval of 80 %."""

    needed: float  # infinite where the curve levels off below
    low: float
    high: float

    def more(self, have: int) -> str:
        """The forecast in words, for someone who has so many labelled questions."""
        if self.needed > FARTHEST * max(have, 1):
            return f"not even with {FARTHEST} times the labels you have"
        low, high = (max(0.0, end - have) for end in (self.low, self.high))
        if self.needed <= have:
            return f"about now, if the curve is right (80 % interval: 0 to {rounded(high)} more)"
        needed = rounded(self.needed - have)
        return f"after about {needed} more ({rounded(low)} to {rounded(high)}, 80 % interval)"

    def to_json(self) -> dict[str, float | None]:
        """The numbers; None where the curve says that no number of labels would do."""
        return {key: value if math.isfinite(value) else None for key, value in asdict(self).items()}


def rounded(count: float) -> str:
    """A count with two digits that mean something."""
    return "no end of" if not math.isfinite(count) else f"{float(f'{count:.2g}'):,.0f}"


def forecast(curve: Curve, seed: int = 0) -> Forecast | None:
    """When the gain reaches 0; None where there are too few sizes to fit a curve to."""
    if len(curve.sizes) < 3:
        return None
    draws = np.random.default_rng(seed)
    sizes = np.array(curve.sizes, np.float64)
    reached = []
    for _ in range(_RESAMPLES):
        rows = draws.integers(0, len(curve.gains), len(curve.gains))
        reached.append(level(sizes, curve.gains[rows].mean(axis=0)))
    low, high = np.quantile(reached, _TAILS, method="nearest")
    return Forecast(level(sizes, curve.gains.mean(axis=0)), float(low), float(high))


def level(sizes: FloatArray, gains: FloatArray) -> float:
    """The size at which the fitted gain is 0; infinite where it never is."""
    from scipy.optimize import least_squares

    def off(law: FloatArray) -> FloatArray:
        return np.asarray(law[0] - law[1] * sizes ** -law[2] - gains)

    start = (float(np.clip(gains[-1], -0.9, 0.9)), min(max(float(gains[-1] - gains[0]), 0.05), 3.9), 0.5)
    a, b, c = least_squares(off, start, bounds=_BOUNDS).x.tolist()
    if a < _NOTHING:
        return math.inf
    return float((b / a) ** (1 / c)) if b > 0 else 0.0


def nested(count: int, smallest: int = 8, steps: int = 5) -> tuple[int, ...]:
    """Sizes up to a count, each by the same factor larger than the one before."""
    if count <= smallest:
        return (count,)
    doublings = int(np.log2(count / smallest))
    found = np.geomspace(smallest, count, min(steps, doublings + 2)).round()
    return tuple(dict.fromkeys(found.astype(int).tolist()))


def wins_at(points: Sequence[tuple[int, float]], target: float) -> float:
    """With how many questions a curve of means was at a target; infinite where it never was."""
    sizes, means = (np.array(column, np.float64) for column in zip(*points, strict=True))
    above = np.flatnonzero(means >= target)
    if not len(above):
        return math.inf
    place = int(above[0])
    if place == 0:
        return float(sizes[0])
    share = (target - means[place - 1]) / (means[place] - means[place - 1])
    return float(np.exp(np.log(sizes[place - 1]) + share * np.log(sizes[place] / sizes[place - 1])))
