"""Texts as numbers of words, for nets that match words: by a table of vectors, or in their context."""

from __future__ import annotations

import os
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from demur.embedders import embedder
from demur.embedders.base import Vectors
from demur.embedders.rows import Rows
from demur.embedders.word_vectors import table_formats
from demur.embedders.word_vectors.tables import Table
from demur.text import tokenize
from demur.types import FloatArray, IntArray, Pool

LENGTH = 4.0  # of a vector, on average: whatever made them, nets see numbers of one size
VECTORS = "vectors.safetensors"
_MOST = 50_000  # words of a large table that are kept though no text has them


@dataclass(frozen=True, eq=False)
class Read:
    """The words of texts as rows of a table, text after text; perhaps of a table of their own."""

    numbers: IntArray
    first: IntArray  # one more than texts
    vectors: Vectors | None = None  # rows × width, the first row zeros

    def filled(self, texts: IntArray, longest: int) -> IntArray:
        """The first words of some texts, texts × words, filled up with 0; one word at least."""
        lengths = np.minimum(self.first[texts + 1] - self.first[texts], longest)
        places = np.arange(max(int(lengths.max(initial=1)), 1))
        found = np.append(self.numbers, 0)[np.minimum(self.first[texts, None] + places, len(self.numbers))]
        return np.where(places < lengths[:, None], found, 0)


class Words(ABC):
    """What reads texts as numbers of words."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many numbers the vector of a word has."""

    @property
    @abstractmethod
    def matrix(self) -> Vectors:
        """The vectors that belong to the numbers, the first of them zeros; that alone, if texts have own."""

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """A hash of all that the numbers and vectors depend on."""

    @abstractmethod
    def read(self, texts: Sequence[str]) -> Read:
        """The words of each text."""


@dataclass(frozen=True, eq=False)
class Lexicon(Words):
    """A table of words whose first rows, `buckets`, are for words that it lacks.

    Words that fall into one bucket look alike, but few do: so it is seen that a question and an answer share
    a name that nobody has a vector for.
    """

    table: Table
    buckets: int
    source: tuple[Path, int] | None = None  # the file that it was read from, and when that was written

    @classmethod
    def of(cls, table: Table, texts: Iterable[str], buckets: int = 1000) -> Lexicon:
        """The words of a table, or of a large one the first and those of texts; vectors made of one size."""
        if len(table) > _MOST:
            known = {word for text in texts for word in tokenize(text)}
            table = table.trimmed([*table.words[:_MOST], *sorted(known)])
        vectors = np.asarray(table.vectors, np.float32)
        size = float(np.linalg.norm(vectors, axis=1).mean()) if len(table) else 1.0
        drawn = np.random.default_rng(0).normal(size=(buckets, vectors.shape[1]))
        drawn *= LENGTH / np.linalg.norm(drawn, axis=1, keepdims=True)
        both = np.vstack([drawn, vectors * (LENGTH / max(size, 1e-30))]).astype(np.float32)
        names = [f"bucket {number}" for number in range(buckets)]  # no word has a space
        return cls(Table([*names, *table.words], both), buckets)

    @property
    def width(self) -> int:
        """How many numbers the vector of a word has."""
        return self.table.width

    @cached_property
    def matrix(self) -> Vectors:
        """The vectors, a row of zeros before them."""
        return np.vstack([np.zeros((1, self.width), np.float32), self.table.vectors])

    @property
    def fingerprint(self) -> str:
        """A hash of words and vectors."""
        return self.table.fingerprint

    def tuned(self, matrix: Vectors) -> Lexicon:
        """The same words with other vectors."""
        return Lexicon(Table(self.table.words, np.ascontiguousarray(matrix[1:])), self.buckets)

    def read(self, texts: Sequence[str]) -> Read:
        """The words of each text; one that is not known is the bucket that it falls into."""
        lists = [tokenize(text) for text in texts]
        words = [word for each in lists for word in each]
        found = self.table.find(words)
        for place in np.flatnonzero(found < 0).tolist():
            found[place] = zlib.crc32(words[place].encode("utf-8", "surrogatepass")) % self.buckets
        return Read(1 + found, np.cumsum([0, *map(len, lists)]))

    def save(self, folder: Path) -> None:
        """Put the table into a folder: as a link to the file that it was read from, if it is still there."""
        try:
            if self.source is not None and self.source[0].stat().st_mtime_ns == self.source[1]:
                os.link(self.source[0], folder / VECTORS)
                return
        except OSError:  # gone, or on another disk
            pass
        table_formats.write_table(folder / VECTORS, self.table)


@dataclass(frozen=True, eq=False)
class Context(Words):
    """Each word with the vector that an encoder gives it in its text, all of one length."""

    spec: str

    @property
    def width(self) -> int:
        """How many numbers the vector of a word has."""
        return embedder(self.spec).width

    @property
    def matrix(self) -> Vectors:
        """A row of zeros: the vectors are each text's own."""
        return np.zeros((1, self.width), np.float32)

    @property
    def fingerprint(self) -> str:
        """The encoder's."""
        return embedder(self.spec).fingerprint

    def read(self, texts: Sequence[str]) -> Read:
        """The words of each text, each a row of a table of their own."""
        found = embedder(self.spec).tokens(texts, "all")
        sizes = np.linalg.norm(found.vectors, axis=1, keepdims=True)
        vectors = found.vectors * (LENGTH / np.maximum(sizes, 1e-12))
        filled = np.vstack([np.zeros((1, self.width)), vectors]).astype(np.float32)
        return Read(1 + np.arange(len(vectors)), np.cumsum([0, *found.counts.tolist()]), filled)


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
