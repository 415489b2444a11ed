"""The signs of all vectors of a base, in memory, as columns of 64 bits: by them the nearest are found."""

from __future__ import annotations

import sqlite3

import numpy as np
from numpy.typing import NDArray

from demur.embedders.base import Vectors
from demur.kb.store.truth import Truth
from demur.types import IntArray

Bits = NDArray[np.uint64]


class Signs:
    """What is read of the table of signs, and which of it is of passages that are no more."""

    def __init__(self) -> None:
        self.seen = 0
        """The last row that was read."""
        self.passages: IntArray = np.empty(0, np.int64)
        self.ids: IntArray = np.empty(0, np.int64)
        self.deleted: IntArray = np.empty(0, np.int64)
        """The passages that are no more; their vectors stay until more are made."""
        self._columns: Bits = np.empty((0, 0), np.uint64)
        self._looked, self._purged = 0, 0  # so many rows were looked at, after a purge

    @property
    def state(self) -> tuple[int, ...]:
        """What differs as soon as there are other vectors, or other passages are no more."""
        return self.seen, len(self.passages), self._looked, self._purged

    def with_new(self, file: sqlite3.Connection) -> Signs:
        """These and those that were added since; all are read anew if some were deleted."""
        count, last = file.execute("SELECT count(*), coalesce(max(id), 0) FROM signs").fetchone()
        after = self.seen
        rows = file.execute(
            "SELECT id, passage, bits FROM signs WHERE id > ? AND id <= ? ORDER BY id", (after, last)
        ).fetchall()
        if after and len(self.ids) + len(rows) != count:  # some were deleted meanwhile
            return Signs().with_new(file)
        if not rows:
            return self
        self.seen = last
        ids, passages, bits = zip(*rows, strict=True)
        new = np.frombuffer(b"".join(bits), np.uint64).reshape(len(rows), -1).T
        self.ids = np.concatenate([self.ids, np.array(ids, np.int64)])
        self.passages = np.concatenate([self.passages, np.array(passages, np.int64)])
        self._columns = np.concatenate([self._columns, new], axis=1) if after else np.ascontiguousarray(new)
        return self

    def look_for_deleted(self, truth: Truth) -> None:
        """Find out which of the passages are no more, of what was read or purged since the last call."""
        if self._purged != truth.purged:
            self._purged, self._looked, self.deleted = truth.purged, 0, np.empty(0, np.int64)
        if new := self.passages[self._looked :].tolist():
            among = "SELECT id FROM passages WHERE id BETWEEN ? AND ?"
            there = [place for (place,) in truth.rows(among, (min(new), max(new)))]
            gone = np.setdiff1d(new, np.array(there, np.int64))
            self.deleted = np.concatenate([self.deleted, gone])
            self._looked = len(self.passages)

    def nearest(self, unit: Vectors, depth: int, newest: int, dead: IntArray) -> IntArray:
        """The rows with the signs that are most like those of a vector, but for what is too new, or dead."""
        asked = signs_of(unit[None])[0]
        far = np.zeros(len(self.passages), np.uint16)
        for column, bits in zip(self._columns, asked, strict=True):
            far += np.bitwise_count(column ^ bits)
        far[(self.passages > newest) | np.isin(self.passages, dead)] = np.iinfo(np.uint16).max
        near = np.argpartition(far, depth)[:depth] if len(far) > depth else np.arange(len(far))
        return near[far[near] < np.iinfo(np.uint16).max]


def signs_of(rows: NDArray[np.int8] | Vectors) -> Bits:
    """The signs of each row as whole numbers of 64 bits."""
    missing = -rows.shape[1] % 64
    signs = np.pad(rows > 0, ((0, 0), (0, missing)))
    return np.packbits(signs, axis=1).view(np.uint64)
