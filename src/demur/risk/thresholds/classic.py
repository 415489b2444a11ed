"""Other rules for a threshold, to compare the gate with. Only `sgr` keeps its word.

Each returns the threshold and the level of its bound, or None. `naive` is what most systems do and what the
risk-control paper does. SGR is Geifman and El-Yaniv's (2017).
"""

from __future__ import annotations

import math

import numpy as np

from demur.risk.thresholds.bounds import p_value, upper_bound
from demur.risk.thresholds.counted_answers import Labelled
from demur.types import FloatArray


def naive(
    labelled: Labelled, risk: float, delta: float, grid: FloatArray, starts: int
) -> tuple[float, float] | None:
    """The loosest threshold at which the share of errors seen is small enough: nothing allows for luck."""
    n, k = labelled.at(labelled.confidence)
    kept = np.flatnonzero(k / n <= risk)
    return (float(labelled.confidence[kept[0]]), delta) if len(kept) else None


def clopper_pearson(
    labelled: Labelled, risk: float, delta: float, grid: FloatArray, starts: int
) -> tuple[float, float] | None:
    """The loosest threshold whose own bound is small enough: nothing allows for the choice among many."""
    n, k = labelled.at(grid)
    kept = np.flatnonzero(upper_bound(k, n, delta) <= risk)
    return (float(grid[kept[-1]]), delta) if len(kept) else None


def sgr(
    labelled: Labelled, risk: float, delta: float, grid: FloatArray, starts: int
) -> tuple[float, float] | None:
    """SGR without its faults: the loosest that passes of log2(m) ranks fixed beforehand, which share delta.

    What passes lies strictly above the confidence at the next rank. Given that confidence and how many lie
    above it, those above are drawn independently from all that lie above it, so their errors are binomial:
    exact with ties, and without a grid. The search that SGR makes depends on what it has seen; these ranks
    do not.
    """
    m = len(labelled)
    ranks = sgr_ranks(m)
    level = delta / ranks
    places = m - 1 - np.arange(ranks, 0, -1) * m // ranks  # of the next rank; for the first there is none
    edges = labelled.confidence[places[1:]]
    above = np.append(-np.inf, np.nextafter(edges[edges < np.inf], np.inf))
    n, k = labelled.at(above)
    passed = np.flatnonzero(p_value(k, n, risk) <= level)
    return (float(above[passed[0]]), level) if len(passed) else None


def sgr_ranks(questions: int) -> int:
    """Among how many ranks `sgr` shares its delta."""
    return max(1, math.ceil(math.log2(max(questions, 1))))


def sgr_code(
    labelled: Labelled, risk: float, delta: float, grid: FloatArray, starts: int
) -> tuple[float, float] | None:
    """SGR as its authors' program does it, with its four faults; never use it.

    It counts from a place in the sorted file though all of equal confidence pass, cuts rates back to counts
    and so loses errors, searches along what it has seen, and returns where it stopped even if that failed.
    """
    from scipy import special

    m = len(labelled)
    if m < 2:
        return None
    steps = math.ceil(math.log2(m))
    level = delta / steps
    low, high, place = 0, m - 1, 0
    for _ in range(steps + 1):
        place = math.ceil((low + high) / 2)
        accepted = m - place
        rate = (labelled.errors_before[-1] - labelled.errors_before[place]) / accepted
        errors = int(accepted * rate)
        bound = special.betainccinv(errors + 1, accepted - errors, level) if errors < accepted else 1.0
        low, high = (place, high) if bound > risk else (low, place)
    return float(labelled.confidence[place]), level
