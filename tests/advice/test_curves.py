from __future__ import annotations

import math

import numpy as np
import pytest

from demur.advice.trials.curves import Curve, Forecast, forecast, level, nested, rounded, wins_at

SIZES = np.array([8.0, 16, 32, 64, 128])


def law(a: float, b: float, c: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.asarray(a - b * SIZES**-c)


@pytest.mark.parametrize(("a", "b", "c"), [(0.05, 0.8, 0.5), (0.1, 0.4, 0.3), (0.02, 2.0, 1.0)])
def test_the_crossing_of_a_power_law_is_found(a: float, b: float, c: float) -> None:
    assert level(SIZES, law(a, b, c)) == pytest.approx((b / a) ** (1 / c), rel=0.02)


def test_a_curve_that_levels_off_below_never_crosses() -> None:
    assert level(SIZES, law(-0.03, 0.5, 0.7)) == math.inf
    assert level(SIZES, np.zeros(5)) == math.inf


def test_the_interval_holds_the_truth_and_shrinks_with_more_pools() -> None:
    draws = np.random.default_rng(3)
    truth = (0.8 / 0.05) ** (1 / 0.5)
    widths = []
    for pools in (100, 3000):
        gains = (
            law(0.05, 0.8, 0.5)
            + draws.normal(scale=0.1, size=(pools, 1))
            + draws.normal(scale=0.02, size=(pools, 5))
        )
        found = forecast(Curve((8, 16, 32, 64, 128), gains), seed=1)
        assert found is not None
        widths.append((found.low, found.high))
    (low, high), (nearer, lower) = widths
    assert nearer <= truth <= lower and lower - nearer < high - low


def test_two_sizes_say_nothing() -> None:
    assert forecast(Curve((8, 16), np.zeros((4, 2)))) is None


def test_forecasts_in_words() -> None:
    assert Forecast(300, 210, 1234).more(100) == "after about 200 more (110 to 1,100, 80 % interval)"
    assert Forecast(300, 210, math.inf).more(100) == "after about 200 more (110 to no end of, 80 % interval)"
    assert Forecast(1001, 400, math.inf).more(100) == "not even with 10 times the labels you have"
    assert Forecast(90, 50, 160).more(100).startswith("about now, if the curve is right")


def test_numbers_are_rounded_to_what_they_mean() -> None:
    assert [rounded(n) for n in (0, 7.4, 123, 98765)] == ["0", "7", "120", "99,000"]


def test_sizes_are_nested_and_end_with_all() -> None:
    assert nested(128) == (8, 16, 32, 64, 128)
    assert nested(6) == (6,)
    for count in (9, 23, 24, 500):
        sizes = nested(count)
        assert sizes[0] == 8 and sizes[-1] == count and sorted(set(sizes)) == list(sizes)


def test_where_a_published_curve_reaches_a_target() -> None:
    points = [(10, 0.5), (40, 0.6), (160, 0.7)]
    assert wins_at(points, 0.5) == 10
    assert wins_at(points, 0.65) == pytest.approx(80)
    assert wins_at(points, 0.72) == math.inf  # a law through it would go on; nobody measured that
