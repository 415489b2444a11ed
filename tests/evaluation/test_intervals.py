from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import stats

from demur.errors import UsageError
from demur.evaluation import Estimate, estimates, intervals


def draws(n: int, seed: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.random.default_rng(seed).beta(0.6, 1.4, n)


@pytest.mark.parametrize("method", ["bca", "percentile"])
@pytest.mark.parametrize("n", [12, 40, 237])
def test_the_same_interval_as_scipy_from_the_same_draws(method: str, n: int) -> None:
    values = draws(n, n)
    found = estimates(values[:, None], seed=7, resamples=1999, method=method, confidence=0.9)[0]
    wanted = stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=1999,
        confidence_level=0.9,
        method="BCa" if method == "bca" else "percentile",
        rng=np.random.default_rng(7),
    ).confidence_interval
    assert found.mean == pytest.approx(values.mean(), rel=1e-13)
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), rel=1e-10)


def test_means_of_resamples_that_equal_the_mean_count_half() -> None:
    values = np.array([0.0] * 7 + [1.0] * 5)
    found = estimates(values[:, None], seed=7, resamples=1999)[0]
    wanted = stats.bootstrap(
        (values,), np.mean, n_resamples=1999, confidence_level=0.95, rng=np.random.default_rng(7)
    ).confidence_interval
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), abs=1e-12)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    truth = 0.6 / 2.0
    held = 0
    for seed in range(300):
        found = estimates(draws(60, seed)[:, None], resamples=999, seed=seed)[0]
        held += found.low <= truth <= found.high
    low, high = (
        float(stats.binom.ppf(tail, 300, 0.94)) for tail in (0.0005, 0.9995)
    )  # the bootstrap is a little short of 0.95 here
    assert low <= held <= high


def test_a_column_does_not_know_the_others() -> None:
    table = np.column_stack([draws(50, 1), draws(50, 2)])
    both = estimates(table, seed=3)
    assert both == [estimates(table[:, :1], seed=3)[0], estimates(table[:, 1:], seed=3)[0]]
    assert both != estimates(table, seed=4)


@pytest.mark.parametrize("values", [[0.25], [1.0, 1.0, 1.0], [0.0] * 9])
def test_what_has_no_spread_has_an_interval_of_no_width(values: list[float]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert estimates(np.array(values)[:, None]) == [Estimate(values[0], values[0], values[0])]


def test_two_values_and_a_single_one_that_differs() -> None:
    for values in ([0.0, 1.0], [0.0] * 99 + [1.0]):
        found = estimates(np.array(values)[:, None])[0]
        assert 0.0 <= found.low < found.high <= 1.0


def test_many_pools_are_drawn_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intervals, "WORK", 100_000)
    many, few = draws(50, 1)[:, None], draws(10, 1)[:, None]
    assert estimates(many) == estimates(many, resamples=2000)
    assert estimates(few) != estimates(few, resamples=2000)
    monkeypatch.setattr(intervals, "WORK", 1)
    assert estimates(many) == estimates(many, resamples=999)
    assert estimates(many, resamples=99) != estimates(many, resamples=999)


def test_misuse_is_one_clear_line() -> None:
    for confidence in (95, 1.0, 0.0):
        with pytest.raises(UsageError, match=rf"confidence is {confidence}; it must be between 0 and 1"):
            estimates(draws(5, 0)[:, None], confidence=confidence)
    with pytest.raises(UsageError, match="write bca or percentile"):
        estimates(draws(5, 0)[:, None], method="basic")


@pytest.mark.parametrize("mean", [0.0, 1.0])
def test_where_all_resamples_are_on_one_side_there_is_nothing_to_correct_by(mean: float) -> None:
    tails, column = np.array([0.025, 0.975]), np.array([0.2, 0.4, 0.9])
    assert intervals._corrected(tails, column, mean, np.full(50, 0.5)) is tails
