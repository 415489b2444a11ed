"""How a ranker does on its worst group of pairs: right or wrong answers, with little to much overlap."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from demur.training.cross_encoders.bias_model import features, terciles
from demur.types import FloatArray, IntArray, Pool

WORST = "worst"
"""What `early` calls this figure."""


def groups(rows: FloatArray, right: FloatArray) -> IntArray:
    """The number of each pair's group, from what tells it without reading: 0 to 2 are wrong, 3 to 5 right."""
    return 3 * right.astype(np.int64) + terciles(rows[:, 0])


def worst(pools: Sequence[Pool], scores: Sequence[FloatArray]) -> float:
    """The least share, over groups, of comparisons with the pool's other side that come out right.

    A right answer is compared with each wrong one of its pool, and the other way round; equal scores count
    half. Each pair of a group weighs the same.
    """
    both = [(pool, s) for pool, s in zip(pools, scores, strict=True) if 0 < pool.positives < len(pool)]
    kept = [pool for pool, _ in both]
    right = [np.array([float(bool(c.label and c.label > 0)) for c in pool.candidates]) for pool in kept]
    shares = np.concatenate([_shares(s, true > 0) for (_, s), true in zip(both, right, strict=True)])
    numbers = groups(np.concatenate(features(kept)), np.concatenate(right))
    return min(float(shares[numbers == number].mean()) for number in np.unique(numbers))


def _shares(scores: FloatArray, right: NDArray[np.bool_]) -> FloatArray:
    above = (np.sign(scores[:, None] - scores[None, :]) + 1) / 2  # 1 where the row's pair stands higher
    of_right, of_wrong = above[:, ~right].mean(1), 1 - above[:, right].mean(1)
    return np.asarray(np.where(right, of_right, of_wrong), np.float64)
