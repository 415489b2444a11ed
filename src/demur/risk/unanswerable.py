"""A threshold by questions that have no answer: how many of such are answered, bounded with confidence.

The thresholds to test are the same for everybody, so none depends on what is tested. Fewer are answered the
stricter the threshold, so they are tested strict to loose until one fails, and each at the full level.
"""

from __future__ import annotations

import numpy as np

from demur.errors import NoThreshold, UsageError
from demur.logistic import expit
from demur.risk.gates.certificate import percent
from demur.risk.thresholds.bounds import check_promise, fewest, p_value, upper_bound
from demur.risk.thresholds.control import Choice
from demur.types import FloatArray

GRID: FloatArray = expit(np.linspace(12, -8, 2001))
"""Chances that are tested as thresholds, strict first."""
METHOD = "ltt"


def choose(confidence: FloatArray, risk: float, level: float = 0.95) -> Choice:
    """The loosest threshold that at most such a share of questions without an answer pass; or `NoThreshold`.

    `confidence` has one chance for each question, each drawn independently of the others.
    """
    check_promise(risk, level)
    confidence = np.sort(np.asarray(confidence, np.float64))
    if np.isnan(confidence).any():
        raise UsageError("a confidence is not a number; give every question one")
    count, delta = len(confidence), 1 - level
    answered = count - np.searchsorted(confidence, GRID, side="left")
    passes = p_value(answered, np.full(len(GRID), count), risk) <= delta
    best = len(GRID) if passes.all() else int(np.argmin(passes))
    if not count or not best:
        raise _refused(int(answered[0]) if count else 0, count, risk, delta)
    threshold, k = float(GRID[best - 1]), int(answered[best - 1])
    return Choice(threshold, k, k, float(upper_bound(k, count, delta)), METHOD, count)


def _refused(answered: int, count: int, risk: float, delta: float) -> NoThreshold:
    levels = (each / 100 for each in range(1, 100))
    carried = (level for level in levels if count and p_value(answered, count, level) <= delta)
    lowest = next(carried, None)
    needed = fewest(answered, risk, delta)
    reach = (
        "not even 99 % can be promised"
        if lowest is None
        else f"the lowest they can promise is {percent(lowest)}, a risk of {lowest:.4g}"
    )
    none = "no other" if answered else "none"
    removed = "1 entry that was removed" if count == 1 else f"{count:,} entries that were removed"
    share, sure = percent(risk), percent(1 - delta)
    said = (
        f"{removed} cannot promise that at most {share} of such questions are answered, with {sure} "
        f"confidence; {reach}; for {share} remove more: it takes {needed:,} entries if {none} is answered, "
        f"so an FAQ of {2 * needed:,} entries with --apart 0.5, or of {10 * needed:,} with --apart 0.1"
    )
    return NoThreshold(risk, 1 - delta, count, lowest, needed - count, said=said)
