"""What every collection of passages can do, in memory, in a folder or elsewhere, for one who asks it."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from demur.embedders.base import Vectors
from demur.kb.passages import Passage
from demur.types import FloatArray, IntArray


@runtime_checkable
class Searchable(Protocol):
    """What tells passages that are ready to be asked from files and texts."""

    def by_words(self, question: str, top: int) -> tuple[IntArray, FloatArray]:
        """The places of passages that share a word with the question, best first, and their BM25 scores."""

    def by_meaning(self, vector: Vectors, top: int) -> tuple[IntArray, FloatArray]:
        """The places of passages with the nearest vectors, best first, and the cosines.

        A passage that has a question of its own, as a row of an FAQ has, counts with the nearer of two
        vectors: that of its question and that of all that is searched.
        """


class Passages(Searchable, Protocol):
    """Passages that are found by their words and by their meaning; each has a place, a whole number."""

    @property
    def stem(self) -> str:
        """The language whose word endings do not count, or ``none``."""

    @property
    def fingerprint(self) -> str:
        """A hash of all that is searched, and how."""

    @property
    def embedder(self) -> str:
        """The fingerprint of what makes the vectors; empty where there are none."""

    def __len__(self) -> int:
        """How many passages there are."""

    @property
    def without_question(self) -> int:
        """How many passages have no question of their own, as a row of an FAQ has."""

    def passage(self, place: int) -> Passage:
        """The passage at a place."""

    def copies(self, place: int) -> int:
        """How many other passages are alike in heading and text."""

    def cosines(self, vector: Vectors, places: IntArray) -> tuple[FloatArray, FloatArray]:
        """Of each place the cosines with its own question and with all its text; nan without a vector."""

    def idf(self, word: str) -> float:
        """The weight of a word: the fewer passages have it, the higher."""
