"""Kinds of tables: what is run for a cell, what of it is kept, and how it becomes a figure."""

from __future__ import annotations

from demur.experiments.kinds.agreement import Agreement
from demur.experiments.kinds.base import Figure, Kind, Loaded
from demur.experiments.kinds.cases import Errors, Labels
from demur.experiments.kinds.curves import Curves
from demur.experiments.kinds.gates import Gates
from demur.experiments.kinds.quoting import Quoting
from demur.experiments.kinds.ranking import Ranking
from demur.experiments.kinds.reading import Reading

KINDS: dict[str, Kind] = {
    "ranking": Ranking(),
    "curves": Curves(),
    "gates": Gates(),
    "agreement": Agreement(),
    "reading": Reading(),
    "quoting": Quoting(),
    "cases": Errors(),
    "labels": Labels(),
}

__all__ = ["KINDS", "Figure", "Kind", "Loaded"]
