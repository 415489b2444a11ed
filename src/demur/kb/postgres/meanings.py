"""The passages of a base by their meaning: vectors in halves of 32 bits, found by pgvector's HNSW."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

import numpy as np

from demur.embedders.base import Vectors
from demur.kb.postgres.server import Server
from demur.kb.postgres.words import SEEN, seen
from demur.kb.store.place import QUESTION, SEARCHED
from demur.kb.store.truth import Generation, Row, Truth
from demur.types import FloatArray, IntArray

_MANY = 4096
_LONG = 50_000  # vectors whose index takes long enough to be told
_LINKS = 800  # bytes of a vector's links, while the index is made
_MOST = 2048  # megabytes that making it may take; what is beyond is added one by one
_log = logging.getLogger(__name__)


class ServedMeanings:
    """The table of vectors, and its index."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.forget()

    def forget(self) -> None:
        """Forget what was read."""
        self._now, self._width, self._embedder = Generation(), 0, ""
        self._complete = 0, ""  # the last generation that had all its vectors, and of whom

    def open(self, truth: Truth, embedder: str | None = None) -> str:
        """The embedder whose vectors these are; with `embedder` those of another one go."""
        facts = truth.facts()
        self._embedder, self._width = facts.get("embedder", ""), int(facts.get("width", 0))
        if embedder is not None and embedder != self._embedder:
            with self.server.transaction():
                self.remove()
                self.server.execute("INSERT INTO facts VALUES ('embedder', ?)", (embedder,))
            self._embedder = embedder
        return self._embedder

    def remove(self) -> None:
        """Remove all vectors."""
        with self.server.transaction():
            self.server.execute(f"DROP INDEX IF EXISTS {self._near}")
            self.server.execute("TRUNCATE vectors")
            self.server.execute("DELETE FROM facts WHERE name IN ('embedder', 'width')")
        self._width, self._embedder = 0, ""

    def see(self, truth: Truth, now: Generation) -> None:
        """Find those of a generation from now on."""
        self.open(truth)
        self._now = now

    def embedded(self) -> int:
        """How many passages have vectors; once all have, they are not counted again."""
        now = self._now.number, self._embedder
        if now == self._complete:
            return self._now.passages
        count = f"SELECT count(*) FROM vectors WHERE kind = {SEARCHED} AND {SEEN}"
        found = int(self.server.rows(count, seen(self._now))[0][0])
        if found == self._now.passages:
            self._complete = now
        return found

    def lacking(self, truth: Truth, now: Generation) -> Iterator[list[Row]]:
        """Place, heading, text and question of passages without a vector, some at a time."""
        after = 0
        while True:
            found = truth.rows(
                "SELECT id, heading, text, question FROM passages WHERE id > ? AND id <= ? "
                "AND (died IS NULL OR died > ?) AND NOT EXISTS "
                f"(SELECT 1 FROM vectors WHERE passage = id AND kind = {SEARCHED}) ORDER BY id LIMIT ?",
                (after, now.newest, now.number, _MANY),
            )
            if not found:
                return
            yield found
            after = found[-1][0]

    def add(self, entries: Sequence[tuple[int, int]], vectors: Vectors, now: Generation) -> None:
        """Take in the vectors of some places, each of a kind: all of them, or none."""
        with self.server.transaction():
            if not self._width:
                self._width = vectors.shape[1]
                self.server.execute("INSERT INTO facts VALUES ('width', ?)", (str(self._width),))
            texts = (_written(_unit(vector)) for vector in vectors)
            self.server.executemany(
                "INSERT INTO vectors SELECT id, ?, ?::halfvec FROM passages WHERE id = ? "  # may just be gone
                "ON CONFLICT DO NOTHING",
                [(kind, text, place) for (place, kind), text in zip(entries, texts, strict=True)],
            )

    def search(self, vector: Vectors, top: int) -> tuple[IntArray, FloatArray]:
        """The nearest passages and the cosines; one with a question counts with the nearer vector."""
        if not self._width:
            return np.empty(0, np.int64), np.empty(0)
        column, asked = self._column(), _written(_unit(vector))
        rows = self.server.rows(
            f"SELECT passage, -({column} <#> ?::halfvec) FROM vectors WHERE {SEEN} "
            f"ORDER BY {column} <#> ?::halfvec LIMIT ?",
            (asked, *seen(self._now), asked, 2 * top),
        )
        best: dict[int, float] = {}
        for place, cosine in rows:
            best[place] = max(cosine, best.get(place, -1.0))
        return np.array(list(best), np.int64), np.array(list(best.values()), np.float64)

    def cosines(self, vector: Vectors, places: IntArray) -> tuple[FloatArray, FloatArray]:
        """Of each passage the cosines with its question and with its text; nan where there is no vector."""
        found = np.full((2, len(places)), np.nan)
        if self._width and len(places):
            at = {place: number for number, place in enumerate(places.tolist())}
            rows = self.server.rows(
                "SELECT passage, kind, -(vector <#> ?::halfvec) FROM vectors WHERE passage = ANY(?)",
                (_written(_unit(vector)), list(at)),
            )
            for place, kind, cosine in rows:
                found[kind, at[place]] = cosine
        return found[QUESTION], found[SEARCHED]

    @property
    def indexed(self) -> bool:
        """Whether the vectors have their index; without it a search compares all of them."""
        return not self._width or self.server.rows("SELECT to_regclass(?)", (self._near,))[0][0] is not None

    @property
    def _near(self) -> str:
        """The index's whole name, as the extension's schema may hold that of another base."""
        return f'"{self.server.address.schema}".vectors_near'

    def index(self) -> None:
        """Make the index if it is not there: of many vectors at once, as adding each takes far longer."""
        if self.indexed:
            return
        count = int(self.server.rows("SELECT count(*) FROM vectors")[0][0])
        if count >= _LONG:
            what = "%s: makes the index of %s vectors, once; this may take minutes, in which removals wait"
            _log.warning(what, self.server.address, f"{count:,}")
        megabytes = min(64 + count * (2 * self._width + _LINKS) // 2**20, _MOST)
        with self.server.transaction():  # in one process, as several want memory that containers seldom have
            self.server.execute("SET LOCAL max_parallel_maintenance_workers = 0")
            self.server.execute(f"SET LOCAL maintenance_work_mem = '{megabytes}MB'")
            self.server.execute(
                "CREATE INDEX IF NOT EXISTS vectors_near ON vectors "
                f"USING hnsw (({self._column()}) halfvec_ip_ops)"
            )

    def _column(self) -> str:
        return f"(vector::halfvec({self._width}))"


def _unit(vector: Vectors) -> FloatArray:
    """The vector with length 1, so that inner products are cosines; one without length stays."""
    found: FloatArray = np.asarray(vector, np.float64)
    return found / (float(np.linalg.norm(found)) or 1.0)


def _written(vector: FloatArray) -> str:
    return f"[{','.join(f'{each:.6g}' for each in vector.tolist())}]"
