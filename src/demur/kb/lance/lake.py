"""The tables of LanceDB in a folder of a bucket, and a table of records that change all at once."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from threading import RLock
from typing import Any
from urllib.parse import urlsplit

from demur.errors import DataError, UsageError, require
from demur.kb.lance.address import Bucket
from demur.kb.lance.lines import NoTable, gone, told

FORMAT = 1
"""The version of all tables; those of a newer one are refused."""
RECORDS = "records"
_ENDPOINT = "AWS_ENDPOINT_URL"
_IN = 1000  # values that one condition names
_OFTEN = 20  # changes of records after which old ones are deleted
_KEPT = timedelta(hours=1)
_NEVER = timedelta(days=36_500)
_OPTIONS = {"client_max_retries": "3", "client_retry_timeout": "20s", "connect_timeout": "5s"}


@dataclass(frozen=True)
class Record:
    """Something that is kept whole: its turn is higher after each change."""

    turn: int
    base: str
    content: bytes


class Lake:
    """The tables; threads may share it."""

    def __init__(self, address: Bucket) -> None:
        os.environ.setdefault("LANCEDB_LOG", "error")  # what it warns of is no news to anybody
        require("lancedb", extra="lance")
        self.address, self.lock = address, RLock()
        self._db: Any = None
        self._records: Any = None
        self._known: dict[str, Record] = {}
        self._version = 0

    def database(self) -> Any:
        """The connection, made when it is first needed."""
        with self.lock:
            if self._db is None:
                import lancedb

                plain = _endpoint().startswith("http://")
                options = {**_OPTIONS, "allow_http": "true"} if plain else _OPTIONS
                self._db = lancedb.connect(self.address.url, storage_options=options)
            return self._db

    def table(self, name: str, version: int | None = None) -> Any:
        """A table, as it is now or as it was."""
        with told(self.address):
            try:
                found = self.database().open_table(name)
            except ValueError as error:
                if "was not found" in str(error):
                    raise NoTable(name) from None
                raise
            if version is not None and found.version != version:
                found.checkout(version)
            return found

    def make(self, name: str, data: Any = None, schema: Any = None, over: bool = False) -> Any:
        """A new table; where it is there already that one, or another in its place."""
        with told(self.address):
            mode = "overwrite" if over else "create"
            return self.database().create_table(name, data, schema=schema, mode=mode, exist_ok=not over)

    def drop(self, name: str) -> None:
        """Remove a table if it is there."""
        with told(self.address):
            self.database().drop_table(name, ignore_missing=True)

    def records(self) -> dict[str, Record]:
        """All records as they are now; of these only those that have changed are read."""
        with self.lock, told(self.address):
            try:
                if self._records is not None:
                    self._records.checkout_latest()
                    if self._records.version == self._version:
                        return self._known
            except RuntimeError as error:
                if "Not found" not in str(error):
                    raise
                self._db = self._records = None
                self._known = {}
            if self._records is None:
                self._records = self.table(RECORDS)
            version = self._records.version
            self._known = self._read(self._records)
            self._version = version
            return self._known

    def _read(self, table: Any) -> dict[str, Record]:
        turns = rows(table, ["name", "turn", "base", "format"])
        newest = max((row["format"] for row in turns), default=FORMAT)
        if newest > FORMAT:
            what = f"was made by a newer demur (format {newest}; this one knows {FORMAT})"
            raise DataError(what, path=str(self.address), fix="upgrade demur")
        changed = [row["name"] for row in turns if self._of(row["name"]) != (row["turn"], row["base"])]
        found = {name: record for name, record in self._known.items() if name not in changed}
        if changed:
            for row in rows(table, ["name", "turn", "base", "content"], any_of("name", changed)):
                content = zlib.decompress(row["content"])
                found[row["name"]] = Record(row["turn"], row["base"], content)
        return found

    def _of(self, name: str) -> tuple[int, str] | None:
        known = self._known.get(name)
        return None if known is None else (known.turn, known.base)

    def first(self, base: str, contents: dict[str, bytes]) -> None:
        """Make the records of a new base, unless somebody was faster."""
        names = list(contents)
        self.make(RECORDS, self._table(names, [0] * len(names), base, [contents[name] for name in names]))

    def change(self, name: str, before: Record, content: bytes) -> bool:
        """Whether a record is changed: not if somebody has changed it since it was read."""
        with self.lock, told(self.address):
            turn = before.turn + 1
            made = self._table([name], [turn], before.base, [content])
            table = self.table(RECORDS)
            same = f"target.turn = {before.turn} AND target.base = '{before.base}'"
            done = table.merge_insert("name").when_matched_update_all(where=same).execute(made)
            if not done.num_updated_rows:
                return False
            if turn % _OFTEN == 0:
                table.optimize(cleanup_older_than=_KEPT)
            return True

    def _table(self, names: list[str], turns: list[int], base: str, contents: list[bytes]) -> Any:
        import pyarrow as pa

        columns = {
            "name": pa.array(names, pa.string()),
            "turn": pa.array(turns, pa.int64()),
            "base": pa.array([base] * len(names), pa.string()),
            "format": pa.array([FORMAT] * len(names), pa.int32()),
            "content": pa.array([zlib.compress(each, 1) for each in contents], pa.large_binary()),
        }
        return pa.table(columns)

    @contextmanager
    def there(self) -> Iterator[None]:
        """A block in which a table that is missing means that the base is gone."""
        try:
            with told(self.address):
                yield
        except NoTable:
            raise gone(str(self.address)) from None


def _endpoint() -> str:
    """The server that AWS_ENDPOINT_URL names, if it is set; LanceDB panics at one that is none."""
    named = os.environ.get(_ENDPOINT)
    if named is None:
        return ""
    try:
        parts = urlsplit(named)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound:
        fix = "write http://HOST:PORT or https://HOST, or unset it for Amazon's own"
        raise UsageError(f"the environment's {_ENDPOINT} names no server; {fix}")
    return named


def rows(table: Any, columns: Sequence[str], where: str = "") -> list[dict[str, Any]]:
    """The rows of a table that meet a condition."""
    return list(arrow(table, columns, where).to_pylist())


def arrow(table: Any, columns: Sequence[str], where: str = "") -> Any:
    """The same as columns."""
    query = table.search().select(list(columns))
    return (query.where(where) if where else query).to_arrow()


def rows_of(
    table: Any, columns: Sequence[str], name: str, values: Sequence[Any], also: str = ""
) -> Iterator[dict[str, Any]]:
    """The rows whose column has one of these values, however many these are."""
    for start in range(0, len(values), _IN):
        yield from rows(table, columns, any_of(name, values[start : start + _IN]) + also)


def any_of(name: str, values: Sequence[Any]) -> str:
    """The condition that a column has one of these values."""
    return f"{name} IN ({', '.join(map(_written, values))})"


def _written(value: Any) -> str:
    if isinstance(value, bytes):
        return f"X'{value.hex()}'"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(int(value))


def tidied(table: Any) -> int:
    """The version of a table in which few parts are small, and what is new is in its indexes."""
    table.optimize(cleanup_older_than=_NEVER)
    return int(table.version)


def forget_old(table: Any) -> None:
    """Delete what only versions have that nobody needs to read any more."""
    table.optimize(cleanup_older_than=_KEPT)
