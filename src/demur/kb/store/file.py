"""The tables of a base in a folder: the file kb.sqlite."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any

from demur.errors import LostBase
from demur.kb.store import schema
from demur.kb.store.truth import Generation, Row, Truth


def _identity(path: Path) -> tuple[int, int] | None:
    """What tells a file from any other that has its path before or after."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino


class FileTruth(Truth):
    """The file kb.sqlite; threads may share it."""

    def __init__(self, path: Path, stem: str | None = None) -> None:
        self.path, self.place = path, path.parent
        self.connection = schema.open_database(path, stem)
        self._file = _identity(path)
        self.lock = RLock()
        facts = self.facts()
        self.base, self.stem = facts["base"], facts["stem"]

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        """All rows of a statement."""
        with self.lock, schema.sqlite_errors(self.path):
            if self.connection.as_it_was is None:
                return self.connection.execute(statement, values).fetchall()
            return self._rows_of_one_state(statement, values)

    def _rows_of_one_state(self, statement: str, values: Sequence[Any], tries: int = 5) -> list[Row]:
        """All rows of a statement, of a file that others may write though nothing here says so."""
        if self.connection.is_outdated(self.path):
            self.connection.close()
            self.connection = schema.open_database(self.path)
        try:
            found = self.connection.execute(statement, values).fetchall()
        except sqlite3.DatabaseError:
            if not tries or not self.connection.is_outdated(self.path):
                raise
        else:
            if not tries or not self.connection.is_outdated(self.path):
                return found
        return self._rows_of_one_state(statement, values, tries - 1)

    def batches(self, statement: str, values: Sequence[Any], many: int) -> Iterator[list[Row]]:
        """The rows of a statement, so many at a time."""
        with schema.sqlite_errors(self.path):
            found = self.connection.execute(statement, values)
            while some := found.fetchmany(many):
                yield some

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A block that changes the file: all of it is kept, or nothing if the block fails."""
        self.check()
        with self.lock, schema.sqlite_errors(self.path), schema.transaction(self.connection):
            yield self.connection
            self.check()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """A block between whose statements nobody else changes the base, as who writes holds a lock."""
        yield

    def index(self, before: Generation, number: int) -> None:
        """Do nothing: the index of words follows when all changes are made."""

    def check(self) -> None:
        """Refuse to go on if the open file is not the one that lies there: what it takes in would be lost."""
        there = _identity(self.path)
        if there is None:
            raise schema.lost(self.path.parent)
        if there != self._file:
            fix = "open it again; a server must be started again"
            raise LostBase("was replaced by another since it was opened", path=self.place, fix=fix)

    def close(self) -> None:
        """Close the file."""
        self.connection.close()
