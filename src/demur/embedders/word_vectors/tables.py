"""A table of word vectors: words, a row of numbers for each, and how often they occurred in training."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demur.embedders.base import Vectors
from demur.errors import DataError, UsageError
from demur.types import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Table:
    """Words with their vectors, usually the most frequent first. `made` tells how they came about."""

    words: Sequence[str]
    vectors: Vectors
    counts: IntArray | None = None
    made: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.words)

    @property
    def width(self) -> int:
        """How many numbers a vector has."""
        return int(self.vectors.shape[1])

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """The row of each word. In lower case, a word that the table has only with capitals is found too."""
        rows = {word: row for row, word in reversed(list(enumerate(self.words)))}
        for row, word in enumerate(self.words):
            if not word.islower():
                rows.setdefault(word.lower(), row)
        return rows

    def find(self, words: Sequence[str]) -> IntArray:
        """The row of each word, -1 for those that are not in the table."""
        return np.fromiter(map(self.rows.get, words, repeat(-1)), np.int64, len(words))

    @cached_property
    def frequencies(self) -> FloatArray:
        """The share of each word among all: from the counts, or else by Zipf's law from the order."""
        seen = 1 / np.arange(1, len(self) + 1) if self.counts is None else np.maximum(self.counts, 1)
        shares: FloatArray = seen / seen.sum(dtype=np.float64)
        return shares

    @cached_property
    def fingerprint(self) -> str:
        """A hash of words, vectors and counts, wherever they were read from."""
        return checksum(packed(self.words), self.vectors, self.counts)[:16]

    def trimmed(self, words: Iterable[str] | None = None, limit: int | None = None) -> Table:
        """The table of only these words, or of only the first so many."""
        rows = range(len(self)) if words is None else sorted(set(self.find(list(words)).tolist()) - {-1})
        kept = list(rows)[:limit]
        counts = None if self.counts is None else self.counts[kept]
        return Table([self.words[row] for row in kept], self.vectors[kept], counts, self.made)

    def nearest(self, word: str, count: int = 10) -> list[tuple[str, float]]:
        """The words whose vectors have the highest cosine with this word's, and the cosines."""
        row = self.rows.get(word, -1)
        if row < 0:
            raise UsageError(
                f"{word!r} is not among the {len(self):,} words of these vectors; "
                "choose another word, or other vectors"
            )
        lengths = np.linalg.norm(self.vectors, axis=1)
        cosines = self.vectors @ self.vectors[row] / np.maximum(lengths * lengths[row], 1e-30)
        best = [int(other) for other in np.argsort(-cosines, kind="stable")[: count + 1] if other != row]
        return [(self.words[other], float(cosines[other])) for other in best[:count]]


def packed(words: Iterable[str]) -> NDArray[np.uint8]:
    """The words as one array of bytes, a line feed between them."""
    return np.frombuffer("\n".join(words).encode("utf-8", "surrogatepass"), np.uint8)


def checksum(*arrays: NDArray[Any] | None) -> str:
    """The sha256 of what is in some arrays: their kinds, shapes and numbers."""
    digest = hashlib.sha256()
    for array in arrays:
        if array is not None:
            digest.update(f"{array.dtype.str} {array.shape}\n".encode())
            digest.update(np.ascontiguousarray(array).data if array.size else b"")
    return digest.hexdigest()


def table(path: str | Path) -> Table:
    """The table in a file of any known format. The last few are kept, until their file changes."""
    path = Path(path)
    try:
        state = path.stat()
    except OSError:
        raise DataError(
            "no such file of word vectors", path=path, fix="check the spelling of the path"
        ) from None
    return _table(path.resolve(), state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4)
def _table(path: Path, changed: int, size: int) -> Table:
    from demur.embedders.word_vectors import table_formats

    return table_formats.read_table(path)
