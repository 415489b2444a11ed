"""How many labels a promise of a knowledge base still takes: the same number on every way to ask for it."""

from __future__ import annotations

from demur.asking.gates.labels import FIT
from demur.risk.thresholds.bounds import accepted_needed
from demur.risk.thresholds.control import STARTS, Evidence

RISKS = (0.20, 0.10, 0.05)
_LOOSER = (0.50, 0.40, 0.30, *RISKS)  # of these a stricter risk takes no fewer labels


def missing_labels(evidence: Evidence | None, certifying: int, risk: float, delta: float) -> int | None:
    """How many more labels a risk takes, those that fit among them; None if too many answers are wrong.

    Few answers tell no rate of errors, for any risk: then it is the least that would do if none were wrong.
    So it is where too many are wrong at each threshold that tells a rate, but the surest answers are right.
    A risk takes no fewer than a looser one that cannot be promised yet.
    """
    found: list[int] = []
    for level in [*(each for each in _LOOSER if each > risk), risk]:
        if evidence is None or not evidence.tells_a_rate:
            more: int | None = max(1, (accepted_needed(0.0, level, delta / STARTS) or 0) - certifying)
        else:
            more = 0 if evidence.choice(level, delta) is not None else evidence.more_labels(level, delta)
            more = evidence.fewest(level, delta) if more is None else more
        if more is None:
            return None
        found.append(more)
    return _in_all(max(found))


def _in_all(certifying: int) -> int:
    """How many questions to label until so many more certify, as some of them fit."""
    return -(-certifying * FIT // (FIT - 1))
