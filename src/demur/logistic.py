"""The one logistic regression of this package: few features, slopes of one sign or of either."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from demur.types import FloatArray

FLATTEST, STEEPEST = 1e-6, 1e6  # slopes without an intercept, on features of size one: nothing divides by 0
_LARGEST = 709.7  # whose exponential is a number


def expit(values: ArrayLike) -> FloatArray:
    """The logistic function of each, as scipy.special has it, which takes long to import."""
    given = np.asarray(values, np.float64)
    found = [1 / (1 + (math.inf if x < -_LARGEST else math.exp(-x))) for x in given.ravel().tolist()]
    return np.array(found, np.float64).reshape(given.shape)


def softened(correct: FloatArray) -> FloatArray:
    """Targets as Platt (1999) has them: as if one more right and one more wrong answer had been seen.

    So all that is fitted is finite, even if every answer is right.
    """
    right = float(correct.sum())
    wrong = len(correct) - right
    return correct * (right + 1) / (right + 2) + (1 - correct) / (wrong + 2)


def fit(
    features: FloatArray,
    targets: FloatArray,
    *,
    intercept: bool = True,
    signed: bool = False,
    ridge: float = 0.0,
) -> tuple[FloatArray, float]:
    """The slopes and the intercept (or 0) of the likeliest logistic regression.

    No slope is below 0, unless they are `signed`. A `ridge` holds slopes of standardised features back;
    without one the targets must be `softened`, or nothing is finite where features part right from wrong.
    """
    if signed:  # each feature stands in the regression twice, once turned round
        given, count = np.hstack([features, -features]), features.shape[1]
        both, constant = fit(given, targets, intercept=intercept, ridge=ridge)
        return both[:count] - both[count:], constant
    from scipy import special
    from scipy.optimize import Bounds, minimize

    middle = features.mean(axis=0) if intercept else np.zeros(features.shape[1])
    spread = np.sqrt(((features - middle) ** 2).mean(axis=0))
    spread[spread <= 1e-12 * np.abs(features).max(axis=0)] = 1.0  # as good as constant
    table = (features - middle) / spread
    slopes, held = table.shape[1], ridge / len(table)

    def loss(weights: Any) -> tuple[float, FloatArray]:
        steep = weights[:slopes]
        logit = table @ steep + (weights[slopes] if intercept else 0.0)
        off = special.expit(logit) - targets
        gradient = table.T @ off / len(off) + held * steep
        total = float((np.logaddexp(0, logit) - targets * logit).mean() + held * (steep @ steep) / 2)
        return total, np.append(gradient, off.mean()) if intercept else gradient

    rate = float(targets.mean())
    start = np.append(np.zeros(slopes), np.log(rate / (1 - rate))) if intercept else np.ones(slopes)
    low = np.append(np.zeros(slopes), -np.inf) if intercept else np.full(slopes, FLATTEST)
    high = np.full(len(low), np.inf if intercept else STEEPEST)
    options: Any = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 1000}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=Bounds(low, high), options=options).x
    steep = found[:slopes] / spread
    return steep, float(found[slopes] - steep @ middle) if intercept else 0.0


def probability(table: FloatArray, constant: float, ranges: FloatArray) -> FloatArray:
    """How probable each row is right, by the lowest value, the highest and the weight of each feature.

    Beyond what was met while it was fitted, a feature adds no more.
    """
    low, high, weights = ranges.T
    return expit(constant + table.clip(low, high) @ weights)
