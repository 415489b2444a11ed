from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from demur import logistic


def drawn() -> tuple[np.ndarray, np.ndarray]:
    draws = np.random.default_rng(1)
    rows = draws.normal(size=(4000, 2)) * [1, 5] + 2
    return rows, (draws.random(4000) < 1 / (1 + np.exp(-(rows @ [1.0, -0.3] - 0.7)))).astype(float)


@pytest.mark.parametrize("ridge", [0.0, 1.0])
def test_what_was_drawn_is_found_again(ridge: float) -> None:
    slopes, constant = logistic.fit(*drawn(), signed=True, ridge=ridge)
    assert [*slopes, constant] == pytest.approx([1.0, -0.3, -0.7], abs=0.15)


def test_no_slope_is_negative_unless_it_may_be() -> None:
    slopes, _ = logistic.fit(*drawn())
    assert slopes[0] > 0.5 and slopes[1] == 0


def test_a_ridge_keeps_slopes_finite_where_a_feature_parts_right_from_wrong() -> None:
    rows, right = np.arange(10.0)[:, None], (np.arange(10) > 4).astype(float)
    held, tighter = (logistic.fit(rows, right, signed=True, ridge=ridge)[0][0] for ridge in (1.0, 10.0))
    assert 0 < tighter < held < 2


def test_beyond_what_was_met_nothing_is_added() -> None:
    ranges = np.array([[0.0, 1.0, 2.0]])
    found = logistic.probability(np.array([[0.5], [1.0], [9.0], [-9.0]]), -1.0, ranges)
    assert found[1] == found[2] > found[0] == 0.5 > found[3]


def test_the_logistic_function_is_that_of_scipy() -> None:
    """Here bit by bit; libraries of mathematics elsewhere may differ in the last places."""
    values = np.concatenate([np.random.default_rng(2).normal(0, 10, 5001), [0, -0.0, 700, -700, 1e9, -1e9]])
    values = np.append(values, [np.inf, -np.inf, np.nan]).reshape(-1, 3)
    found = logistic.expit(values)
    assert found.shape == values.shape and found.dtype == np.float64
    np.testing.assert_array_max_ulp(found, expit(values), 2)
    assert float(logistic.expit(0.0)) == 0.5
