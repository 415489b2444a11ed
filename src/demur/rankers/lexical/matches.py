"""Which words of its question each answer has, and how often: the ground all lexical rankers stand on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from demur.errors import UsageError
from demur.text import STOPWORDS
from demur.tokens import HashArray, SketchArray, Words, chunks, hash_words, read_words
from demur.types import FloatArray, IntArray, Pool

_BATCH = 4096  # answers matched together
_SIEVE = 1 << 20
_SPREAD = 0xD6E8FEB86659FD93  # sets equal words of different pools apart


@dataclass(frozen=True)
class Matches:
    """Cells, one for each answer and each distinct word of its question, in order."""

    counts: FloatArray  # per cell: how often the answer has the word
    answer: IntArray  # per cell: which answer of the batch
    term: IntArray  # per cell: which question word of the batch
    lengths: FloatArray  # per answer: its words
    sizes: IntArray  # per pool: its answers
    hashes: HashArray  # per question word
    times: FloatArray  # per question word: how often the question has it
    pool: IntArray  # per question word: which pool

    def sums(self, cells: FloatArray) -> FloatArray:
        """Per answer, the sum of its cells."""
        return np.bincount(self.answer, weights=cells, minlength=len(self.lengths)).astype(np.float64)

    def answers_having(self) -> FloatArray:
        """Per question word, how many answers of its pool have it."""
        return np.bincount(self.term[self.counts > 0], minlength=len(self.hashes)).astype(np.float64)

    def mean_lengths(self) -> FloatArray:
        """Per pool, the mean length of its answers."""
        pools = np.repeat(np.arange(len(self.sizes)), self.sizes)
        totals = np.bincount(pools, weights=self.lengths, minlength=len(self.sizes))
        return totals / np.maximum(self.sizes, 1)


class _QuestionWords(NamedTuple):
    """Distinct words of each question, question after question."""

    hashes: HashArray
    sketches: SketchArray
    times: FloatArray  # how often the question has it
    pool: IntArray  # which question


def match(pools: Sequence[Pool], words: str = "all", stem: str = "none") -> Matches:
    """The matches of some pools. `words` is ``all``, or ``content`` to leave out stop words.

    `stem` names a language whose word endings are cut off, or is ``none``.
    """
    texts = [candidate.text for pool in pools for candidate in pool.candidates]
    answers = [read_words(chunk) for chunk in chunks(texts)]
    lengths = np.concatenate([*(part.counts for part in answers), np.empty(0, np.int64)])
    question = _question_words([pool.question for pool in pools], words, stem)
    sizes = np.array([len(pool) for pool in pools], np.int64)
    terms_of_pool = np.bincount(question.pool, minlength=len(pools))
    first_term = np.cumsum(terms_of_pool) - terms_of_pool
    pool_of_answer = np.repeat(np.arange(len(pools)), sizes)
    width = terms_of_pool[pool_of_answer]
    first_cell = np.cumsum(width) - width
    answer = np.repeat(np.arange(len(width)), width)
    term = np.arange(len(answer)) + (first_term[pool_of_answer] - first_cell)[answer]
    answer_at, term_at = _found(answers, question, pool_of_answer, stem)
    cell = first_cell[answer_at] + term_at - first_term[pool_of_answer[answer_at]]
    counts = np.bincount(cell, minlength=len(answer)).astype(np.float64)
    times, pool = question.times, question.pool
    return Matches(counts, answer, term, lengths.astype(np.float64), sizes, question.hashes, times, pool)


def _keyed(hashes: HashArray, pool: IntArray) -> HashArray:
    """The same hashes, different for different pools."""
    keyed: HashArray = hashes ^ (pool.astype(np.uint64) * np.uint64(_SPREAD))
    return keyed


def _sieved(sketches: SketchArray, shift: SketchArray) -> SketchArray:
    """The places of words in the sieve, each pool's shifted by a number of its own."""
    return (sketches + shift) & np.int32(_SIEVE - 1)


def _shifts(pool: IntArray) -> SketchArray:
    return (pool * 40503 & (_SIEVE - 1)).astype(np.int32)


def in_batches(pools: Sequence[Pool], score: Callable[[Sequence[Pool]], FloatArray]) -> list[FloatArray]:
    """One array of scores per pool, from a function that scores all answers of a batch in one array."""
    arrays: list[FloatArray] = []
    for batch in _batches(pools):
        arrays += np.split(score(batch), np.cumsum([len(pool) for pool in batch])[:-1])
    return arrays


def _batches(pools: Sequence[Pool]) -> Iterator[Sequence[Pool]]:
    first = size = 0
    for place, pool in enumerate(pools):
        size += len(pool)
        if size >= _BATCH:
            yield pools[first : place + 1]
            first, size = place + 1, 0
    if first < len(pools):
        yield pools[first:]


def _question_words(questions: Sequence[str], words: str, stem: str) -> _QuestionWords:
    parts = [read_words(chunk) for chunk in chunks(questions)]
    hashes = np.concatenate([*(part.stems(stem) for part in parts), np.empty(0, np.uint64)])
    sketches = np.concatenate([*(part.sketches() for part in parts), np.empty(0, np.int32)])
    pool = np.repeat(np.arange(len(questions)), np.concatenate([part.counts for part in parts]))
    if words == "content":
        keep = ~np.isin(np.concatenate([part.hashes() for part in parts]), stop_hashes())
        hashes, sketches, pool = hashes[keep], sketches[keep], pool[keep]
    elif words != "all":
        raise UsageError(f"words={words!r} is not known; use words=all or words=content")
    order = np.lexsort((hashes, pool))
    hashes, sketches, pool = hashes[order], sketches[order], pool[order]
    new = np.ones(len(hashes), bool)
    new[1:] = (hashes[1:] != hashes[:-1]) | (pool[1:] != pool[:-1])
    times = np.bincount(np.cumsum(new) - 1, minlength=int(new.sum())).astype(np.float64)
    return _QuestionWords(hashes[new], sketches[new], times, pool[new])


@lru_cache(maxsize=1)
def stop_hashes() -> HashArray:
    """The hashes of the stop words."""
    return hash_words(sorted(STOPWORDS))[0]


def _found(
    answers: Sequence[Words], question: _QuestionWords, pool_of_answer: IntArray, stem: str
) -> tuple[IntArray, IntArray]:
    """Each occurrence of a question's word in its answers: which answer, and which question word."""
    order = np.argsort(keys := _keyed(question.hashes, question.pool))
    keys = keys[order]
    sieve = np.zeros(_SIEVE, bool)  # most words are in no question: a small table tells at once
    sieve[_sieved(question.sketches, _shifts(question.pool))] = True
    answer_at, term_at = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    start = 0
    for part in answers if len(keys) else ():
        mine = np.arange(start, start := start + len(part.counts))
        if stem == "none":
            shift = np.repeat(_shifts(pool_of_answer[mine]), part.counts)
            likely = np.flatnonzero(sieve.take(_sieved(part.sketches(), shift)))
            text, hashes = (
                mine[np.searchsorted(np.cumsum(part.counts), likely, side="right")],
                part.hashes(likely),
            )
        else:
            text, hashes = np.repeat(mine, part.counts), part.stems(stem)
        wanted = _keyed(hashes, pool_of_answer[text])
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        found = keys[at] == wanted
        answer_at.append(text[found])
        term_at.append(order[at[found]])
    return np.concatenate(answer_at), np.concatenate(term_at)
