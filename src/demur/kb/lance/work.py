"""A writer's copy of what changes need: small tables whole, and of passages all but their texts.

What is new is published together: first the rows, then the record that names the versions of the tables.
Until that is changed, nobody sees them; what a kill left behind is taken back by the next who writes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Connection
from threading import RLock
from typing import TYPE_CHECKING, Any

from demur.errors import UnusableBase
from demur.kb.index.words import hexed
from demur.kb.lance.lake import Lake, Record, any_of, arrow, forget_old, tidied
from demur.kb.lance.lines import busy
from demur.kb.lance.small import empty, poured, taken
from demur.kb.lance.view import OCCURRENCES, PASSAGES, View
from demur.kb.store import schema
from demur.kb.store.changing import purge
from demur.kb.store.truth import Row
from demur.tokens import hash_words

if TYPE_CHECKING:
    from demur.kb.lance.truth import PublishedTruth

_MANY = 4096  # passages whose words are hashed together
_REMOVED = 5000  # rows that one deletion names
_PARTS, _LOOSE = 20, 1000  # small parts of a table, and rows in none of its indexes, that are too many


class Work:
    """The copy; it is of use as long as nobody else has published."""

    def __init__(self, view: View) -> None:
        self.lake, self.lock, self.turn, self.since = view.lake, RLock(), view.turn, view.generation
        self.place = Path(tempfile.gettempdir())
        self.connection = empty()
        self.tables = {name: self._as_published(view, name) for name in (PASSAGES, OCCURRENCES)}
        with self.lake.there(), self._errors():
            poured(view.content, self.connection)
            self._fill(PASSAGES, ("id", "hash", "words", "born"), "?, ?, '', '', '', ?, ?, NULL")
            columns = "source", "number", "passage", "name", "part", "line"
            self._fill(OCCURRENCES, columns, "?, ?, ?, ?, ?, ?")
            above = "INSERT INTO sqlite_sequence VALUES ('passages', ?)"  # no place is used again
            self.connection.execute("DELETE FROM sqlite_sequence WHERE name = 'passages'")
            self.connection.execute(above, (view.generation.newest,))
        self._before = self.connection.total_changes

    def _as_published(self, view: View, name: str) -> Any:
        """A table to write to; what an unpublished change has left in it is taken back."""
        with self.lake.there():
            table, wanted = self.lake.table(name), int(view.facts[name])
            if table.version != wanted:
                table.checkout(wanted)
                table.restore()
            return table

    def as_left(self) -> bool:
        """Whether nobody has written to the tables meanwhile, not even in vain."""
        with self.lake.there():
            return all(self.lake.table(name).version == each.version for name, each in self.tables.items())

    def _fill(self, name: str, columns: Sequence[str], marks: str) -> None:
        given = ["length" if each == "words" else each for each in columns]
        for batch in arrow(self.tables[name], given).to_batches():
            values = zip(*(batch[each].to_pylist() for each in given), strict=True)
            with schema.transaction(self.connection):
                self.connection.executemany(f"INSERT INTO {name} VALUES ({marks})", values)

    @property
    def changed(self) -> bool:
        """Whether anything has changed since the last publishing."""
        return self.connection.total_changes != self._before

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        """All rows of a statement."""
        with self.lock, self._errors():
            return self.connection.execute(statement, values).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """A block that changes the copy: all of it is kept, or nothing if the block fails."""
        with self.lock, self._errors(), schema.transaction(self.connection):
            yield self.connection

    def _errors(self) -> Any:
        return schema.sqlite_errors(self.place / schema.NAME)

    def publish(self, truth: PublishedTruth, record: Record) -> list[int]:
        """Let others see what has changed; the places of passages that are no more."""
        before, now = self.since, truth.generation()
        removed = self._ids("SELECT id FROM passages WHERE born <= ? AND died IS NOT NULL", before.number)
        left = self._ids("SELECT id FROM sources WHERE born <= ? AND died IS NOT NULL", before.number)
        with self.lake.there():
            self._remove(PASSAGES, "id", removed)
            self._remove(OCCURRENCES, "source", left)
            purge(truth, now.number, 0)
            self._add(PASSAGES, self._new_passages(truth.stem, before.number))
            self._add(OCCURRENCES, self._new_occurrences(before.number))
            self._commit(record)
            self.since = now
            self.connection.execute("UPDATE passages SET heading = '', text = '', question = ''")
            self._tidy()
        self._before = self.connection.total_changes
        return removed

    def index_anew(self) -> None:
        """Make the index of words anew; it is seen when it is published."""
        with self.lake.there():
            _index_words(self.tables[PASSAGES])
        self._before = -1

    def _ids(self, statement: str, number: int) -> list[int]:
        return [id for (id,) in self.rows(statement, (number,))]

    def _remove(self, name: str, column: str, values: list[int]) -> None:
        for start in range(0, len(values), _REMOVED):
            self.tables[name].delete(any_of(column, values[start : start + _REMOVED]))

    def _add(self, name: str, batches: Iterator[Any]) -> None:
        import pyarrow as pa

        if (first := next(batches, None)) is None:
            return

        def every() -> Iterator[Any]:
            yield first
            yield from batches

        self.tables[name].add(pa.RecordBatchReader.from_batches(first.schema, every()))

    def _new_passages(self, stem: str, after: int) -> Iterator[Any]:
        import pyarrow as pa

        cursor = self.connection.execute(
            "SELECT id, hash, heading, text, question, words, born FROM passages WHERE born > ? ORDER BY id",
            (after,),
        )
        while some := cursor.fetchmany(_MANY):
            hashes, counts = hash_words([f"{row[2]}\n{row[3]}" if row[2] else row[3] for row in some], stem)
            words, start, lines = hexed(hashes), 0, []
            for count in counts.tolist():
                lines.append(" ".join(words[start : start + count]))
                start += count
            yield pa.record_batch([*zip(*some, strict=True), lines], schema=passages_schema())

    def _new_occurrences(self, after: int) -> Iterator[Any]:
        import pyarrow as pa

        cursor = self.connection.execute(
            "SELECT * FROM occurrences WHERE source IN (SELECT id FROM sources WHERE born > ?)", (after,)
        )
        while some := cursor.fetchmany(_MANY):
            yield pa.record_batch([*zip(*some, strict=True)], schema=occurrences_schema())

    def _commit(self, record: Record) -> None:
        """Change the record, if the tables hold what they must and nobody else has changed it."""
        for name, table in self.tables.items():
            count = self.connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]
            if table.count_rows() != count:
                what = "was written to by another process at the same time"
                fix = "run the command again; nothing of this change was kept"
                raise UnusableBase(what, path=str(self.lake.address), fix=fix)
        self._name_versions()
        if record.turn != self.turn or not self.lake.change("base", record, taken(self.connection)):
            raise busy(self.lake.address)

    def _name_versions(self) -> None:
        told = [(str(table.version), name) for name, table in self.tables.items()]
        self.connection.executemany("UPDATE facts SET value = ? WHERE name = ?", told)

    def _tidy(self) -> None:
        """Join small parts and index what is in none yet, where there is much of it; forget old versions."""
        untidy = [table for table in self.tables.values() if _untidy(table)]
        if not untidy:
            return
        for table in untidy:
            tidied(table)
        self.turn += 1
        self._commit(self.lake.records()["base"])
        for table in untidy:
            forget_old(table)


def _untidy(table: Any) -> bool:
    if table.stats()["fragment_stats"]["num_small_fragments"] > _PARTS:
        return True
    stats = (table.index_stats(each.name) for each in table.list_indices())
    return any(each is not None and each.num_unindexed_rows > _LOOSE for each in stats)


def passages_schema() -> Any:
    """The columns of passages; `words` has them as hashes, as often as they are there."""
    import pyarrow as pa

    texts = [pa.field(name, pa.string()) for name in ("heading", "text", "question")]
    numbers = [pa.field(name, pa.int64()) for name in ("length", "born")]
    hash = pa.field("hash", pa.binary(16))
    return pa.schema([pa.field("id", pa.int64()), hash, *texts, *numbers, pa.field("words", pa.string())])


def occurrences_schema() -> Any:
    """The columns of where passages stand."""
    import pyarrow as pa

    kinds = {"name": pa.string(), "part": pa.string()}
    names = "source", "number", "passage", "name", "part", "line"
    return pa.schema([pa.field(name, kinds.get(name, pa.int64())) for name in names])


def make_tables(lake: Lake) -> dict[str, int]:
    """The versions of new tables, with their indexes."""
    from lancedb.index import BTree

    passages = lake.make(PASSAGES, schema=passages_schema(), over=True)
    occurrences = lake.make(OCCURRENCES, schema=occurrences_schema(), over=True)
    for name in ("id", "hash"):
        passages.create_index(name, config=BTree())
    _index_words(passages)
    for name in ("passage", "source", "name"):
        occurrences.create_index(name, config=BTree())
    return {PASSAGES: passages.version, OCCURRENCES: occurrences.version}


def _index_words(passages: Any) -> None:
    from lancedb.index import FTS

    blanks = FTS(
        base_tokenizer="whitespace",
        stem=False,
        lower_case=False,
        remove_stop_words=False,
        ascii_folding=False,
        max_token_length=None,
    )
    passages.create_index("words", config=blanks, replace=True)
