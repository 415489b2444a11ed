"""BM25 over a whole collection: which of a hundred thousand passages share words with a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from demur.rankers.lexical.bm25 import BM25, idf
from demur.text import content, tokenize
from demur.tokens import hash_words
from demur.types import FloatArray, IntArray

_PARTS = "damped", "hashes", "starts", "owners", "times"


class Index:
    """The words of some texts, each with the texts that have it.

    Only words that carry meaning are looked for, and texts with none of them are never found.
    """

    def __init__(self, texts: Sequence[str], bm25: BM25 | None = None) -> None:
        self.bm25 = bm25 or BM25()
        hashes, counts = hash_words(texts, self.bm25.stem)
        owners = np.repeat(np.arange(len(counts)), counts)
        self.size = len(counts)
        length = counts / counts.mean() if counts.sum() else np.ones(len(counts))
        self._damped = self.bm25.k1 * (1 - self.bm25.b + self.bm25.b * length)
        order = np.argsort(hashes, kind="stable")  # stable: within a word, texts stay in order
        hashes, owners = hashes[order], owners[order]
        new = np.ones(len(hashes), bool)
        new[1:] = (hashes[1:] != hashes[:-1]) | (owners[1:] != owners[:-1])
        starts = np.flatnonzero(new)
        self._owners = owners[starts]
        self._times = np.diff(starts, append=len(hashes))
        self._hashes, self._starts = np.unique(hashes[starts], return_index=True)

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]], bm25: BM25) -> Self:
        """The index that `arrays` was asked of; the same BM25 must have made it."""
        index = cls.__new__(cls)
        index.bm25, index.size = bm25, len(arrays["damped"])
        index._damped, index._hashes, index._starts = (arrays[each] for each in _PARTS[:3])
        index._owners, index._times = (arrays[each].astype(np.int64) for each in _PARTS[3:])
        return index

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that was found in the texts, to be kept in a file."""
        small = [each.astype(np.int32) for each in (self._owners, self._times)]  # half the bytes
        return dict(zip(_PARTS, [self._damped, self._hashes, self._starts, *small], strict=True))

    def df(self, word: str) -> int:
        """How many texts have the word."""
        start, end = self._place(word)
        return end - start

    def idf(self, word: str) -> float:
        """The weight of a word: the fewer texts have it, the higher; highest if none has."""
        return float(idf(float(self.size), np.array([self.df(word)], np.float64))[0])

    def search(self, question: str, top: int = 10) -> tuple[IntArray, FloatArray]:
        """The texts that share a word with the question, best first, and their scores."""
        scores = np.zeros(self.size)
        for word in content(tokenize(question)):  # a word that the question has twice counts twice
            start, end = self._place(word)
            owners, times = self._owners[start:end], self._times[start:end]
            scores[owners] += self.idf(word) * times / (times + self._damped[owners])
        found = np.flatnonzero(scores)
        if len(found) > top:
            found = found[scores[found] >= np.partition(scores[found], -top)[-top]]
        best = found[np.argsort(-scores[found], kind="stable")][:top]
        return best, scores[best]

    def _place(self, word: str) -> tuple[int, int]:
        hashed = hash_words([word], self.bm25.stem)[0][0]
        at = int(np.searchsorted(self._hashes, hashed))
        if at == len(self._hashes) or self._hashes[at] != hashed:
            return 0, 0
        end = self._starts[at + 1] if at + 1 < len(self._starts) else len(self._owners)
        return int(self._starts[at]), int(end)
