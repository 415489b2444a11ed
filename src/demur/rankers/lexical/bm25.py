"""BM25 with an idf that is never negative (Lucene's), over pools of any size.

Score of an answer: the sum over the question's words, as often as the question has them, of
idf * tf / (tf + k1 * (1 - b + b * length / mean length)), with idf = ln(1 + (N - n + 1/2) / (n + 1/2)),
where n of N texts have the word. `stats` says which texts are counted.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np

from demur.errors import UsageError
from demur.rankers.base import Ranker
from demur.rankers.explanations import Explanation, shared_words
from demur.rankers.lexical.corpus import Statistics
from demur.rankers.lexical.matches import Matches, in_batches, match
from demur.types import FloatArray, Pool


def idf(texts: FloatArray | float, having: FloatArray) -> FloatArray:
    """The weight of words that `having` of so many texts have."""
    weights: FloatArray = np.log1p((texts - having + 0.5) / (having + 0.5))
    return weights


@dataclass(frozen=True)
class Lexical(Ranker):
    """What BM25 and overlap share: word statistics of the pool, of the dataset, or of a file of texts."""

    stats: str = "pool"
    words: str = "all"
    stem: str = "none"
    corpus: Statistics | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def needs_preparing(self) -> bool:
        """Whether the statistics are still to be counted."""
        return self.stats != "pool" and self.corpus is None

    def prepare(self, pools: Iterable[Pool]) -> Self:
        """The ranker with its statistics counted: over these pools, or over the file that `stats` names."""
        if not self.needs_preparing:
            return self
        if self.stats != "dataset":
            from demur.data import formats

            pools = formats.read_pools(self.stats)
        texts = (candidate.text for pool in pools for candidate in pool.candidates)
        return self.counted(Statistics.of(texts, self.stem))

    def counted(self, corpus: Statistics) -> Self:
        """The same ranker over these statistics."""
        prepared = dataclasses.replace(self)
        object.__setattr__(prepared, "corpus", corpus)  # the one field that no caller may set
        return prepared

    def score_pools(self, pools: Sequence[Pool]) -> list[FloatArray]:
        """One array of scores per pool."""
        self._check_prepared()
        return in_batches(pools, lambda batch: self.weigh(match(batch, self.words, self.stem)))

    def weigh(self, matches: Matches) -> FloatArray:
        """One score per answer of a batch."""
        return matches.sums(self.cells(matches))

    def cells(self, matches: Matches) -> FloatArray:
        """What each word of its question adds to an answer's score, one number per cell."""
        raise NotImplementedError

    def explain(self, question: str, answers: Sequence[str]) -> list[Explanation]:
        """One explanation per answer: the words it shares with the question."""
        self._check_prepared()
        matches = match([Pool.of(question, answers)], self.words, self.stem)
        return shared_words(question, answers, matches, self.cells(matches), self.stem)

    def _check_prepared(self) -> None:
        if self.needs_preparing:
            raise UsageError(
                f"{self.spec} has not seen its texts; call prepare(pools) and use what it returns"
            )

    def idf(self, matches: Matches) -> FloatArray:
        """The weight of each question word, over the statistics that `stats` names."""
        if self.corpus is None:
            return idf(matches.sizes[matches.pool].astype(np.float64), matches.answers_having())
        return idf(self.corpus.texts, self.corpus.texts_having(matches.hashes))

    @property
    def fingerprint(self) -> str:
        """A hash of the settings and, where there are any, of the statistics."""
        corpus = self.corpus.fingerprint if self.corpus else ""
        return hashlib.sha256(f"{self.spec} {corpus}".encode()).hexdigest()[:16]


@dataclass(frozen=True)
class BM25(Lexical):
    """BM25: words shared with the question, weighted by rarity, damped by repetition and by length."""

    name: ClassVar[str] = "bm25"
    k1: float = 1.5
    b: float = 0.75

    def __post_init__(self) -> None:
        if not (0 <= self.k1 < np.inf and 0 <= self.b <= 1):
            raise UsageError(f"bm25 needs k1 >= 0 and b between 0 and 1, not k1={self.k1}, b={self.b}")

    def cells(self, matches: Matches) -> FloatArray:
        """BM25 of each question word in each answer."""
        if self.corpus is None:
            mean = np.repeat(matches.mean_lengths(), matches.sizes)
        else:
            mean = np.full(len(matches.lengths), self.corpus.mean_length)
        length = np.divide(matches.lengths, mean, out=np.ones_like(mean), where=mean > 0)
        damped = self.k1 * (1 - self.b + self.b * length)
        tf = matches.counts
        weight = (self.idf(matches) * matches.times)[matches.term]
        with np.errstate(invalid="ignore"):  # k1=0 and no match: 0/0, which is 0
            shares: FloatArray = np.nan_to_num(tf / (tf + damped[matches.answer]))
        return weight * shares
