"""The tables of kb.sqlite, and how such a file is opened, made, and brought up to date."""

from __future__ import annotations

import errno
import logging
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from demur import files
from demur.errors import DataError, LostBase, ReadOnlyBase, UnusableBase
from demur.paths import is_gone

_TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- One row for each change. The sums make a generation's size known at once, however large the base.
CREATE TABLE generations (
  number INTEGER PRIMARY KEY, mark TEXT NOT NULL, made REAL NOT NULL, what TEXT NOT NULL,
  sources INTEGER NOT NULL, passages INTEGER NOT NULL, words INTEGER NOT NULL,
  newest INTEGER NOT NULL, digest TEXT NOT NULL
) STRICT;

CREATE TABLE folders (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, name TEXT NOT NULL) STRICT;

-- A version of a file or of a named text: in the base from generation `born` until before `died`.
CREATE TABLE sources (
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, path TEXT,
  folder INTEGER REFERENCES folders ON DELETE SET NULL, kind TEXT NOT NULL, sha256 TEXT NOT NULL,
  size INTEGER NOT NULL, mtime INTEGER NOT NULL, checked INTEGER NOT NULL,
  born INTEGER NOT NULL, died INTEGER
) STRICT;
CREATE UNIQUE INDEX sources_by_name ON sources (name) WHERE died IS NULL;
CREATE UNIQUE INDEX sources_by_path ON sources (path) WHERE died IS NULL;

-- Passages that differ; an id is never used again, so it always means the same words.
CREATE TABLE passages (
  id INTEGER PRIMARY KEY AUTOINCREMENT, hash BLOB NOT NULL, heading TEXT NOT NULL, text TEXT NOT NULL,
  question TEXT NOT NULL, words INTEGER NOT NULL, born INTEGER NOT NULL, died INTEGER
) STRICT;
CREATE UNIQUE INDEX passages_by_hash ON passages (hash) WHERE died IS NULL;
CREATE INDEX passages_dead ON passages (died) WHERE died IS NOT NULL;

