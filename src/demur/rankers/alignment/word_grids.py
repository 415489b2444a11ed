"""The similarities of question words and answer words, for the pairs of many pools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from demur.embedders.base import Tokens, Vectors
from demur.rankers.alignment.assignment import Grids
from demur.types import FloatArray, IntArray, Pool

_CHARACTERS = 1 << 18  # of texts whose words are held together
_CELLS = 1 << 26  # of characters of questions times those of answers, in one part
_FEW = 12  # question words for which products one at a time are quicker


class Part(NamedTuple):
    """A question with some answers of its pool, few enough to be held in memory."""

    pool: int
    question: str
    answers: Sequence[str]  # each different text once


def in_parts(pools: Sequence[Pool]) -> Iterator[list[Part]]:
    """The pairs of pools in batches. How a pool is cut into parts does not depend on the other pools."""
    batch: list[Part] = []
    held = 0
    for number, pool in enumerate(pools):
        limit = min(_CHARACTERS, _CELLS // (len(pool.question) + 1))
        for answers in _cut(list(dict.fromkeys(pool.answers)), limit):
            batch.append(Part(number, pool.question, answers))
            held += len(pool.question) + sum(map(len, answers))
            if held > _CHARACTERS:
                yield batch
                batch, held = [], 0
    if batch:
        yield batch


def _cut(texts: list[str], limit: int) -> Iterator[list[str]]:
    """The texts in runs of about so many characters, a text at least."""
    start = held = 0
    for place, text in enumerate(texts):
        held += len(text)
        if held > limit:
            yield texts[start : place + 1]
            start, held = place + 1, 0
    if start < len(texts):
        yield texts[start:]


@dataclass(frozen=True)
class WordGrids(Grids):
    """Grids whose rows are question words and whose columns are answer words, by their number in Tokens."""

    question: IntArray  # per row: the question's word
    answer: IntArray  # per grid: the first word of the answer
    first: IntArray  # per grid: the first word of the question
    words: IntArray  # per grid: how many the question has


def word_grids(tokens: Tokens, sizes: IntArray, cosine: bool, weights: FloatArray | None = None) -> WordGrids:
    """A grid per pair, from the words of questions, each followed by as many answers as `sizes` says.

    `weights`, one per word, are those of the question words. Without `cosine`, similarities are dot products.
    """
    ends = np.cumsum(tokens.counts)
    question_at = np.cumsum(sizes + 1) - sizes - 1
    middle, last = ends[question_at], ends[question_at + sizes]
    first = middle - tokens.counts[question_at]
    words, across = middle - first, last - middle
    cells = np.empty(int((words * across).sum()), np.float32)
    at = 0
    for start, split, end in zip(first.tolist(), middle.tolist(), last.tolist(), strict=True):
        if start < split < end:
            size = (split - start) * (end - split)
            grid = cells[at : (at := at + size)].reshape(split - start, end - split)
            _products(tokens.vectors[start:end], grid, cosine)
            if weights is not None:
                grid *= weights[start:split, None]
    is_answer = np.ones(len(tokens.counts), bool)
    is_answer[question_at] = False
    columns = tokens.counts[is_answer]
    part = np.repeat(np.arange(len(sizes)), sizes)
    full = np.flatnonzero(columns)
    many = np.bincount(part[full], minlength=len(sizes))  # per part: its answers that have words
    runs = words * many
    part_of_run = np.repeat(np.arange(len(sizes)), runs)
    within = np.arange(len(part_of_run)) - (np.cumsum(runs) - runs)[part_of_run]
    row, place = np.divmod(within, many[part_of_run])
    pair = full[(np.cumsum(many) - many)[part_of_run] + place]
    return WordGrids(
        cells=cells,
        lengths=columns[pair],
        pair=pair,
        columns=columns,
        question=first[part_of_run] + row,
        answer=(ends - tokens.counts)[is_answer],
        first=first[part],
        words=words[part],
    )


def _products(vectors: Vectors, grid: NDArray[np.float32], cosine: bool) -> None:
    """Fill a grid with the products of its first vectors with all others.

    The same two vectors give the same number to the last bit wherever they stand, so that answers with equal
    words have equal scores. A matrix product would not: how it adds up depends on its size. In double
    precision that is hardly ever seen once the numbers are rounded to single.
    """
    left, right = vectors[: len(grid)], vectors[len(grid) :]
    if len(grid) <= _FEW:
        np.einsum("id,jd->ij", left, right, out=grid)
    else:
        grid[:] = left.astype(np.float64) @ right.astype(np.float64).T
    if cosine:
        squares = np.einsum("id,id->i", vectors, vectors)
        scale = np.divide(1, np.sqrt(squares), out=np.zeros_like(squares), where=squares > 0)
        grid *= scale[: len(grid), None]
        grid *= scale[len(grid) :]
