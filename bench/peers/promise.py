"""Thresholds of MAPIE's risk control beside those of the gate, on the same draws of the same populations.

A rule breaks its promise on a draw where the true risk at its threshold is above the one asked for, see
`demur.risk.thresholds.guarantee`; both promise that this happens on at most a share delta of draws.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any

import numpy as np

from demur.risk.predictions import BoolArray
from demur.risk.thresholds.control import STARTS, Choice
from demur.risk.thresholds.guarantee import RULES, Rule, tried
from demur.risk.thresholds.populations import populations
from demur.types import FloatArray

RISK, SIZES, DRAWS = 0.1, (200, 1000), 300
Thresholds = Callable[[FloatArray, BoolArray, float, float], float | None]


@dataclass(frozen=True)
class Theirs(Rule):
    """A rule of another library."""

    find: Thresholds = lambda confidence, wrong, risk, delta: None

    def choice(
        self,
        confidence: FloatArray,
        wrong: BoolArray,
        others: FloatArray,
        risk: float,
        delta: float,
        seed: int,
    ) -> Choice | None:
        """The threshold for one draw; the rest of a choice is not looked at."""
        threshold = self.find(confidence, wrong, risk, delta)
        return None if threshold is None else Choice(threshold, 0, 0, 0.0, self.method, len(wrong))


def mapie(**settings: Any) -> Thresholds:
    """MAPIE's control of the precision of answers that are given."""
    controllers: Any = import_module("mapie.risk_control").BinaryClassificationController

    def probabilities(sure: FloatArray) -> FloatArray:
        return np.column_stack([1 - sure[:, 0], sure[:, 0]])

    def find(confidence: FloatArray, wrong: BoolArray, risk: float, delta: float) -> float | None:
        levels = {"target_level": 1 - risk, "confidence_level": 1 - delta}
        controller = controllers(probabilities, risk="precision", **levels, **settings)
        with warnings.catch_warnings():  # that there is no threshold, and that risk is not monotonous
            warnings.simplefilter("ignore")
            controller.calibrate(confidence[:, None], (~wrong).astype(int))
        best = controller.best_predict_param
        return None if best is None else float(best)

    return find


def rules() -> list[Rule]:
    """The gate; MAPIE as it is by default; and MAPIE told to do as the gate does."""
    starts: Any = import_module("mapie.risk_control").FWERFixedSequenceTesting(STARTS)
    as_ours = mapie(list_predict_params=np.linspace(0.99, 0, 100), fwer_method=starts)
    return [
        RULES[0],
        Theirs("MAPIE, by default", "", find=mapie()),
        Theirs(f"MAPIE, a fixed sequence from {STARTS} starts", "", find=as_ours),
    ]


def kept(chosen: Sequence[Rule], sizes: Sequence[int] = SIZES, draws: int = DRAWS) -> dict[str, Any]:
    """How often each rule broke its promise, and the mean share of questions that it answers."""
    cells = [
        asdict(cell)
        for questions in sizes
        for population in populations(RISK)
        for cell in tried(population, questions, RISK, chosen, draws)
    ]
    return {"draws": draws, "risk": RISK, "cells": cells}
