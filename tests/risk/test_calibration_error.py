from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from demur.errors import UsageError
from demur.risk.calibration_error import brier, calibration_error, reliability, squared_error
from demur.types import FloatArray

forecasts = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.8, 1.0]) | st.floats(0, 1), st.booleans()),
    min_size=1,
    max_size=50,
)


def calibrated(n: int, seed: int) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    chance = rng.random(n)
    return chance, (rng.random(n) < chance).astype(float)


def test_what_is_calibrated_has_no_error_once_chance_is_taken_away() -> None:
    pairs = [calibrated(150, seed) for seed in range(1000)]
    fair = [squared_error(*pair) for pair in pairs]
    plain = [squared_error(*pair, debiased=False) for pair in pairs]
    error = float(np.std(fair)) / 1000**0.5
    assert abs(np.mean(fair)) < 4 * error
    assert np.mean(plain) > 20 * error
    assert np.mean(plain) == pytest.approx(1 / 6 / 10, rel=0.1)  # the mean of p(1-p), over ten to a bin


def test_a_known_error_is_found() -> None:
    """Right with chance p squared, so off by p - p^2: in square 1/30 on average."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(300):
        chance = rng.random(400)
        found.append(squared_error(chance, rng.random(400) < chance**2))
    assert np.mean(found) == pytest.approx(1 / 30, rel=0.03)
    assert calibration_error([0.5] * 100, [1] * 100) == pytest.approx(0.5)


def test_with_one_chance_to_a_bin_it_is_the_published_formula() -> None:
    """Kumar et al. (2019): take y(1-y)/(n-1) away from each bin's squared distance."""
    chance = np.repeat([0.2, 0.7], [40, 60])
    correct = np.concatenate([np.arange(40) < 13, np.arange(60) < 33]).astype(float)
    wanted = sum(
        n / 100 * ((y - p) ** 2 - y * (1 - y) / (n - 1))
        for n, p, y in ((40, 0.2, 13 / 40), (60, 0.7, 33 / 60))
    )
    assert squared_error(chance, correct) == pytest.approx(wanted)


@settings(max_examples=80, deadline=None)
@given(forecasts, st.integers(1, 20))
def test_brier_is_the_sum_of_its_parts(drawn: list[tuple[float, bool]], bins: int) -> None:
    chance, correct = zip(*drawn, strict=True)
    for found in (brier(chance, correct, bins), brier(chance, correct, None)):
        parts = found.reliability - found.resolution + found.uncertainty + found.within
        assert found.score == pytest.approx(parts, abs=1e-12)
        assert min(found.reliability, found.resolution, found.uncertainty) >= -1e-15
    assert brier(chance, correct, None).within == pytest.approx(0, abs=1e-12)


@settings(max_examples=80, deadline=None)
@given(forecasts, st.integers(1, 20), st.randoms(use_true_random=False))
def test_order_does_not_matter_and_equal_chances_stay_together(
    drawn: list[tuple[float, bool]], bins: int, random: object
) -> None:
    shuffled = list(drawn)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    chance, correct = zip(*drawn, strict=True)
    chances, answers = zip(*shuffled, strict=True)
    found, again = reliability(chance, correct, bins), reliability(chances, answers, bins)
    for a, b in zip(found, again, strict=True):
        assert a == pytest.approx(b, abs=1e-12)
    assert len(found.answers) <= bins
    assert found.answers.sum() == len(drawn)
    assert (np.diff(found.stated) > 0).all()
    if len(drawn) > 1:
        wanted = squared_error(chances, answers, bins)
        assert squared_error(chance, correct, bins) == pytest.approx(wanted, abs=1e-12)


def test_bins_hold_equally_many() -> None:
    chance, correct = calibrated(150, 0)
    found = reliability(chance, correct)
    assert found.answers.tolist() == [10] * 15
    assert found.stated == pytest.approx(np.sort(chance).reshape(15, 10).mean(axis=1))
    assert reliability([0.3] * 7, [1, 0, 1, 0, 1, 0, 1]).answers.tolist() == [7]


def test_intervals_are_exact() -> None:
    right = (0, 1, 9, 19, 20)
    correct = np.concatenate([np.arange(20) < hits for hits in right])
    found = reliability(np.repeat([0.1, 0.3, 0.5, 0.7, 0.9], 20), correct, bins=5)
    for place, hits in enumerate(right):
        wanted = stats.binomtest(hits, 20).proportion_ci(0.95, "exact")
        assert (found.low[place], found.high[place]) == pytest.approx((wanted.low, wanted.high))


def test_few_answers_and_lonely_chances_are_defined() -> None:
    assert squared_error([0.2, 0.4], [0, 1], 15) == pytest.approx(0.2**2 - 0.4**2)  # one bin of two
    assert math.isfinite(squared_error([0.1, 0.2, 0.2, 0.2, 0.9], [0, 1, 0, 1, 1], 2))
    assert squared_error([0.3], [1], debiased=False) == pytest.approx(0.49)
    assert calibration_error([0.4, 0.6], [0, 1]) == 0.0
    assert brier([0.5], [1]) == pytest.approx((0.25, 0.25, 0, 0, 0))


def test_misuse_is_one_clear_line() -> None:
    with pytest.raises(UsageError, match="one answer says nothing of spread"):
        squared_error([0.5], [1])
    with pytest.raises(UsageError, match="a chance must be from 0 to 1"):
        brier([1.5], [1])
    with pytest.raises(UsageError, match="correct must be from 0 to 1"):
        brier([0.5], [math.nan])
    with pytest.raises(UsageError, match="give one of each"):
        reliability([0.5, 0.5], [1])
    with pytest.raises(UsageError, match="0 bins; one is the fewest"):
        reliability([0.5], [1], bins=0)
