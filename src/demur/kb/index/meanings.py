"""The passages of a knowledge base by their meaning: vectors in a file of their own, which can be made again.

A vector is kept as bytes, and as the signs of its numbers. All signs lie in memory, as columns of 64 bits;
those nearest to the question's are scored again by the bytes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from demur.embedders.base import Vectors
from demur.errors import DamagedVectors, UnusableBase
from demur.kb.index.signs import Signs, signs_of
from demur.kb.store.place import QUESTION, SEARCHED
from demur.kb.store.schema import Connection, connected, not_written, sqlite_errors
from demur.kb.store.truth import Generation, Row, Truth
from demur.paths import is_file
from demur.types import FloatArray, IntArray

AGAIN = 500
"""Vectors that are scored again by their bytes."""
_FORMAT = 1
_TABLES = f"""
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS signs (
  id INTEGER PRIMARY KEY AUTOINCREMENT, passage INTEGER NOT NULL, kind INTEGER NOT NULL, bits BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS signs_by_passage ON signs (passage, kind);
CREATE TABLE IF NOT EXISTS codes (id INTEGER PRIMARY KEY, scale REAL NOT NULL, bytes BLOB NOT NULL) STRICT;
PRAGMA user_version = {_FORMAT};
"""
_ODD = TypeError, ValueError, KeyError
"""What reading damaged pages may end in, besides an error of SQLite."""
_DAMAGE = sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CONSTRAINT


class SignedMeanings:
    """The file of vectors in a folder; threads may share it one at a time."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "vectors.sqlite"
        self._file: Connection | None = None
        self.forget()

    def forget(self) -> None:
        """Close the file, and forget what was read of it."""
        if self._file is not None:
            self._file.close()
        self._file, self._inode = None, 0
        self._signs = Signs()
        self._newest, self._number, self._dead = 0, 0, np.empty(0, np.int64)
        self._counted: tuple[tuple[int, ...], int] = (), 0

    def open(self, truth: Truth, embedder: str | None = None) -> str:
        """The embedder whose vectors these are, or nothing where there are none of this base.

        With `embedder` they are to be added to: what is of another one, of another base, or broken goes.
        """
        if embedder is None and not is_file(self.path):
            self.forget()
            return ""
        if self._file is not None and not (is_file(self.path) and self._is_still(self._file)):
            self.forget()
        try:
            told = self._open(truth, embedder)
            self._load()
            return told
        except (sqlite3.DatabaseError, *_ODD) as error:
            if embedder is None or "full" in str(error) or "locked" in str(error):
                self.forget()
                return ""
        self.remove()
        with sqlite_errors(self.path):
            return self._open(truth, embedder)

    def _open(self, truth: Truth, embedder: str | None) -> str:
        if self._file is None:
            try:
                self.path.parent.mkdir(exist_ok=True)
                self._file = connected(self.path)
            except FileExistsError:
                raise self._damaged(self.path.parent) from None
            except PermissionError as error:
                raise not_written(self.path.parent, error) from None
            self._inode = self.path.stat().st_ino
            if self._file.execute("PRAGMA user_version").fetchone()[0] not in (0, _FORMAT):
                raise sqlite3.DatabaseError("these vectors are of another version of demur")
        if embedder is not None:
            self._file.execute("PRAGMA synchronous = NORMAL")
            self._file.executescript(_TABLES)
        facts = dict(self._file.execute("SELECT name, value FROM facts").fetchall())
        right = facts.get("base") == truth.base
        right = right and truth.knows(int(facts["generation"]), facts["mark"])
        if embedder is not None and not (right and facts.get("embedder") == embedder):
            with self._file:
                self._file.execute("BEGIN IMMEDIATE")
                for table in ("signs", "codes", "facts"):
                    self._file.execute(f"DELETE FROM {table}")
                self._file.execute("INSERT INTO facts VALUES ('base', ?)", (truth.base,))
                self._file.execute("INSERT INTO facts VALUES ('embedder', ?)", (embedder,))
                self._said(truth.generation())
            return embedder
        return str(facts.get("embedder", "")) if right else ""

    def _is_still(self, file: Connection) -> bool:
        """Whether the open file lies there, and need not be opened anew."""
        return self.path.stat().st_ino == self._inode and not file.is_outdated(self.path)

    def remove(self) -> None:
        """Remove all vectors."""
        self.forget()
        for path in self.path.parent.glob(f"{self.path.name}*"):
            try:
                path.unlink(missing_ok=True)
            except OSError:
                raise self._damaged(path) from None

    def _damaged(self, path: Path) -> DamagedVectors:
        return DamagedVectors("is damaged", path=path, fix="remove it; demur kb update makes it anew")

    @contextmanager
    def _found_sound(self, *odd: type[Exception]) -> Iterator[None]:
        """A block that reads or changes what is there; if that is damaged, it goes, to be made anew."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            if self._file is not None and self._file.is_outdated(self.path):
                self.forget()
                fix = "ask again"
                raise DamagedVectors("was written while it was read", path=self.path, fix=fix) from None
            if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF not in _DAMAGE:
                with sqlite_errors(self.path):
                    raise
        except odd as error:
            if isinstance(error, DamagedVectors):
                raise
        else:
            return
        self.remove()
        raise self._lost("has lost its vectors, which were damaged")

    def _lost(self, what: str) -> DamagedVectors:
        fix = "ask again, or make them anew with demur kb update"
        return DamagedVectors(what, path=self.path.parent.parent, fix=fix)

    def _said(self, generation: Generation) -> None:
        assert self._file is not None
        said = {"generation": str(generation.number), "mark": generation.mark}
        self._file.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", said.items())

    def add(self, entries: Sequence[tuple[int, int]], vectors: Vectors, generation: Generation) -> None:
        """Take in the vectors of some places, each of a kind: all of them, or none."""
        assert self._file is not None
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
        scales = np.abs(unit).max(axis=1, initial=0) / 127
        codes = np.rint(unit / np.where(scales > 0, scales, 1)[:, None]).astype(np.int8)
        bits = signs_of(unit)
        with self._found_sound(), self._file:
            self._file.execute("BEGIN IMMEDIATE")
            for (place, kind), scale, code, bit in zip(entries, scales.tolist(), codes, bits, strict=True):
                insert = "INSERT INTO signs (passage, kind, bits) VALUES (?, ?, ?)"
                new = self._file.execute(insert, (place, kind, bit.tobytes())).lastrowid
                self._file.execute("INSERT INTO codes VALUES (?, ?, ?)", (new, scale, code.tobytes()))
            self._said(generation)

    def see(self, truth: Truth, now: Generation) -> None:
        """Find those of a generation from now on, as many as there are by now."""
        self.open(truth)
        self._signs.look_for_deleted(truth)
        dead = np.array(truth.dead(now), np.int64)
        self._newest, self._dead = now.newest, np.concatenate([dead, self._signs.deleted])
        self._number = now.number

    def embedded(self) -> int:
        """How many passages have vectors."""
        state = self._inode, self._number, *self._signs.state
        if self._counted[0] != state:
            places = np.unique(self._signs.passages)
            there = (places <= self._newest) & ~np.isin(places, self._dead)
            self._counted = state, int(np.count_nonzero(there))
        return self._counted[1]

    @property
    def indexed(self) -> bool:
        """True: all are compared, by their signs."""
        return True

    def lacking(self, truth: Truth, now: Generation) -> Iterator[list[Row]]:
        """Place, heading, text and question of passages without a vector; vectors of none are deleted."""
        self._load()
        with self._found_sound(*_ODD):
            bare = self._bare() if self._file is not None else []
        self._drop(bare)
        self._load()
        there = np.unique(self._signs.passages)
        known = [place for (place,) in truth.rows("SELECT id FROM passages")]  # others may read dead ones
        self._drop(np.setdiff1d(there, np.array(known, np.int64)).tolist())
        for rows in truth.texts(0, now):
            missing = ~np.isin([row[0] for row in rows], there)
            yield [row for row, wanted in zip(rows, missing.tolist(), strict=True) if wanted]

    def _bare(self, among: Sequence[int] = ()) -> list[int]:
        """The passages, or those among some, whose vectors have lost their bytes, as by damage."""
        assert self._file is not None
        these = f"passage IN ({','.join('?' * len(among))}) AND" if among else ""
        without = "NOT EXISTS (SELECT 1 FROM codes WHERE codes.id = signs.id)"
        lost = f"SELECT DISTINCT passage FROM signs WHERE {these} {without}"
        return [place for (place,) in self._file.execute(lost, list(among))]

    def _let_go_of_bare(self, places: Sequence[int]) -> None:
        """Delete those that have lost their bytes, and say so; who may only read goes on without them."""
        parts = (places[start : start + AGAIN] for start in range(0, len(places), AGAIN))
        if not (lost := [place for part in parts for place in self._bare(part)]):
            return
        try:
            self._drop(lost)
        except DamagedVectors:
            raise
        except UnusableBase:
            return
        self._load()
        raise self._lost("has lost some of its vectors, which were damaged")

    def _drop(self, places: Sequence[int]) -> None:
        """Delete the vectors of passages that are no more."""
        if not len(places):
            return
        assert self._file is not None
        with self._found_sound(), self._file:
            self._file.execute("BEGIN IMMEDIATE")
            for place in map(int, places):
                inside = "SELECT id FROM signs WHERE passage = ?"
                self._file.execute(f"DELETE FROM codes WHERE id IN ({inside})", (place,))
                self._file.execute("DELETE FROM signs WHERE passage = ?", (place,))
        self._signs = Signs()  # read anew

    def _load(self) -> None:
        """Read the signs that were added since the last call."""
        if self._file is not None:
            self._signs = self._signs.with_new(self._file)

    def search(self, vector: Vectors, top: int) -> tuple[IntArray, FloatArray]:
        """The nearest passages and the cosines; one with a question counts with the nearer vector."""
        if self._file is None or not len(self._signs.passages):
            return np.empty(0, np.int64), np.empty(0)
        length = float(np.linalg.norm(vector))
        unit = np.asarray(vector, np.float32) / (length or 1.0)
        near = self._signs.nearest(unit, max(AGAIN, 5 * top), self._newest, self._dead)
        if not len(near):
            return np.empty(0, np.int64), np.empty(0)
        with self._found_sound(*_ODD):
            scales, codes = self._bytes(self._signs.ids[near])
            if not codes.any(axis=1).all():
                self._let_go_of_bare(self._signs.passages[near].tolist())
            alike = np.multiply(codes, unit, dtype=np.float64).sum(axis=1)  # whatever is beside it
            cosines = alike * scales
        best: dict[int, float] = {}
        for place, cosine in zip(self._signs.passages[near].tolist(), cosines.tolist(), strict=True):
            best[place] = max(cosine, best.get(place, -1.0))
        return np.array(list(best), np.int64), np.array(list(best.values()), np.float64)

    def cosines(self, vector: Vectors, places: IntArray) -> tuple[FloatArray, FloatArray]:
        """Of each passage the cosines with its question and with its text; nan where there is no vector."""
        found = np.full((2, len(places)), np.nan)
        if self._file is None or not len(self._signs.passages):
            return found[1], found[0]
        unit = np.asarray(vector, np.float64) / (float(np.linalg.norm(vector)) or 1.0)
        at = {place: number for number, place in enumerate(places.tolist())}
        marks = ",".join("?" * len(at))
        named = (
            f"SELECT passage, kind, scale, bytes FROM signs JOIN codes USING (id) WHERE passage IN ({marks})"
        )
        with self._found_sound(*_ODD):
            for place, kind, scale, code in self._file.execute(named, list(at)):
                found[kind, at[place]] = float(np.frombuffer(code, np.int8) @ unit) * scale
            self._let_go_of_bare(places[np.isnan(found).any(axis=0)].tolist())  # most just have no question
        return found[QUESTION], found[SEARCHED]

    def _bytes(self, ids: IntArray) -> tuple[FloatArray, NDArray[np.int8]]:
        assert self._file is not None
        rows: dict[int, tuple[float, bytes]] = {}
        for start in range(0, len(ids), AGAIN):
            some = ids[start : start + AGAIN].tolist()
            marks = ",".join("?" * len(some))
            found = self._file.execute(f"SELECT id, scale, bytes FROM codes WHERE id IN ({marks})", some)
            rows |= {id: (scale, code) for id, scale, code in found}
        width = max((len(code) for _, code in rows.values()), default=0)
        told = [rows.get(id, (0.0, b"")) for id in ids.tolist()]
        codes = b"".join(code or bytes(width) for _, code in told)
        return np.array([scale for scale, _ in told]), np.frombuffer(codes, np.int8).reshape(len(told), width)
