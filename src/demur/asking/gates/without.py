"""Passages as they would be found if some of them were not there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from demur.embedders.base import Vectors
from demur.kb.base import Passages
from demur.kb.passages import Passage
from demur.types import FloatArray, IntArray


@dataclass(frozen=True)
class Without:
    """A library without some of its passages, as far as what is found goes; its words keep their weights."""

    library: Passages
    hidden: tuple[int, ...]

    @property
    def stem(self) -> str:
        """The language whose word endings do not count."""
        return self.library.stem

    @property
    def fingerprint(self) -> str:
        """A hash of all that is searched, and how."""
        return f"{self.library.fingerprint} without {self.hidden}"

    @property
    def embedder(self) -> str:
        """The fingerprint of what makes the vectors."""
        return self.library.embedder

    def __len__(self) -> int:
        return len(self.library) - len(self.hidden)

    @property
    def without_question(self) -> int:
        """How many passages have no question of their own, as a row of an FAQ has."""
        hidden = sum(not self.passage(place).question for place in self.hidden)
        return self.library.without_question - hidden

    def passage(self, place: int) -> Passage:
        """The passage at a place."""
        return self.library.passage(place)

    def copies(self, place: int) -> int:
        """How many other passages are alike in heading and text."""
        return self.library.copies(place)

    def by_words(self, question: str, top: int) -> tuple[IntArray, FloatArray]:
        """The places of passages that share a word with the question, and their BM25 scores."""
        return self._shown(*self.library.by_words(question, top + len(self.hidden)), top)

    def by_meaning(self, vector: Vectors, top: int) -> tuple[IntArray, FloatArray]:
        """The places of passages with the nearest vectors, and the cosines."""
        return self._shown(*self.library.by_meaning(vector, top + len(self.hidden)), top)

    def cosines(self, vector: Vectors, places: IntArray) -> tuple[FloatArray, FloatArray]:
        """Of each place the cosines with its own question and with all its text."""
        return self.library.cosines(vector, places)

    def idf(self, word: str) -> float:
        """The weight of a word."""
        return self.library.idf(word)

    def _shown(self, places: IntArray, scores: FloatArray, top: int) -> tuple[IntArray, FloatArray]:
        seen = ~np.isin(places, self.hidden)
        return places[seen][:top], scores[seen][:top]
