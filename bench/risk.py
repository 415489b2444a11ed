"""Gates, measures over answers with their bootstrap, and calibrators, on as many questions as users have."""

from __future__ import annotations

import numpy as np

from bench.common import Row, below, seconds
from demur.evaluation import Answers, Selective, measure_answers, parse_measures
from demur.risk.calibrators import CALIBRATORS
from demur.risk.thresholds.control import Evidence

QUESTIONS, RESAMPLES, MANY = 10_000, 1_000, 1_000_000


def run() -> list[Row]:
    """All rows."""
    return [*gates(), *bootstraps(), *calibrators()]


def gates() -> list[Row]:
    """A threshold for a million judged answers, with ties and without."""
    rng = np.random.default_rng(0)
    sure = rng.random(MANY)
    wrong = rng.random(MANY) < 0.36 * (1 - sure)
    return [
        below("a gate calibrated on 1,000,000 answers, no ties", seconds(lambda: _gate(sure, wrong)), 2),
        below("the same, 10 levels", seconds(lambda: _gate(np.floor(sure * 10), wrong)), 2),
    ]


def _gate(sure: np.ndarray[tuple[int]], wrong: np.ndarray[tuple[int]]) -> None:
    if Evidence.of(sure, wrong).choice(0.1, 0.05) is None:
        raise RuntimeError("a million answers have a threshold")


def bootstraps() -> list[Row]:
    """Intervals of AURC and of all measures over answers, with ties and without."""
    rng = np.random.default_rng(0)
    listed = {
        "AURC": "AURC",
        "seven measures": "AURC,E-AURC,AUGRC,AUROC,AP-error,Risk@0.8,Coverage@0.05",
    }
    rows = []
    for kind, sure in (
        ("no ties", rng.random(QUESTIONS)),
        ("50 levels", rng.integers(0, 50, QUESTIONS)),
    ):
        answers = {1: Answers.of(sure, rng.random(QUESTIONS) < 0.3)}
        for name, specs in listed.items():
            measures = [each for each in parse_measures(specs) if isinstance(each, Selective)]
            taken = seconds(lambda m=measures, a=answers: measure_answers(m, a, resamples=RESAMPLES), 3)  # type: ignore[misc]
            rows.append(below(f"bootstrap of {name}, 1,000 of 10,000, {kind}", taken, 5))
    return rows


def calibrators() -> list[Row]:
    """Each calibrator fitted to a million answers."""
    rng = np.random.default_rng(0)
    chance = rng.beta(2, 1, MANY)
    right = rng.random(MANY) < chance
    return [
        below(f"{name} fitted to 1,000,000 answers", seconds(lambda k=kind: k.fit(chance, right), 1), 5)  # type: ignore[misc]
        for name, kind in CALIBRATORS.items()
    ]
