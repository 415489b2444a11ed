"""Questions and answers as the tokens of pairs, by the tokenizers library alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from demur.rankers.cross_encoders.pairs import whole
from demur.types import IntArray

_TOGETHER = 2048  # pairs tokenised in one call


@dataclass(frozen=True)
class Pieces:
    """Tokens of pairs, end to end: a pair is ``tokens[first[i] : first[i + 1]]``."""

    tokens: IntArray
    kinds: IntArray  # per token: 0 for the question's, 1 for the answer's
    first: IntArray
    cut: int  # pairs that were too long

    @property
    def lengths(self) -> IntArray:
        """Tokens of each pair."""
        return np.diff(self.first)

    def batch(self, chosen: IntArray) -> tuple[IntArray, IntArray]:
        """Tokens and their kinds of some pairs of one length: pairs × tokens."""
        length = int(self.first[chosen[0] + 1] - self.first[chosen[0]])
        at = self.first[chosen][:, None] + np.arange(length)
        return self.tokens[at], self.kinds[at]


def pieces(tokenizer: Any, pairs: Sequence[tuple[str, str]], length: int) -> Pieces:
    """The pairs as at most `length` tokens each; of what is too long the answer's end is cut."""
    tokens: list[list[int]] = []
    kinds: list[list[int]] = []
    cut = 0
    short: dict[str, str] = {}
    for question, _ in pairs:
        if question not in short:
            short[question] = _shortened(tokenizer, whole(question), length // 2)
    for at in range(0, len(pairs), _TOGETHER):
        some = [(short[question], whole(answer)) for question, answer in pairs[at : at + _TOGETHER]]
        for found in tokenizer.encode_batch_fast(some):
            ids, types = found.ids, found.type_ids
            if len(ids) > length:
                cut += 1
                ids, types = _fitted(found, ids, length), _fitted(found, types, length)
            tokens.append(ids)
            kinds.append(types)
    first = np.cumsum([0, *map(len, tokens)])
    return Pieces(_joined(tokens, int(first[-1])), _joined(kinds, int(first[-1])), first, cut)


def _fitted(found: Any, numbers: list[int], length: int) -> list[int]:
    """The first so many numbers, and those of the marks that stand behind the answer."""
    marks = found.special_tokens_mask
    behind = next((n for n, mark in enumerate(reversed(marks)) if not mark), 0)
    return numbers[: length - behind] + numbers[len(numbers) - behind :]


def _joined(lists: Sequence[list[int]], count: int) -> IntArray:
    return np.fromiter((number for each in lists for number in each), np.int64, count)


def _shortened(tokenizer: Any, question: str, longest: int) -> str:
    """The question, cut if it would leave no room for an answer."""
    if len(question) <= longest:  # a token has at least one character
        return question
    spans = tokenizer.encode(question, add_special_tokens=False).offsets
    return question[: spans[longest - 1][1]] if len(spans) >= longest else question
