"""How likely each found passage is to be right: what is known of it, weighed by a small logistic regression.

The words it shares with the question, how near it is in meaning, how far it is ahead of the next in that, and
what the network said, if it has read the passage. `tools.make_chance` learns the weights; none is negative,
so nothing that speaks for a passage ever counts against it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy.special import expit

import demur
from demur.errors import DataError
from demur.types import FloatArray

FILE = Path(demur.__file__).parent / "models" / "chance.json"
FORMAT = "demur chance 1"
FOUND = "words", "meaning", "text", "lead"
"""What is known of a passage once it is found.

- words: its BM25 score as a share of what a passage with all of the question's words could have
- meaning: the higher of the cosines of the question with its own question and with all its text
- text: the cosine of the question with all its text
- lead: by how much its meaning is nearer than that of the best other one
"""
READ = (*FOUND, "score", "quote", "before")
"""What is known once the network has read it: its score there, how sure it is of its quotation, and by how
much the score is higher than the best other one's."""


def found(words: FloatArray, own: FloatArray, text: FloatArray) -> FloatArray:
    """The signals of passages, a row for each; `own` is the cosine with their own questions, or -1."""
    meaning = np.maximum(own, text)
    return np.column_stack([words, meaning, text, ahead(meaning)])


def read(before: FloatArray, scores: FloatArray, confidences: FloatArray) -> FloatArray:
    """The signals of passages that the network has read."""
    sure = np.log(np.clip(confidences, 1e-4, 1 - 1e-4) / np.clip(1 - confidences, 1e-4, 1))
    return np.column_stack([before, scores, sure, ahead(scores)])


def ahead(values: FloatArray) -> FloatArray:
    """By how much each value is above the best of the others; 0 where it is alone."""
    if len(values) < 2:
        return np.zeros(len(values))
    second, first = np.partition(values, -2)[-2:]
    return np.asarray(values - np.where(values == first, second, first), np.float64)


@dataclass(frozen=True, eq=False)
class Weights:
    """A logistic regression: a constant and a weight for each signal."""

    constant: float
    weights: FloatArray

    def of(self, signals: FloatArray) -> FloatArray:
        """The chance of each row of signals."""
        return np.asarray(expit(self.constant + signals @ self.weights), np.float64)

    def parts(self, signals: FloatArray) -> FloatArray:
        """What each signal adds to the logarithm of the odds."""
        return np.asarray(signals * self.weights, np.float64)


@dataclass(frozen=True)
class Chance:
    """The weights before and after the network has read a passage, and a hash of them."""

    found: Weights
    read: Weights
    fingerprint: str


@lru_cache(maxsize=2)
def load(path: Path = FILE) -> Chance:
    """What was learnt, as it lies in a file."""
    import hashlib

    try:
        text = path.read_text("utf-8")
        facts = json.loads(text)
        if facts["format"] != FORMAT:
            raise ValueError(FORMAT)
        both = [_weights(facts[name], signals) for name, signals in (("found", FOUND), ("read", READ))]
    except (OSError, ValueError, KeyError, TypeError) as error:
        fix = "install demur again"
        raise DataError(f"is broken ({type(error).__name__})", path=path, fix=fix) from None
    return Chance(*both, hashlib.sha256(text.encode()).hexdigest()[:16])


def _weights(facts: dict[str, float], signals: tuple[str, ...]) -> Weights:
    return Weights(float(facts["constant"]), np.array([float(facts[name]) for name in signals]))
