"""Advice: which ranker for the labels there are."""

from __future__ import annotations

from demur.advice.advising import Advice, advise, save
from demur.advice.labelling import Suggestion, suggest

__all__ = ["Advice", "Suggestion", "advise", "save", "suggest"]
