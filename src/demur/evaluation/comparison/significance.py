"""Tests of whether two systems differ: from one difference per pool to a two-sided p."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from demur.errors import UnknownName, UsageError
from demur.evaluation.intervals import generator
from demur.types import FloatArray

DRAWS = 100_000
FEWEST_DRAWS = 10_000
WORK = 400_000_000  # signs drawn in all
MOST_EXACT = 16  # differences: 65,536 patterns of signs
_BLOCK = 256  # differences whose signs are drawn together: their table stays in the processor's cache


def permutation(differences: FloatArray, *, seed: int = 0, draws: int = DRAWS) -> float:
    """The p of the mean difference if each pool's sign were a coin's: exact up to 16 that are not zero.

    Beyond that the signs are drawn, and the observed pattern counts as one draw (Phipson and Smyth 2010).
    """
    left = differences[differences != 0]
    observed = abs(left.sum())
    nearly = observed - 1e-12 * np.abs(left).sum()  # sums in another order differ in their last digits
    if len(left) <= MOST_EXACT:
        patterns = np.arange(1 << MOST_EXACT, dtype=np.uint16).view(np.uint8).reshape(-1, 2)
        return float((np.abs(_signed_sums(left, patterns)) >= nearly).mean())
    draws = max(min(draws, WORK // len(left)), min(draws, FEWEST_DRAWS))
    random = generator(seed)
    sums = np.zeros(draws)
    for start in range(0, len(left), _BLOCK):
        block = left[start : start + _BLOCK]
        patterns = random.integers(0, 256, (draws, -(-len(block) // 8)), dtype=np.uint8)
        sums += _signed_sums(block, patterns)
    reached = int((np.abs(sums) >= nearly).sum())
    return (reached + 1) / (draws + 1)


def _signed_sums(values: FloatArray, patterns: NDArray[np.uint8]) -> FloatArray:
    """The sum of the values under each pattern of signs. A byte is eight signs, looked up in a table."""
    width = patterns.shape[1]
    eights = np.zeros((width, 8))
    eights.flat[: len(values)] = values
    signs = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1) * 2.0 - 1
    table = eights @ signs.T
    return np.asarray(table[np.arange(width), patterns].sum(axis=1))


def wilcoxon(differences: FloatArray) -> float:
    """The p of Wilcoxon's signed ranks, zeros ranked with the others (Pratt) and then dropped."""
    if not differences.any():
        return 1.0
    from scipy import stats

    return float(stats.wilcoxon(differences, zero_method="pratt").pvalue)


def mcnemar(differences: FloatArray) -> float:
    """The exact p of McNemar: right where the other is wrong, a coin for each pool in which they differ."""
    if not np.isin(differences, (-1.0, 0.0, 1.0)).all():
        raise UsageError(
            "McNemar compares right with wrong, so values must be 0 or 1; use it for P@1 or Success@k, "
            "under a convention that settles ties, or use the permutation test"
        )
    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    from scipy.special import bdtr

    return min(1.0, 2 * float(bdtr(min(wins, losses), wins + losses, 0.5)))


TESTS = ("permutation", "wilcoxon", "mcnemar")


def p_value(test: str, differences: FloatArray, seed: int = 0) -> float:
    """The p that the test of this name gives; the seed is for tests that draw.

    Values that differ in their last digits only are the same value summed in another order.
    """
    differences = np.round(differences, 12)
    if test == "permutation":
        return permutation(differences, seed=seed)
    if test == "wilcoxon":
        return wilcoxon(differences)
    if test == "mcnemar":
        return mcnemar(differences)
    raise UnknownName("test", test, TESTS)


def holm(ps: Sequence[float]) -> list[float]:
    """The p of each comparison, adjusted for the chance of any false alarm among them (Holm 1979)."""
    adjusted = [0.0] * len(ps)
    highest = 0.0
    for done, place in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        highest = max(highest, min(1.0, (len(ps) - done) * ps[place]))
        adjusted[place] = highest
    return adjusted
