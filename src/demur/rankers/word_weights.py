"""How rare each word of a question is, for rankers whose words are not those of the lexical rankers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from demur.embedders.base import Tokens
from demur.rankers.bm25 import Lexical
from demur.rankers.matching import match
from demur.rankers.word_grids import Part
from demur.tokens import hash_words
from demur.types import FloatArray, Pool


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
