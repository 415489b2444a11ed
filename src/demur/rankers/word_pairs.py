"""Pairs of texts as batches of word numbers, for all that matches words, with torch or without."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from demur.embedders.rows import Rows
from demur.rankers.word_numbers import Read, Words
from demur.types import FloatArray, IntArray, Pool

BATCH = 256  # pairs
_TOGETHER = 20_000  # pairs whose words are held

Score = Callable[[Read, IntArray, IntArray], FloatArray]
"""What each of several nets says of pairs of texts that were read: nets × pairs."""


def of_pools(words: Words, pools: Sequence[Pool], score: Score, nets: int) -> list[list[FloatArray]]:
    """The scores by each net, one array per pool; texts are read once for all, and each pair scored once."""
    arrays: list[list[FloatArray]] = [[] for _ in range(nets)]
    stretch: list[Pool] = []
    for number, pool in enumerate(pools, 1):
        stretch.append(pool)
        if number == len(pools) or sum(map(len, stretch)) >= _TOGETHER:
            for found, scores in zip(arrays, _of_some(words, stretch, score, nets), strict=True):
                found += scores
            stretch = []
    return arrays


def _of_some(words: Words, pools: Sequence[Pool], score: Score, nets: int) -> list[list[FloatArray]]:
    rows = Rows.of(pools)
    if not len(rows.answers):
        return [[np.zeros(0) for _ in pools] for _ in range(nets)]
    both = np.stack([rows.questions, rows.answers], axis=1)
    different, places = np.unique(both, axis=0, return_inverse=True)
    scores = score(words.read(rows.texts), different[:, 0], different[:, 1])
    return [rows.split(each[places.reshape(-1)]) for each in scores]


def batches(read: Read, questions: IntArray, answers: IntArray) -> list[IntArray]:
    """Places of pairs of like length."""
    lengths = np.diff(read.first)
    order = np.lexsort((lengths[questions], lengths[answers]))
    return [order[at : at + BATCH] for at in range(0, len(order), BATCH)]
