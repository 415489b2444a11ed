"""Exact binomial arithmetic: what errors counted among answers say of the risk, and what it would take.

Counts are whole numbers and stay so: a rate turned back into a count may lose one, and then understates.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from demur.errors import UsageError
from demur.types import FloatArray, IntArray

_MOST = 10**12  # questions; who would need more needs something else


def p_value(errors: Any, accepted: Any, risk: float) -> FloatArray:
    """The chance of so few errors, or fewer, if the risk were as given: P[Bin(accepted, risk) <= errors]."""
    from scipy import special

    k, n = _counts(errors, accepted)
    _share("risk", risk)
    some = k < n  # where all are wrong the chance is 1; so it is where none is accepted
    return np.where(some, special.betaincc(k + 1.0, np.where(some, n - k, 1), risk), 1.0)


def surprise(errors: Any, accepted: Any, risk: float) -> FloatArray:
    """The chance of so many errors, or more, if the risk were as given: P[Bin(accepted, risk) >= errors]."""
    from scipy import special

    k, n = _counts(errors, accepted)
    _share("risk", risk)
    return np.where(k > 0, special.betainc(np.maximum(k, 1), n - k + 1.0, risk), 1.0)


def upper_bound(errors: Any, accepted: Any, delta: Any) -> FloatArray:
    """The Clopper-Pearson bound: the least risk that this few errors rule out with confidence 1 - delta."""
    from scipy import special

    k, n = _counts(errors, accepted)
    some = k < n
    return np.where(some, special.betainccinv(k + 1.0, np.where(some, n - k, 1), delta), 1.0)


def accepted_needed(rate: float, risk: float, delta: float) -> int | None:
    """How many answers it takes to rule the risk out if errors come at this rate; None if they never do."""
    _share("risk", risk)
    if not 0 <= rate < risk:
        return None

    def enough(errors: int) -> bool:
        return fewest(errors, risk, delta) * rate <= errors

    low, high = -1, 0
    while not enough(high):
        low, high = high, 2 * high + 1
        if high > _MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return fewest(high, risk, delta)


def fewest(errors: int, risk: float, delta: float) -> int:
    """The least number of answers with so many errors that rules the risk out."""
    low, high = errors, 2 * errors + 1
    while p_value(errors, high, risk) > delta:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if p_value(errors, middle, risk) <= delta else (middle, high)
    return high


LEAST_RISK = 1e-9


def check_promise(risk: float, confidence: float = 0.95) -> None:
    """Raise an error unless something can be promised at this risk and with this confidence."""
    if not 0 < risk < 1:
        what = f"a risk of {risk:g} is not a share of wrong answers"
        raise UsageError(f"{what}; choose one between 0 and 1, such as 0.1")
    if risk < LEAST_RISK:
        what = f"a risk of {risk:g} takes more labelled questions than anybody has"
        raise UsageError(f"{what}; choose one of {LEAST_RISK:g} or more, such as 0.1")
    if not 0 < confidence < 1:
        what = f"a confidence of {confidence:g} is not a probability"
        raise UsageError(f"{what}; choose one below 1, such as 0.95")


def _counts(errors: Any, accepted: Any) -> tuple[IntArray, IntArray]:
    k, n = np.asarray(errors), np.asarray(accepted)
    if k.dtype.kind not in "iu" or n.dtype.kind not in "iu":
        raise UsageError("errors and answers are counted in whole numbers; pass integers, not rates")
    if (k < 0).any() or (k > n).any():
        raise UsageError("errors must be 0 or more, and at most as many as there are answers")
    return k, n


def _share(what: str, value: float) -> None:
    if not 0 < value < 1:
        raise UsageError(f"{what} is a share between 0 and 1, both excluded, such as 0.1; not {value:g}")
