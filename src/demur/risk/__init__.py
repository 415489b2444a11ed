"""When to answer and when to demur: confidence, risk and coverage, and a gate with a promise."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from demur.risk.gates.certificate import Certificate
    from demur.risk.gates.checking import Check, check
    from demur.risk.gates.gate import Gate, calibrate
    from demur.risk.gates.planning import Plan, plan
    from demur.risk.predictions import OUTCOMES, Predictions
    from demur.risk.qualifiers.agreement import committee
    from demur.risk.qualifiers.base import Qualifier, qualifier
    from demur.risk.sets import AnswerSets, answer_sets
    from demur.risk.thresholds.control import METHODS, Choice, choose

__all__ = [
    "METHODS",
    "OUTCOMES",
    "AnswerSets",
    "Certificate",
    "Check",
    "Choice",
    "Gate",
    "Plan",
    "Predictions",
    "Qualifier",
    "answer_sets",
    "calibrate",
    "check",
    "choose",
    "committee",
    "plan",
    "qualifier",
]

_HOMES = {
    "qualifiers.agreement": ("committee",),
    "gates.certificate": ("Certificate",),
    "gates.checking": ("Check", "check"),
    "qualifiers.base": ("Qualifier", "qualifier"),
    "thresholds.control": ("METHODS", "Choice", "choose"),
    "gates.gate": ("Gate", "calibrate"),
    "gates.planning": ("Plan", "plan"),
    "predictions": ("OUTCOMES", "Predictions"),
    "sets": ("AnswerSets", "answer_sets"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"demur.risk.{home}"), name)
    raise AttributeError(f"module 'demur.risk' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
