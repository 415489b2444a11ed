"""What a system would answer to each question, how sure it is, and whether that is right.

Outcomes are named as in the risk-control paper. The question has a correct answer (A) or none (U); the system
gives a direct answer (D) or none (N). AD+ is a right answer, AD- and UD are wrong ones, AN and UN are none.
Only AD- and UD cost anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demur.data import binary
from demur.errors import UsageError
from demur.types import FloatArray, Pool

BoolArray = NDArray[np.bool_]

OUTCOMES = ("AD+", "AD-", "AN", "UD", "UN")


@dataclass(frozen=True, eq=False)
class Predictions:
    """One entry per question. Where nothing is predicted, confidence means nothing and is never looked at."""

    ids: tuple[str, ...]
    confidence: FloatArray
    correct: BoolArray  # the predicted answer is right
    answerable: BoolArray  # there is a right answer among the candidates
    predicted: BoolArray  # the system has an answer, whatever a gate will say of it

    def __post_init__(self) -> None:
        arrays = (self.confidence, self.correct, self.answerable, self.predicted)
        if {len(array) for array in arrays} != {len(self.ids)}:
            raise UsageError("confidence, correct, answerable and predicted need one entry for each id")
        if np.isnan(self.confidence[self.predicted]).any():
            place = int(np.flatnonzero(np.isnan(self.confidence) & self.predicted)[0])
            raise UsageError(
                f"the confidence in the answer to {self.ids[place]!r} is not a number; "
                "mend what it comes from"
            )
        if (self.correct & ~(self.answerable & self.predicted)).any():
            raise UsageError(
                "correct must be false where no answer is predicted, or where the question has none"
            )

    @classmethod
    def of_pools(
        cls, pools: Sequence[Pool], scores: Sequence[FloatArray], confidence: FloatArray
    ) -> Predictions:
        """The top candidate of each pool as its answer; of equal ones the first, as `rank` puts them."""
        correct, answerable = np.zeros((2, len(pools)), np.bool_)
        for place, (pool, each) in enumerate(zip(binary(pools), scores, strict=True)):
            answerable[place] = pool.positives > 0
            if len(pool):
                correct[place] = (pool.candidates[int(np.argmax(each))].label or 0) > 0
        predicted = np.array([len(pool) > 0 for pool in pools], np.bool_)
        return cls(tuple(pool.id for pool in pools), confidence, correct, answerable, predicted)

    @property
    def wrong(self) -> BoolArray:
        """Where the predicted answer would be wrong: AD- and UD if nothing is held back."""
        return self.predicted & ~self.correct

    def answered(self, threshold: float = -np.inf) -> BoolArray:
        """Where an answer is given if a confidence of at least the threshold is asked for."""
        return self.predicted & (self.confidence >= threshold)

    def outcomes(self, threshold: float = -np.inf) -> dict[str, int]:
        """How many questions end in each of the five outcomes."""
        answered = self.answered(threshold)
        kinds = (
            answered & self.correct,
            answered & self.answerable & ~self.correct,
            ~answered & self.answerable,
            answered & ~self.answerable,
            ~answered & ~self.answerable,
        )
        return {name: int(kind.sum()) for name, kind in zip(OUTCOMES, kinds, strict=True)}

    def risk(self, threshold: float = -np.inf) -> float:
        """The share of wrong answers among those given; NaN if none is given."""
        answered = self.answered(threshold)
        return float(self.wrong[answered].mean()) if answered.any() else float("nan")

    def coverage(self, threshold: float = -np.inf) -> float:
        """The share of predicted answers that are given: the paper's coverage."""
        return float(self.answered(threshold).sum() / max(self.predicted.sum(), 1))

    def coverage_of_questions(self, threshold: float = -np.inf) -> float:
        """The share of all questions that get an answer."""
        return float(self.answered(threshold).sum() / max(len(self.ids), 1))
