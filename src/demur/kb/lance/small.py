"""The small tables of a base, which are kept as one record: all but the passages and where these stand.

They are SQLite's, the same as in a folder, so the same statements change them and read them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from demur.kb.store import schema

BASE = "facts", "generations", "folders", "sources", "gone"
NOTES = "labels", "asked"
LARGE = "passages", "occurrences"


class Kept(sqlite3.Connection):
    """A connection that is closed when nobody needs it any more."""

    def __del__(self) -> None:
        self.close()


def empty(tables: Sequence[str] = (*BASE, *NOTES, *LARGE)) -> Kept:
    """A database, in memory as far as there is room, that has these tables of a base."""
    made = sqlite3.connect("", isolation_level=None, check_same_thread=False, factory=Kept)
    for script in schema.MIGRATIONS:
        made.executescript(script)
    for table in (*LARGE, *BASE, *NOTES):  # those first that name others
        if table not in tables:
            made.execute(f"DROP TABLE {table}")
    made.execute("PRAGMA foreign_keys = ON")
    return made


def opened(content: bytes) -> Kept:
    """The database that was kept."""
    made = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False, factory=Kept)
    made.deserialize(content)
    return made


def poured(content: bytes, into: sqlite3.Connection) -> None:
    """Fill the small tables of a database with those that were kept."""
    into.execute("ATTACH ':memory:' AS kept")
    into.deserialize(content, name="kept")
    for table in BASE:
        into.execute(f"INSERT INTO main.{table} SELECT * FROM kept.{table}")
    into.execute("DETACH kept")


def taken(of: sqlite3.Connection) -> bytes:
    """The small tables of a database, to be kept."""
    of.execute("ATTACH ':memory:' AS kept")
    try:
        of.deserialize(empty(BASE).serialize(), name="kept")
        for table in BASE:
            of.execute(f"INSERT INTO kept.{table} SELECT * FROM main.{table}")
        return of.serialize(name="kept")
    finally:
        of.execute("DETACH kept")


class Noted:
    """Statements that change labels and questions, kept to be said again where another was faster."""

    def __init__(self, content: bytes) -> None:
        self.database = opened(content)
        self._said: list[tuple[str, Sequence[Any], bool]] = []

    def execute(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """The rows of a statement, to be fetched."""
        self._said.append((statement, values, False))
        return self.database.execute(statement, values)

    def executemany(self, statement: str, values: Any) -> Any:
        """A statement for each of several rows of values."""
        many = list(values)
        self._said.append((statement, many, True))
        return self.database.executemany(statement, many)

    def again(self, content: bytes) -> Noted:
        """The same statements, said to what was kept meanwhile."""
        made = Noted(content)
        for statement, values, many in self._said:
            made.executemany(statement, values) if many else made.execute(statement, values)
        return made
