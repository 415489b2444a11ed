"""Learn-then-Test: which thresholds of a grid pass, when the chance of any false pass is to stay under delta.

Each rule returns the loosest threshold that passes and the level at which it was tested, or None.
"""

from __future__ import annotations

import numpy as np

from demur.risk.thresholds.bounds import p_value
from demur.risk.thresholds.counted_answers import Labelled
from demur.types import FloatArray


def fixed_sequence(
    labelled: Labelled, risk: float, delta: float, grid: FloatArray, starts: int
) -> tuple[float, float] | None:
    """Thresholds tested strict to loose, from several starts.

    Each start has its share of delta. A test that passes hands its level on to the next threshold, where it
    adds to the share of a start there; one that fails loses it. This keeps the chance of any false pass
    under delta, whatever the shape of the risk: before the first false pass no bad threshold has passed, so
    what arrives at a bad threshold are only shares of starts since the last bad one, and no share counts for
    two of them.
    """
    n, k = labelled.at(grid)
    p = p_value(k, n, risk).tolist()
    places = start_places(len(grid), starts)
    level, best = 0.0, None
    for place, threshold in enumerate(grid.tolist()):
        if place in places:
            level += delta / len(places)
        if level > 0 and p[place] <= level:
            best = (threshold, level)
        else:
            level = 0.0
    return best


def start_places(thresholds: int, starts: int) -> list[int]:
    """Where the starts stand: evenly from the strictest threshold on."""
    return sorted({place * thresholds // starts for place in range(starts)})


def bonferroni(
    labelled: Labelled, risk: float, delta: float, grid: FloatArray, starts: int
) -> tuple[float, float] | None:
    """All thresholds tested alike, each with an equal share of delta."""
    level = delta / len(grid)
    n, k = labelled.at(grid)
    passed = np.flatnonzero(p_value(k, n, risk) <= level)
    return (float(grid[passed[-1]]), level) if len(passed) else None
