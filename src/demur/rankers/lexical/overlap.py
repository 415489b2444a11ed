"""Shared words: how many different words of its question an answer has, plain or weighted by idf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from demur.rankers.lexical.bm25 import Lexical
from demur.rankers.lexical.matches import Matches
from demur.types import FloatArray


@dataclass(frozen=True)
class Overlap(Lexical):
    """How many different words of the question an answer has; with ``weighted`` the rarer count more."""

    name: ClassVar[str] = "overlap"
    weighted: bool = True

    def cells(self, matches: Matches) -> FloatArray:
        """The weight of each question word, where the answer has it."""
        has = (matches.counts > 0).astype(np.float64)
        return has * self.idf(matches)[matches.term] if self.weighted else has
