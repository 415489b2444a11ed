"""How many questions a gate would answer at a promised risk, computed on scores that are out of fold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from demur.risk import Predictions, qualifier
from demur.risk.thresholds.control import Evidence
from demur.types import FloatArray, IntArray, Pool

CONFIDENCE = 0.95


def certified(
    pools: Sequence[Pool],
    scores: Sequence[FloatArray],
    folds: IntArray,
    risk: float,
    seed: int,
    how: str = "margin",
) -> float | None:
    """The share of questions answered at the risk; None where the labels do not carry the promise.

    Each fold's questions meet the threshold that those of all other folds certify, so none is counted with a
    threshold that its own label helped to choose. A fold whose others certify none answers nothing.
    """
    chosen = qualifier(how)
    answers = Predictions.of_pools(pools, scores, chosen.confidence(pools, scores))
    answered, found = 0, False
    for fold in range(int(folds.max(initial=0)) + 1):
        test = answers.predicted & (folds == fold)
        rest = answers.predicted & (folds != fold)
        if not rest.any():
            continue
        evidence = Evidence.of(answers.confidence[rest], answers.wrong[rest], seed=seed)
        choice = evidence.choice(risk, 1 - CONFIDENCE)
        if choice is not None:
            found = True
            answered += int((answers.confidence[test] >= choice.threshold).sum())
    return answered / max(int(np.sum(answers.predicted)), 1) if found else None
