"""Rankers that look at no word: the floor that everything else must beat."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from demur.rankers.base import Ranker
from demur.types import FloatArray


@dataclass(frozen=True)
class Random(Ranker):
    """A score drawn from the seed, the question and the answer: the same pair always gets the same."""

    name: ClassVar[str] = "random"
    seed: int = 0

    def score(self, question: str, answers: Sequence[str]) -> FloatArray:
        """One number between 0 and 1 per answer."""
        start = hashlib.blake2b(f"{self.seed}\0{question}\0".encode("utf-8", "surrogatepass"))
        scores = np.empty(len(answers))
        for place, answer in enumerate(answers):
            digest = start.copy()
            digest.update(answer.encode("utf-8", "surrogatepass"))
            scores[place] = int.from_bytes(digest.digest()[:6], "big") / 2**48
        return scores


@dataclass(frozen=True)
class Length(Ranker):
    """The number of characters: longer answers first."""

    name: ClassVar[str] = "length"

    def score(self, question: str, answers: Sequence[str]) -> FloatArray:
        """One length per answer."""
        return np.array([len(answer) for answer in answers], dtype=np.float64)
