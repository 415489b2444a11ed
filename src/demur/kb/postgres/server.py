"""A connection to the database of a base; made again if it was lost between two statements."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import Any

from demur.errors import DataError, UsageError, require
from demur.kb.postgres.address import Address
from demur.kb.postgres.lines import line, not_connected, told
from demur.kb.store.truth import Row

_LONGEST = 10  # seconds to wait for a server
_NEAR = 400  # vectors that a search of HNSW keeps in sight
_VECTOR = "vector"  # the extension
_OLDEST = 0, 8  # of pgvector: the first whose search goes on where a filter took what it had found


class Server:
    """The connection; threads may share it."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.lock = RLock()
        self.wait = 60.0
        """Seconds to wait for another who writes."""
        self._connection: Any = None
        self._depth = 0
        self.vectors_in = ""
        """The schema of the extension vector; empty where the database has none."""
        require("psycopg", extra="postgres")
        logging.getLogger("psycopg").addHandler(logging.NullHandler())  # what it warns of is an error of ours

    def connection(self) -> Any:
        """The connection, made if there is none."""
        if self._connection is None or (self._connection.closed and not self._depth):
            self._connection = self._connected()
            self._settle()
        return self._connection

    def close(self) -> None:
        """Close the connection."""
        with self.lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def __del__(self) -> None:
        self.close()  # as bases may be left open

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        """All rows of a statement; outside a transaction it is tried again once if the connection is lost."""
        import psycopg

        with self.lock, told(self.address):
            try:
                return self._rows(statement, values)
            except psycopg.OperationalError:
                if self._depth or not self._connection.closed:
                    raise
                return self._rows(statement, values)

    def batches(self, statement: str, values: Sequence[Any], many: int) -> Iterator[list[Row]]:
        """The rows of a statement, so many at a time."""
        with self.transaction(), self.connection().cursor(name="batches") as cursor:
            cursor.execute(_marked(statement), values)
            while some := cursor.fetchmany(many):
                yield some

    def execute(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """The cursor of a statement."""
        with self.lock, told(self.address):
            return self.connection().execute(_marked(statement), values, prepare=False)

    def executemany(self, statement: str, values: Iterable[Sequence[Any]]) -> None:
        """A statement for each of several rows of values."""
        with self.lock, told(self.address), self.connection().cursor() as cursor:
            cursor.executemany(_marked(statement), values)

    @contextmanager
    def transaction(self) -> Iterator[Server]:
        """A block whose statements are kept together or not at all; inside another it is a part of that."""
        with self.lock, told(self.address), self.connection().transaction():
            self._depth += 1
            try:
                yield self
            finally:
                self._depth -= 1

    @contextmanager
    def alone(self, name: str) -> Iterator[bool]:
        """A transaction of a kind that one client at a time is in; whether it is no part of another."""
        with self.transaction():
            first = self._depth == 1
            if first:
                self.execute(f"SET LOCAL lock_timeout = {max(1, int(1000 * self.wait))}")
                self.execute("SELECT pg_advisory_xact_lock(?)", (self.key(name),))
                self.execute("SET LOCAL lock_timeout TO DEFAULT")
            yield first

    def key(self, name: str) -> int:
        """The number of a lock of this base, among those of its database."""
        said = f"demur {self.address.schema} {name}".encode()
        return int.from_bytes(hashlib.blake2b(said, digest_size=8).digest(), "big", signed=True)

    def need_vectors(self) -> None:
        """Make the extension vector usable, or say how."""
        if not self.vectors_in:
            self._make_extension()
            self._settle()
        found = self.rows("SELECT extversion FROM pg_extension WHERE extname = 'vector'")[0][0]
        if tuple(map(int, found.split(".")[:2])) < _OLDEST:
            fix = "install 0.8 or newer on the server, then run ALTER EXTENSION vector UPDATE"
            raise DataError(f"pgvector {found} is too old", path=str(self.address), fix=fix)

    def _make_extension(self) -> None:
        import psycopg

        place, make = str(self.address), f"CREATE EXTENSION {_VECTOR}"
        if not self.rows("SELECT 1 FROM pg_available_extensions WHERE name = ?", (_VECTOR,)):
            fix = f"install pgvector there, and run {make} in the database"
            raise DataError("the server has no extension vector", path=place, fix=fix)
        try:
            with self.lock, self.connection().transaction():
                made = f"CREATE EXTENSION IF NOT EXISTS {_VECTOR} SCHEMA public"
                self.connection().execute(made)
        except psycopg.errors.InsufficientPrivilege:
            fix = f"let a superuser run {make} there"
            raise DataError(
                "the database has no extension vector, and this user may not make it", path=place, fix=fix
            ) from None
        except psycopg.errors.UniqueViolation:
            pass  # another was faster
        except psycopg.Error as error:
            raise line(self.address, error) from None

    def _connected(self) -> Any:
        import psycopg

        try:
            given = psycopg.conninfo.conninfo_to_dict(self.address.url)
            more = {"connect_timeout": _LONGEST, "application_name": "demur", "client_encoding": "utf8"}
            made = psycopg.connect(**{**more, **given}, autocommit=True)
        except psycopg.Error as error:
            raise not_connected(self.address, error) from None
        made.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
        return made

    def _settle(self) -> None:
        """Set what holds for a connection: where its tables are, and how vectors are searched."""
        found = self._connection.execute(
            "SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace "
            "WHERE e.extname = 'vector'"
        ).fetchall()
        self.vectors_in = found[0][0] if found else ""
        path = ", ".join(f'"{each}"' for each in (self.address.schema, self.vectors_in) if each)
        self._connection.execute(f"SET search_path TO {path}")
        if found:
            self._connection.execute(f"SET hnsw.ef_search = {_NEAR}")
            self._connection.execute("SET hnsw.iterative_scan = strict_order")

    def _rows(self, statement: str, values: Sequence[Any]) -> list[Row]:
        cursor = self.connection().execute(_marked(statement), values, prepare=False)
        found: list[Row] = cursor.fetchall()
        return found


def _marked(statement: str) -> str:
    """The statement with the marks for values that psycopg takes."""
    return statement.replace("?", "%s")


def busy(address: Address) -> UsageError:
    """The error that somebody else is at it."""
    return UsageError(f"{address}: another process writes to it; try again when it is done")
