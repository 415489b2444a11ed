"""Measures, conventions, reports and tests of significance: arrays in, honest numbers out."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from demur.evaluation.comparison.cases import Case, Cases, cases
    from demur.evaluation.comparison.compare import Comparison, Row, compare
    from demur.evaluation.comparison.significance import holm, mcnemar, p_value, permutation, wilcoxon
    from demur.evaluation.conventions import CONVENTIONS, Convention, Rules, convention
    from demur.evaluation.evaluating import evaluate, evaluate_run, measured
    from demur.evaluation.intervals import Estimate, estimates
    from demur.evaluation.judged import Judged
    from demur.evaluation.measures import MAP, RR, Measure, P, R, Success, measure, nDCG, parse_measures
    from demur.evaluation.ranked import Ranked, rank
    from demur.evaluation.report import Report
    from demur.evaluation.selective.answered import Answered
    from demur.evaluation.selective.bootstrap import Difference, difference, measure_answers
    from demur.evaluation.selective.measures import (
        AUGRC,
        AURC,
        AUROC,
        EAURC,
        APerror,
        Coverage,
        Curve,
        Risk,
        Selective,
        curve,
    )
    from demur.evaluation.selective.ordered import Answers, Drawn

__all__ = [
    "AUGRC",
    "AURC",
    "AUROC",
    "CONVENTIONS",
    "EAURC",
    "MAP",
    "RR",
    "APerror",
    "Answered",
    "Answers",
    "Case",
    "Cases",
    "Comparison",
    "Convention",
    "Coverage",
    "Curve",
    "Difference",
    "Drawn",
    "Estimate",
    "Judged",
    "Measure",
    "P",
    "R",
    "Ranked",
    "Report",
    "Risk",
    "Row",
    "Rules",
    "Selective",
    "Success",
    "cases",
    "compare",
    "convention",
    "curve",
    "difference",
    "estimates",
    "evaluate",
    "evaluate_run",
    "holm",
    "mcnemar",
    "measure",
    "measure_answers",
    "measured",
    "nDCG",
    "p_value",
    "parse_measures",
    "permutation",
    "rank",
    "wilcoxon",
]

_HOMES = {
    "selective.answered": ("Answered",),
    "selective.bootstrap": ("Difference", "difference", "measure_answers"),
    "comparison.cases": ("Case", "Cases", "cases"),
    "comparison.compare": ("Comparison", "Row", "compare"),
    "selective.ordered": ("Answers", "Drawn"),
    "conventions": ("CONVENTIONS", "Convention", "Rules", "convention"),
    "evaluating": ("evaluate", "evaluate_run", "measured"),
    "intervals": ("Estimate", "estimates"),
    "judged": ("Judged",),
    "measures": ("MAP", "Measure", "P", "R", "RR", "Success", "measure", "nDCG", "parse_measures"),
    "ranked": ("Ranked", "rank"),
    "report": ("Report",),
    "selective.measures": (
        *("APerror", "AUGRC", "AURC", "AUROC", "Coverage", "Curve", "EAURC", "Risk", "Selective", "curve"),
    ),
    "comparison.significance": ("holm", "mcnemar", "p_value", "permutation", "wilcoxon"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"demur.evaluation.{home}"), name)
    raise AttributeError(f"module 'demur.evaluation' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