-- Where each passage stands. `part` is what follows the source's name, such as a page.
CREATE TABLE occurrences (
  source INTEGER NOT NULL REFERENCES sources, number INTEGER NOT NULL,
  passage INTEGER NOT NULL REFERENCES passages, name TEXT NOT NULL, part TEXT NOT NULL, line INTEGER,
  PRIMARY KEY (source, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX occurrences_by_passage ON occurrences (passage);

-- How many passages came and went between two generations, once they are deleted.
CREATE TABLE gone (
  born INTEGER NOT NULL, died INTEGER NOT NULL, passages INTEGER NOT NULL, PRIMARY KEY (born, died)
) STRICT, WITHOUT ROWID;

CREATE TABLE labels (
  id INTEGER PRIMARY KEY, question TEXT NOT NULL, hash BLOB, heading TEXT NOT NULL, text TEXT NOT NULL,
  label INTEGER NOT NULL, made REAL NOT NULL
) STRICT;
"""

_ASKED = """
-- Questions that people asked, or that somebody brought, to be labelled.
CREATE TABLE asked (question TEXT PRIMARY KEY, made REAL NOT NULL) STRICT;
"""

MIGRATIONS = (_TABLES, _ASKED)
"""What brings a file from each version to the next; the first makes an empty one. Only ever add to it."""

NAME = "kb.sqlite"
SQLITE = b"SQLite format 3\0"  # how such a file begins
_CACHE = 65_536  # KiB
_log = logging.getLogger(__name__)
_BUSY = 10_000  # milliseconds


class Empty(DataError):
    """A file that a kill left before it had become a base; the next change makes it one."""


@contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """Errors of SQLite as one clear line."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        said = str(error)
        if "readonly" in said:
            raise read_only(path.parent) from None
        if "full" in said or "disk I/O" in said:
            what, fix = f"cannot be written ({said})", "free space; nothing of this change was kept"
        elif "unable to open" in said:
            what, fix = f"cannot be opened or written ({said})", "change the folder's permissions"
        elif "locked" in said:
            what, fix = "is being written to by another program", "try again when it is done"
        elif isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError):
            raise  # a bug of ours
        else:
            what, fix = f"is broken ({said})", "put a copy of it back, or make the knowledge base again"
        raise UnusableBase(what, path=path, fix=fix) from None
    except UnicodeDecodeError as error:
        fix = "put a copy of it back, or make the knowledge base again"
        raise UnusableBase(f"is broken ({error.reason})", path=path, fix=fix) from None


def read_only(folder: Path) -> ReadOnlyBase:
    """The error that a base may not be written."""
    return ReadOnlyBase("may not be written", path=folder, fix="change the permissions of its folder")


def not_written(folder: Path, error: OSError) -> UnusableBase:
    """The error that something in a base's folder was not written."""
    if isinstance(error, FileNotFoundError):
        return lost(folder)
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return read_only(folder)
    what = f"cannot be written ({error.strerror})"
    return UnusableBase(what, path=folder, fix="free space, or look at its disk")


def lost(folder: Path) -> LostBase:
    """The error that a base is not there any more."""
    fix = "put it back, or make it again with demur kb add"
    return LostBase(f"is gone: there is no {NAME} any more", path=folder, fix=fix)


def open_database(path: Path, stem: str | None = None) -> Connection:
    """A connection to the file; with `stem` it is made if it is not there.

    Older files are brought up to date. Where nothing can be written, the file is read as it is.
    """
    if not holds(path) and stem is None:
        if remains(path.parent):
            fix = "put a copy of it back, or make the base anew: demur kb add BASE and its files"
            what = f"has lost its {NAME}, and with it all passages and labels"
            raise LostBase(what, path=path.parent, fix=fix)
        if not path.is_file():
            raise DataError("there is no knowledge base", path=path.parent, fix="make one with demur kb add")
    with sqlite_errors(path):
        connection = connected(path)
        try:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version > len(MIGRATIONS):
                what = f"was made by a newer demur (format {version}; this one knows {len(MIGRATIONS)})"
                raise DataError(what, path=path, fix="upgrade demur")
            if version < len(MIGRATIONS) and (version == 0 or may_write(path)):  # an older one can be read
                _migrate(connection, path, stem)
            connection.execute("SELECT count(*) FROM generations, facts").fetchone()
        except BaseException:
            connection.close()
            raise
    return connection


def holds(path: Path) -> bool:
    """Whether a base's file is there, and is not what a crash or a full disk left of it."""
    if is_gone(path):
        return False
    files.check_is_file(path, "name the folder of a base")
    log = path.with_name(f"{path.name}-wal")
    return path.stat().st_size > 0 or (log.is_file() and log.stat().st_size > 0) or not remains(path.parent)


def remains(folder: Path) -> bool:
    """Whether a folder holds what is derived of a base's file, though that file may be gone."""
    return (folder / "words" / "meta.json").is_file() or (folder / "meanings" / "vectors.sqlite").is_file()


class Connection(sqlite3.Connection):
    """A connection that is closed when nobody needs it any more, as bases may be left open."""

    as_it_was: tuple[object, ...] | None = None
    """The state of a file that is read with no regard to who writes it, as nothing can be kept beside it."""

    def is_outdated(self, path: Path) -> bool:
        """Whether what is read may not be what is there: then it is to be opened anew."""
        return self.as_it_was is not None and self.as_it_was != _state(path)

    def __del__(self) -> None:
        with suppress(sqlite3.ProgrammingError):  # it was never opened
            self.close()


def _state(path: Path) -> tuple[object, ...]:
    """What is another as soon as a file is, or as somebody writes it."""
    found: list[object] = []
    for each in (path, path.with_name(f"{path.name}-wal")):
        try:
            stat = each.stat()
            found.append((stat.st_ino, stat.st_size, stat.st_mtime_ns))
        except OSError:
            found.append(None)
    return tuple(found)


def connected(path: Path) -> Connection:
    """A connection to a file, made if it is not there; where nothing can be written, to read it as it is."""

    def connect(query: str) -> Connection:
        uri = f"{path.absolute().as_uri()}{query}"
        found = sqlite3.connect(
            uri,
            timeout=_BUSY / 1000,
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            factory=Connection,
        )
        try:
            found.execute("PRAGMA foreign_keys = ON")
            found.execute(f"PRAGMA cache_size = -{_CACHE}")
            found.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except BaseException:
            found.close()
            raise
        return found

    if not may_write(path):
        try:
            return connect("?mode=ro")
        except sqlite3.OperationalError:  # nor can the files beside it be made that readers share
            state = _state(path)
            found = connect("?immutable=1")
            found.as_it_was = state
            log = path.with_name(f"{path.name}-wal")
            if log.is_file() and log.stat().st_size:
                what = "holds changes that cannot be read without the right to write, so they are left out"
                _log.warning("%s: %s; whoever may write it opens it, and they are there", log, what)
            return found
    connection = connect("")
    connection.execute("PRAGMA journal_mode = WAL").fetchone()
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"PRAGMA journal_size_limit = {_CACHE * 1024}")
    return connection


def may_write(path: Path) -> bool:
    """Whether a base's file, or one in its folder if it is not there yet, may be written."""
    import os

    there = [each for each in (path, path.parent) if each.exists()]
    return all(os.access(each, os.W_OK) for each in there)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """A block that changes a file: all of it is kept, or nothing if the block fails."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _migrate(connection: sqlite3.Connection, path: Path, stem: str | None) -> None:
    """Bring the file up to date in one transaction; an empty one becomes a base."""
    with transaction(connection):
        version = connection.execute("PRAGMA user_version").fetchone()[0]  # another may have been faster
        if version == 0:
            if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                fix = "name another folder"
                raise DataError("is a database of something else", path=path, fix=fix)
            if stem is None:
                raise Empty("is empty", path=path, fix="add files to it with demur kb add")
        for script in MIGRATIONS[version:]:
            for statement in script.split(";\n"):
                if statement.strip():
                    connection.execute(statement)
        if version == 0:
            facts = {"base": secrets.token_hex(8), "stem": stem, "purged": "0"}
            connection.executemany("INSERT INTO facts VALUES (?, ?)", facts.items())
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
