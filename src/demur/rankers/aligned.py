"""Words that are paired, and what they add to the scores of their texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from demur.embedders.base import Tokens
from demur.rankers.explanations import Explanation, WordPair
from demur.rankers.word_grids import WordGrids
from demur.types import FloatArray, IntArray, Span


class Aligned(NamedTuple):
    """The pairs of words that make the scores of some parts of pools."""

    tokens: Tokens
    grids: WordGrids
    rows: IntArray  # per pair of words: its row of the grids
    columns: IntArray  # and its column
    weight: FloatArray  # per pair of words: what its similarity is multiplied by in the score
    adds: FloatArray  # per pair of words: what it adds to the score

    @property
    def scores(self) -> FloatArray:
        """Per grid, its score."""
        pairs = self.grids.pair[self.rows]
        return np.bincount(pairs, weights=self.adds, minlength=len(self.grids.columns)).astype(np.float64)

    def explanations(self, question: str, answers: Sequence[str]) -> list[Explanation]:
        """One explanation per answer, where all grids are of one question."""
        pairs: list[list[WordPair]] = [[] for _ in answers]
        for row, column, weight, adds in zip(
            *(each.tolist() for each in (self.rows, self.columns, self.weight, self.adds)), strict=True
        ):
            number = int(self.grids.pair[row])
            asked = self._span(question, int(self.grids.question[row]))
            found = self._span(answers[number], int(self.grids.answer[number]) + column)
            pairs[number].append(WordPair(asked, found, adds / weight, weight))
        return [
            Explanation(score, tuple(mine)) for score, mine in zip(self.scores.tolist(), pairs, strict=True)
        ]

    def _span(self, text: str, word: int) -> Span:
        start, end = self.tokens.spans[word].tolist()
        return Span(start, end, text[start:end])
