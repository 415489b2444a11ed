"""Shared words: how many different words of its question an answer has, plain or weighted by idf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from demur.rankers.bm25 import Lexical
from demur.rankers.matching import Matches
from demur.types import FloatArray


@dataclass(frozen=True)
class Overlap(Lexical):
    """How many different words of the question an answer has; with ``weighted`` the rarer count more."""

    name: ClassVar[str] = "overlap"
    weighted: bool = True

    def weigh(self, matches: Matches) -> FloatArray:
        """The weight of the question's words that each answer has."""
        has = (matches.counts > 0).astype(float)
        return matches.sums(has * self.idf(matches)[matches.term] if self.weighted else has)
