"""What a base in PostgreSQL holds: its tables, where each change is one transaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from demur.errors import LostBase
from demur.kb.postgres import tables
from demur.kb.postgres.server import Server
from demur.kb.postgres.words import index_words
from demur.kb.store.truth import Generation, Row, Statements, Truth


class ServedTruth(Truth):
    """The tables of a base."""

    def __init__(self, server: Server, stem: str | None) -> None:
        self.server, self.place = server, str(server.address)
        tables.prepare(server, stem)
        server.need_vectors()
        facts = self.facts()
        self.base, self.stem = facts["base"], facts["stem"]

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        """All rows of a statement."""
        return self.server.rows(statement, values)

    def batches(self, statement: str, values: Sequence[Any], many: int) -> Iterator[list[Row]]:
        """The rows of a statement, so many at a time."""
        return self.server.batches(statement, values, many)

    @contextmanager
    def transaction(self) -> Iterator[Statements]:
        """A block that changes the base: all of it is kept, or nothing if the block fails."""
        with self.server.alone("small") as first:
            if first:
                self.check()
            yield self.server

    @contextmanager
    def turn(self) -> Iterator[None]:
        """A block between whose statements nobody else changes passages: one transaction."""
        with self.server.alone("write") as first:
            if first:
                self.check()
            yield

    def index(self, before: Generation, number: int) -> None:
        """Index the words of passages that are new in a generation."""
        index_words(self.server, self.stem, before.newest, number)

    def check(self) -> None:
        """Refuse to go on if the tables are gone, or are those of another base or version."""
        facts = self.facts()
        if facts.get("base") != self.base:
            fix = "open it again; a server must be started again"
            raise LostBase("was replaced by another since it was opened", path=self.place, fix=fix)
        if facts["format"] != str(len(tables.MIGRATIONS)):
            what = f"was brought to format {facts['format']} by a newer demur"
            raise LostBase(what, path=self.place, fix="upgrade demur, and start it again")

    def close(self) -> None:
        """Close the connection."""
        self.server.close()
