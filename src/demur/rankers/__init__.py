"""Rankers: numpy in, numpy out."""

from __future__ import annotations

from demur.rankers.base import Ranker
from demur.rankers.opening import open_model, ranker

__all__ = ["Ranker", "open_model", "ranker"]
