"""Statistics of a corpus: how many texts, how long, and in how many of them each word stands."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np

from demur.tokens import HashArray, hash_words
from demur.types import FloatArray, IntArray

_TOGETHER = 4096


@dataclass(frozen=True)
class Statistics:
    """Counts over all texts of a corpus."""

    texts: int
    words: int
    hashes: HashArray  # distinct words, sorted
    having: IntArray  # per word: in how many texts it stands

    @classmethod
    def of(cls, texts: Iterable[str], stem: str = "none") -> Statistics:
        """The statistics of a stream of texts; what is held in memory is the vocabulary."""
        stream = iter(texts)
        number = words = 0
        hashes, having = np.empty(0, np.uint64), np.empty(0, np.int64)
        while batch := list(islice(stream, _TOGETHER)):
            found, counts = hash_words(batch, stem)
            number += len(batch)
            words += len(found)
            once = _once_per_text(found, np.repeat(np.arange(len(counts)), counts))
            hashes, having = _merged(hashes, having, *np.unique(once, return_counts=True))
        return cls(number, words, hashes, having)

    @property
    def mean_length(self) -> float:
        """Words per text."""
        return self.words / max(self.texts, 1)

    def texts_having(self, hashes: HashArray) -> FloatArray:
        """In how many texts each of these words stands."""
        if not len(self.hashes):
            return np.zeros(len(hashes))
        at = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        return np.where(self.hashes[at] == hashes, self.having[at], 0).astype(np.float64)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all counts."""
        digest = hashlib.sha256(f"{self.texts} {self.words}".encode())
        digest.update(self.hashes.tobytes())
        digest.update(self.having.tobytes())
        return digest.hexdigest()[:16]


def _once_per_text(hashes: HashArray, texts: IntArray) -> HashArray:
    order = np.lexsort((hashes, texts))
    hashes, texts = hashes[order], texts[order]
    new = np.ones(len(hashes), bool)
    new[1:] = (hashes[1:] != hashes[:-1]) | (texts[1:] != texts[:-1])
    return hashes[new]


def _merged(
    hashes: HashArray, having: IntArray, more: HashArray, counts: IntArray
) -> tuple[HashArray, IntArray]:
    union, inverse = np.unique(np.concatenate([hashes, more]), return_inverse=True)
    return union, np.bincount(inverse, weights=np.concatenate([having, counts])).astype(np.int64)
