"""Words that are paired: how much each counts, and what the pairs add to the scores of their texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from demur.embedders.base import Tokens
from demur.rankers.alignment.word_grids import Part, WordGrids
from demur.rankers.explanations import Explanation, WordPair
from demur.rankers.lexical.bm25 import Lexical
from demur.rankers.lexical.matches import match
from demur.tokens import hash_words
from demur.types import FloatArray, IntArray, Pool, Span


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


def word_weights(tokens: Tokens, parts: Sequence[Part], pools: Sequence[Pool], rarity: Lexical) -> FloatArray:
    """The idf of each word of a question, by `rarity`'s statistics; 1 for words of answers.

    What `text.tokenize` takes for several words, such as an address, is as rare as the rarest of them.
    """
    numbers = sorted({part.pool for part in parts})
    matches = match([pools[number] for number in numbers])
    idf = rarity.idf(matches)
    known: dict[int, dict[int, float]] = {number: {} for number in numbers}
    for place, word, weight in zip(matches.pool.tolist(), matches.hashes.tolist(), idf.tolist(), strict=True):
        known[numbers[place]][word] = weight
    weights = np.ones(len(tokens.words))
    ends = np.cumsum(tokens.counts).tolist()
    text = 0
    for part in parts:
        mine = known[part.pool]
        for word in range(ends[text] - int(tokens.counts[text]), ends[text]):
            start, end = tokens.spans[word].tolist()
            found = hash_words([part.question[start:end]])[0].tolist()
            weights[word] = max(
                [mine[one] for one in found if one in mine], default=max(mine.values(), default=1)
            )
        text += 1 + len(part.answers)
    return weights
