"""Errors of PostgreSQL as one clear line, in which no password can be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from demur.errors import DataError, DemurError, LostBase, ReadOnlyBase, UnusableBase, UsageError
from demur.kb.postgres.address import Address

_CONNECTING = (
    ("password authentication failed", "refuses this user or password", "check both"),
    ("no password supplied", "wants a password", "set PGPASSWORD, or write it to ~/.pgpass"),
    ("no pg_hba.conf entry", "lets this user not in from here", "add a line to its pg_hba.conf"),
    ("pg_hba.conf rejects", "lets this user not in from here", "change the line of its pg_hba.conf"),
    ('role ".*" does not exist', "knows no such user", "check the user, or make one: createuser"),
    ("not permitted to log in", "lets this user not log in", "run ALTER ROLE … LOGIN there, or take another"),
    (
        "permission denied for database",
        "keeps this user out of the database",
        "run GRANT CONNECT ON DATABASE",
    ),
    ("authentication failed", "refuses this user", "check user, password and pg_hba.conf"),
    ('database ".*" does not exist', "has no such database", "make it with createdb, or check its name"),
    ("connection slots", "has no connection free", "close some, or raise its max_connections"),
    ("too many", "has no connection free", "close some, or raise its limit of connections"),
    ("starting up|not yet accepting|in recovery", "is only starting", "try again in a moment"),
    ("shutting down", "is shutting down", "try again when it is back"),
)
_FULL = {"53100": "its disk is full", "53200": "its memory is full", "57014": "it took too long"}


@contextmanager
def told(address: Address) -> Iterator[None]:
    """Errors of statements as one clear line."""
    import psycopg

    try:
        yield
    except psycopg.Error as error:
        raise line(address, error) from None


def line(address: Address, error: Any) -> Exception:
    """What to raise for an error of a statement: a bug of ours as it is, all else as one line."""
    import psycopg

    place, state, said = str(address), error.sqlstate or "", _first(error)
    if state == "55P03":
        return UsageError(f"{place}: another process writes to it; try again when it is done")
    if state == "42501":
        fix = "let its owner grant more: GRANT … TO the user of this address"
        return ReadOnlyBase(f"may not be written or read by this user ({said})", path=place, fix=fix)
    if state == "25006":
        fix = "name the server that is written to, not a copy of it"
        return ReadOnlyBase("may not be written: the server only reads", path=place, fix=fix)
    if state in ("42P01", "3F000"):
        return gone(address)
    if state in _FULL:
        fix = "see to the server; nothing of this change was kept"
        return UnusableBase(f"cannot be read or written ({_FULL[state]})", path=place, fix=fix)
    if "NUL" in said and isinstance(error, psycopg.DataError):
        return DataError("a text has a NUL character, which PostgreSQL keeps in none", fix="remove it")
    if isinstance(error, psycopg.IntegrityError | psycopg.ProgrammingError | psycopg.DataError):
        bug: Exception = error
        return bug
    if state.startswith("57P") or not state:
        fix = "try again when the server is there; nothing of this change was kept"
        return UnusableBase("has lost the connection to its server", path=place, fix=fix)
    return UnusableBase(f"cannot be read or written ({said})", path=place, fix="see to the server")


def not_connected(address: Address, error: Any) -> DemurError:
    """The error that there is no connection, and why."""
    import psycopg

    if isinstance(error, psycopg.ProgrammingError):  # its words may have parts of a password
        fix = "write it as postgresql://USER@HOST:PORT/DATABASE, with parameters of libpq"
        return UsageError(f"{address}: PostgreSQL cannot read this address; {fix}")
    said = str(error)
    if "invalid port number" in said or "invalid integer value" in said:
        return UsageError(f"{address}: {_first(error)}; write a port such as 5432")
    for words, what, fix in _CONNECTING:
        if re.search(words, said):
            return UnusableBase(f"cannot be reached: its server {what}", path=str(address), fix=fix)
    why = "its host is not known" if "resolve host" in said else _first(error)
    fix = "check host and port, and whether PostgreSQL runs there"
    return UnusableBase(f"cannot be reached: no server answers ({why})", path=str(address), fix=fix)


def gone(address: Address) -> LostBase:
    """The error that a base is not there any more."""
    fix = "put a backup of it back, or make it again with demur kb add"
    return LostBase("is gone: its tables are not there any more", path=str(address), fix=fix)


def _first(error: Any) -> str:
    """The first line that PostgreSQL said, without the server's address."""
    said = " ".join((str(error).strip().splitlines() or ["nothing was said"])[0].split())
    return said.rpartition("failed: ")[2][:160]
