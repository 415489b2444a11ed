"""The passages of a base by their meaning: vectors in halves of 32 bits, which Lance finds by an index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from demur.embedders.base import Vectors
from demur.kb.lance.lake import Lake, any_of, arrow, forget_old, rows_of, tidied
from demur.kb.lance.lines import NoTable
from demur.kb.lance.truth import PublishedTruth
from demur.kb.store.place import QUESTION, SEARCHED
from demur.kb.store.truth import Generation, Row, Truth
from demur.types import FloatArray, IntArray

VECTORS = "vectors"
INDEXED = 5000
"""Vectors from which on there is an index; fewer are all compared."""
_COLUMN = "vector"
_MANY = 4096
_LOOSE = 2000  # vectors in no index that are too many
_LOOKED = 4  # a search looks into this share of the index: one part of so many


class LakeMeanings:
    """The table of vectors, and its index."""

    def __init__(self, lake: Lake) -> None:
        self.lake = lake
        self.forget()

    def forget(self) -> None:
        """Forget what was read."""
        self._table: Any = None
        self._embedder, self._base, self._now, self._parts = "", "", Generation(), 0
        self._counted = (0, 0), 0
        self._waiting: tuple[list[tuple[int, int]], list[Vectors]] = ([], [])

    def open(self, truth: Truth, embedder: str | None = None) -> str:
        """The embedder whose vectors these are; with `embedder` those of another one go."""
        self._base = truth.base
        try:
            self._table = self.lake.table(VECTORS)
            said = self._table.schema.metadata or {}
        except NoTable:
            self._table, said = None, {}
        mine = said.get(b"base", b"").decode() == truth.base
        found = said.get(b"embedder", b"").decode() if mine else ""
        if not mine:
            self._table = None
        if embedder is not None and embedder != found:
            self.remove()
            found = embedder
        self._embedder = found
        return found

    def remove(self) -> None:
        """Remove all vectors."""
        self.lake.drop(VECTORS)
        self._table, self._embedder = None, ""

    def see(self, truth: Truth, now: Generation) -> None:
        """Find those of a generation from now on, as many as there are by now."""
        self.open(truth)
        self._now = now
        if self._table is not None:
            with self.lake.there():
                self._parts = len(self._table.list_indices())

    def embedded(self) -> int:
        """How many passages have vectors."""
        if self._table is None:
            return 0
        with self.lake.there():
            state = self._table.version, self._now.newest
            if self._counted[0] != state:
                there = self._table.count_rows(f"kind = {SEARCHED} AND passage <= {self._now.newest}")
                self._counted = state, int(there)
        return min(self._counted[1], self._now.passages)

    @property
    def indexed(self) -> bool:
        """True: an index is made and kept while vectors are added."""
        return True

    def lacking(self, truth: Truth, now: Generation) -> Iterator[list[Row]]:
        """Place, heading, text and question of passages without a vector; vectors of none are deleted."""
        assert isinstance(truth, PublishedTruth)
        view = truth.view(now)
        with self.lake.there():
            ids = arrow(view.passages, ["id"])["id"].to_numpy()
            there = np.empty(0, np.int64)
            if self._table is not None:
                columns = arrow(self._table, ["passage"], f"kind = {SEARCHED}")
                there = columns["passage"].to_numpy()
        self.drop(np.setdiff1d(there[there <= now.newest], ids).tolist())
        for rows in view.texts(0, _MANY):
            missing = ~np.isin([row[0] for row in rows], there)
            if missing.any():
                yield [row for row, wanted in zip(rows, missing.tolist(), strict=True) if wanted]
                self.keep()
        self._tidy()

    def add(self, entries: Sequence[tuple[int, int]], vectors: Vectors, now: Generation) -> None:
        """Take in the vectors of some places, each of a kind; they are kept together with some others."""
        self._waiting[0].extend(entries)
        self._waiting[1].append(vectors)

    def discard(self) -> None:
        """Forget the vectors that wait."""
        self._waiting = [], []

    def keep(self) -> None:
        """Keep the vectors that wait."""
        import pyarrow as pa

        entries, waiting = self._waiting
        self.discard()
        if not entries:
            return
        vectors = np.concatenate(waiting).astype(np.float64)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-30)
        width = vectors.shape[1]
        said = {"base": self._base, "embedder": self._embedder}
        fields = [("passage", pa.int64()), ("kind", pa.int8()), (_COLUMN, pa.list_(pa.float16(), width))]
        halves = pa.array(vectors.astype(np.float16).ravel())
        places, kinds = zip(*entries, strict=True)
        columns = [pa.array(places, pa.int64()), pa.array(kinds, pa.int8())]
        columns.append(pa.FixedSizeListArray.from_arrays(halves, width))
        data = pa.table(columns, schema=pa.schema(fields, metadata=said))
        with self.lake.there():
            if self._table is None:
                self._table = self.lake.make(VECTORS, data, over=True)
            else:
                self._table.add(data)

    def drop(self, places: list[int]) -> None:
        """Delete the vectors of passages that are no more."""
        if places and self._table is not None:
            with self.lake.there():
                for start in range(0, len(places), _MANY):
                    self._table.delete(any_of("passage", places[start : start + _MANY]))

    def _tidy(self) -> None:
        """Make the index where it is worth while, or bring it up to date."""
        from lancedb.index import BTree, IvfSq

        if self._table is None:
            return
        with self.lake.there():
            there = {each.columns[0]: each for each in self._table.list_indices()}
            if _COLUMN not in there and self._table.count_rows() >= INDEXED:
                self._table.create_index(_COLUMN, config=IvfSq(distance_type="dot"))
                self._table.create_index("passage", config=BTree())
            elif any(each.num_unindexed_rows > _LOOSE for each in there.values()):
                tidied(self._table)
                forget_old(self._table)

    def search(self, vector: Vectors, top: int) -> tuple[IntArray, FloatArray]:
        """The nearest passages and the cosines; one with a question counts with the nearer vector."""
        if self._table is None:
            return np.empty(0, np.int64), np.empty(0)
        unit = _unit(vector)
        with self.lake.there():
            query = self._table.search(unit, vector_column_name=_COLUMN).distance_type("dot")
            if self._parts:
                query = query.nprobes(self._probes()).refine_factor(2)
            found = query.select(["passage", _COLUMN, "_distance"]).limit(2 * top).to_arrow()
        cosines = _rows(found) @ unit.astype(np.float64)
        best: dict[int, float] = {}
        for place, cosine in zip(found["passage"].to_pylist(), cosines.tolist(), strict=True):
            best[place] = max(cosine, best.get(place, -1.0))
        return np.array(list(best), np.int64), np.array(list(best.values()), np.float64)

    def cosines(self, vector: Vectors, places: IntArray) -> tuple[FloatArray, FloatArray]:
        """Of each passage the cosines with its question and with its text; nan where there is no vector."""
        found = np.full((2, len(places)), np.nan)
        if self._table is not None and len(places):
            at = {place: number for number, place in enumerate(places.tolist())}
            unit = _unit(vector).astype(np.float64)
            with self.lake.there():
                for row in rows_of(self._table, ["passage", "kind", _COLUMN], "passage", list(at)):
                    cosine = np.asarray(row[_COLUMN], np.float64) @ unit
                    found[row["kind"], at[row["passage"]]] = cosine
        return found[QUESTION], found[SEARCHED]

    def _probes(self) -> int:
        """How many parts of the index a search looks into."""
        parts = max(1, round(self._now.passages / 8192))
        return max(20, -(-parts // _LOOKED))


def _unit(vector: Vectors) -> Vectors:
    """The vector with length 1, so that inner products are cosines; one without length stays."""
    length = float(np.linalg.norm(vector))
    return np.asarray(vector, np.float32) / np.float32(length or 1.0)


def _rows(found: Any) -> FloatArray:
    """The vectors of some rows."""
    chunks = found[_COLUMN].combine_chunks()
    width = chunks.type.list_size
    flat = chunks.flatten().to_numpy(zero_copy_only=False)
    return np.asarray(flat, np.float64).reshape(len(found), width)
