from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from demur.errors import UsageError
from demur.risk.thresholds.bounds import accepted_needed, fewest, p_value, surprise, upper_bound


def below(k: int, n: int, risk: Fraction) -> Fraction:
    return sum((comb(n, i) * risk**i * (1 - risk) ** (n - i) for i in range(k + 1)), Fraction(0))


@st.composite
def counts(draw: st.DrawFn) -> tuple[int, int]:
    n = draw(st.integers(0, 60))
    return draw(st.integers(0, n)), n


@given(counts(), st.integers(1, 99))
def test_both_tails_are_the_exact_sums(pair: tuple[int, int], percent: int) -> None:
    k, n = pair
    exact = below(k, n, Fraction(percent, 100))
    assert float(p_value(k, n, percent / 100)) == pytest.approx(float(exact), rel=1e-9)
    rest = 1 - below(k - 1, n, Fraction(percent, 100))
    assert float(surprise(k, n, percent / 100)) == pytest.approx(float(rest), rel=1e-9)


def test_nothing_accepted_proves_nothing() -> None:
    assert p_value([0, 5], [0, 5], 0.1).tolist() == [1.0, 1.0]
    assert upper_bound([0, 5], [0, 5], 0.05).tolist() == [1.0, 1.0]


def test_clopper_pearson_is_the_beta_quantile() -> None:
    from scipy.stats import beta

    n = np.repeat(np.arange(1, 120), 5)
    k = (n * np.tile([0.0, 0.1, 0.5, 0.9, 1.0], 119)).astype(int)
    for delta in (0.05, 0.3, 0.001):
        theirs = np.where(k < n, beta.ppf(1 - delta, k + 1, np.maximum(n - k, 1)), 1.0)
        np.testing.assert_allclose(upper_bound(k, n, delta), theirs, rtol=1e-9)


@given(counts().filter(lambda pair: pair[0] < pair[1]), st.floats(0.001, 0.5))
def test_the_bound_is_where_the_p_value_is_delta(pair: tuple[int, int], delta: float) -> None:
    bound = float(upper_bound(*pair, delta))
    assert float(p_value(*pair, bound)) == pytest.approx(delta, rel=1e-6)


def test_counts_are_whole() -> None:
    with pytest.raises(UsageError, match="whole numbers"):
        p_value(0.1 * 30, 30, 0.1)
    with pytest.raises(UsageError, match="errors must be 0 or more, and at most as many"):
        p_value(3, 2, 0.1)
    with pytest.raises(UsageError, match="between 0 and 1"):
        p_value(1, 2, 10)


@given(st.integers(0, 30), st.integers(2, 60), st.sampled_from([0.2, 0.05, 0.01]))
def test_fewest_is_the_first_that_will_do(errors: int, percent: int, delta: float) -> None:
    risk = percent / 100
    n = fewest(errors, risk, delta)
    assert p_value(errors, n, risk) <= delta
    assert n == errors + 1 or p_value(errors, n - 1, risk) > delta


def test_answers_needed() -> None:
    assert accepted_needed(0.0, 0.1, 0.05) == 29  # 0.9**29 is the first below 0.05
    assert accepted_needed(0.1, 0.1, 0.05) is None
    assert accepted_needed(0.2, 0.1, 0.05) is None
    needed = accepted_needed(0.05, 0.1, 0.05)
    assert needed is not None and p_value(int(0.05 * needed), needed, 0.1) <= 0.05
    assert all(p_value(-(-n // 20), n, 0.1) > 0.05 for n in range(1, needed - 25))
    near = accepted_needed(0.0999, 0.1, 0.05)
    assert near is not None and 10**7 < near < 10**8  # about (1.64 / 0.0001)**2 * 0.09
