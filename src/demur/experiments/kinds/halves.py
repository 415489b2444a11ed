"""A gate tried on many random halves of labelled questions: one half calibrates it, the other tests it.

All the questions play the population that the calibrating half is drawn from, so their risk at the threshold
is known exactly: a `violation` is a risk above the promise there. The risk on the testing half is itself a
sample, smaller and in luck where the other half is out of it: it is above the promise more often.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from demur.risk.predictions import BoolArray, Predictions
from demur.risk.thresholds.bounds import upper_bound
from demur.risk.thresholds.control import Evidence
from demur.types import FloatArray

MEASURES = ("coverage", "answered", "risk", "abstains", "violations", "violations on test")
PRECISION = 6  # decimals kept
Figure = tuple[float, float, float]
"""A mean over halves, and its low and high: for shares of halves what their number leaves open (95 %), for
coverage and risk where 95 % of the halves lie."""


@dataclass(frozen=True)
class Promise:
    """What a gate is asked for, and how often that is tried."""

    risk: float
    confidence: float
    splits: int
    seed: int = 0


def tried(
    predictions: Predictions,
    promise: Promise,
    method: str,
    *,
    others: FloatArray | None = None,
    grid: FloatArray | None = None,
) -> dict[str, Figure | None]:
    """Each measure over all halves; None where no half had a threshold.

    The thresholds are a grid, or made of the confidences of other questions.
    """
    confidence, wrong, predicted = predictions.confidence, predictions.wrong, predictions.predicted
    rows = []
    for half in _halves(len(predicted), promise):
        mine, rest = half & predicted, ~half & predicted
        evidence = Evidence.of(confidence[mine], wrong[mine], others=others, grid=grid, method=method)
        found = evidence.choice(promise.risk, 1 - promise.confidence)
        passed = predicted & (found is not None) & (confidence >= (found.threshold if found else np.inf))
        test = passed & rest
        n, k = int(test.sum()), int(wrong[test].sum())
        everywhere = float(wrong[passed].mean()) if passed.any() else 0.0
        rows.append(
            (
                n / max(int(rest.sum()), 1),
                n / max(int((~half).sum()), 1),
                k / n if n else np.nan,
                found is None,
                everywhere > promise.risk + 1e-9,
                k > (promise.risk + 1e-9) * n,
            )
        )
    table = np.array(rows, np.float64)
    figures = [_figure(name, column) for name, column in zip(MEASURES, table.T, strict=True)]
    return dict(zip(MEASURES, figures, strict=True))


def _halves(questions: int, promise: Promise) -> list[BoolArray]:
    """Random halves, the same for every method and qualifier."""
    generator = np.random.default_rng(promise.seed)
    return [generator.permutation(questions) < questions // 2 for _ in range(promise.splits)]


def _figure(name: str, column: FloatArray) -> Figure | None:
    column = column[~np.isnan(column)]
    if not len(column):
        return None
    if name in ("abstains", "violations", "violations on test"):
        count, halves = int(column.sum()), len(column)
        ends = 1 - float(upper_bound(halves - count, halves, 0.025)), float(upper_bound(count, halves, 0.025))
    else:
        ends = tuple(np.quantile(column, (0.025, 0.975)).tolist())
    low, high = (round(end, PRECISION) for end in ends)
    return round(float(column.mean()), PRECISION), low, high
