"""BM25 of a few texts, with the statistics of a whole collection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from demur.rankers.lexical.bm25 import BM25
from demur.tokens import hash_words
from demur.types import FloatArray


def scored(texts: Sequence[str], weights: Mapping[str, float], stem: str, mean: float) -> FloatArray:
    """A score for each text; `weights` are those of hashed words, in hex, and `mean` a text's mean length."""
    hashes, counts = hash_words(texts, stem)
    scores = np.zeros(len(counts))
    owners = np.repeat(np.arange(len(counts)), counts)
    bm25 = BM25(stem=stem)
    damped = bm25.k1 * (1 - bm25.b + bm25.b * counts / (mean or 1.0))
    for word, weight in weights.items():
        hashed = np.frombuffer(bytes.fromhex(word), np.uint64)[0]
        times = np.bincount(owners[hashes == hashed], minlength=len(counts))
        scores += weight * times / (times + damped)
    return scores
