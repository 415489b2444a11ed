"""What a reader gains by answering at all: its exact match beside that of one that never answers."""

from __future__ import annotations

import numpy as np

from demur.evaluation.intervals import RESAMPLES, Estimate, generator


def over_silence(
    right: int, misled: int, questions: int, *, confidence: float = 0.95, seed: int = 0
) -> Estimate:
    """Exact match less that of no answers at all, and its paired interval over questions.

    `right` answers gain what silence has not, `misled` ones, to questions without an answer, lose what it
    has, and all other questions are the same for both. So a resample of them is a draw of three counts.
    """
    shares = np.array([right, misled, questions - right - misled], np.float64) / questions
    drawn = generator(seed).multinomial(questions, shares, RESAMPLES)
    ends = np.quantile((drawn[:, 0] - drawn[:, 1]) / questions, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Estimate((right - misled) / questions, float(ends[0]), float(ends[1]))
