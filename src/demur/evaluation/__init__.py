"""Measures, conventions, reports and tests of significance: arrays in, honest numbers out."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from demur.evaluation.comparison import Comparison, Row, compare
    from demur.evaluation.conventions import CONVENTIONS, Convention, Rules, convention
    from demur.evaluation.evaluating import evaluate, evaluate_run, measured
    from demur.evaluation.intervals import Estimate, estimates
    from demur.evaluation.judged import Judged
    from demur.evaluation.measures import MAP, RR, Measure, P, R, Success, measure, nDCG, parse_measures
    from demur.evaluation.ranked import Ranked, rank
    from demur.evaluation.report import Report
    from demur.evaluation.significance import holm, mcnemar, p_value, permutation, wilcoxon

__all__ = [
    "CONVENTIONS",
    "MAP",
    "RR",
    "Comparison",
    "Convention",
    "Estimate",
    "Judged",
    "Measure",
    "P",
    "R",
    "Ranked",
    "Report",
    "Row",
    "Rules",
    "Success",
    "compare",
    "convention",
    "estimates",
    "evaluate",
    "evaluate_run",
    "holm",
    "mcnemar",
    "measure",
    "measured",
    "nDCG",
    "p_value",
    "parse_measures",
    "permutation",
    "rank",
    "wilcoxon",
]

_HOMES = {
    "comparison": ("Comparison", "Row", "compare"),
    "conventions": ("CONVENTIONS", "Convention", "Rules", "convention"),
    "evaluating": ("evaluate", "evaluate_run", "measured"),
    "intervals": ("Estimate", "estimates"),
    "judged": ("Judged",),
    "measures": ("MAP", "Measure", "P", "R", "RR", "Success", "measure", "nDCG", "parse_measures"),
    "ranked": ("Ranked", "rank"),
    "report": ("Report",),
    "significance": ("holm", "mcnemar", "p_value", "permutation", "wilcoxon"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"demur.evaluation.{home}"), name)
    raise AttributeError(f"module 'demur.evaluation' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
