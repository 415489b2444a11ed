"""Questions whose answers were judged, sorted by confidence once, so that thresholds are quickly counted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from demur.errors import UsageError
from demur.risk.predictions import BoolArray
from demur.types import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Labelled:
    """Confidences in ascending order, equal ones as they came, and the errors up to each place."""

    confidence: FloatArray
    wrong: BoolArray
    errors_before: IntArray  # one more than there are questions

    @classmethod
    def of(cls, confidence: FloatArray, wrong: BoolArray) -> Labelled:
        """The sorted form of two arrays with one entry per question."""
        confidence, wrong = np.asarray(confidence, np.float64), np.asarray(wrong)
        if confidence.shape != wrong.shape or confidence.ndim != 1:
            raise UsageError("confidence and wrong need one entry per question each")
        if not np.isin(wrong, (0, 1)).all():
            raise UsageError("wrong must be true or false for each question: whether its answer is wrong")
        if np.isnan(confidence).any():
            place = int(np.flatnonzero(np.isnan(confidence))[0])
            raise UsageError(f"the confidence at place {place} is not a number; give every answer one")
        order = np.argsort(confidence, kind="stable")
        errors = np.zeros(len(order) + 1, np.int64)
        np.cumsum(wrong[order], out=errors[1:])
        return cls(confidence[order], wrong[order].astype(np.bool_), errors)

    def __len__(self) -> int:
        return len(self.confidence)

    def at(self, thresholds: FloatArray) -> tuple[IntArray, IntArray]:
        """How many answers pass each threshold, and how many of those are wrong."""
        first = np.searchsorted(self.confidence, thresholds, side="left")
        return len(self) - first, self.errors_before[-1] - self.errors_before[first]
