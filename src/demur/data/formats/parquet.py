"""Parquet (``pip install 'demur[parquet]'``): one pool per row.

Columns are id, question, candidates (a list of structs of id, text, label, extra) and extra; extras are
JSON texts, null where there are none. Other columns and other fields of a candidate, a ``score`` among them,
are extras too: lists and structs as JSON has them, a map as pairs, dates and decimal numbers as texts, nulls
not at all. Binary ones are left out, and a warning says so. Rows are read and written some at a time. A flat
table of question, answer and label, without candidates, is read as CSV is.
"""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from demur.data.formats.shared import columns
from demur.data.formats.shared.checks import Place, build_pool, label, repeated, unwritable
from demur.data.formats.shared.jsonlines import (
    Object,
    check_whole,
    checked_extra,
    encoded,
    id_of,
    kind,
    list_of,
    other_keys,
    text_of,
)
from demur.errors import DataError, require
from demur.files import is_pipe, opened, replacing
from demur.types import Candidate, Pool

_GROUP = 1 << 23  # characters of text that are written together
_NOTHING: frozenset[str] = frozenset()
_POOL = frozenset({"id", "question", "candidates", "extra"})
_CANDIDATE = frozenset({"id", "text", "label", "extra"})
_SIMPLE = frozenset({str, int, float, bool, type(None)})
_log = logging.getLogger(__name__)


def read_pools(path: str | Path) -> Iterator[Pool]:
    """The pools of a file, one at a time."""
    for _, found in each_row(path):
        if isinstance(found, DataError):
            raise found
        yield found


def each_row(path: str | Path) -> Iterator[tuple[int, Pool | DataError]]:
    """The pools of a file with their numbers; in place of a row that holds none, what is wrong with it.

    In a flat table a pool has many rows, so the first that is wrong is the end of it.
    """
    pyarrow, parquet = needed()
    with opened(path) as file, _sound(pyarrow, path):
        source = file if file.seekable() else io.BytesIO(file.read())
        if source.seek(0, io.SEEK_END) == 0:
            if is_pipe(path):  # as /dev/null
                return
            fix = "copy or download it again"
            raise DataError("is empty, and so no parquet file", path=path, fix=fix)
        table = parquet.ParquetFile(source)
        names = table.schema_arrow.names
        if "candidates" not in names:
            yield from enumerate(columns.pools(_cells(table, path), header=True), 1)
            return
        if (twice := repeated(names)) is not None:
            raise DataError(f"two columns are called {names[twice]!r}", path=path, fix="rename one of them")
        for number, row in enumerate(_rows(table, 64, path), 1):
            try:
                found: Pool | DataError = _pool(row, Place(path, None, f"row {number}"))
            except DataError as error:
                found = error
            yield number, found


@contextmanager
def _sound(pyarrow: Any, path: str | Path) -> Iterator[None]:
    try:
        yield
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = str(error).partition("\n")[0]
        fix = "copy or download it again, or say which format it is"
        raise DataError(f"broken parquet file ({reason})", path=path, fix=fix) from None


def _cells(table: Any, path: str | Path) -> Iterator[tuple[Place, list[str]]]:
    """A flat table as CSV would have it."""
    names = table.schema_arrow.names
    yield Place(path), names
    roles = {name: columns.role_of(name) for name in names}
    texts = [name for name in names if roles[name] in {"question", "answer"}]
    for number, row in enumerate(_rows(table, 1024, path), 1):
        place = Place(path, None, f"row {number}")
        if empty := [name for name in texts if row[name] is None]:
            raise place.error(f"{empty[0]!r} is null, not text", "write a text, or leave the row out")
        for name, value in row.items():
            if roles[name] and isinstance(value, list | dict):
                fix = "write one text to a row; lists of answers go into a column 'candidates'"
                raise place.error(f"{name!r} is {kind(value)}, not text", fix)
            try:
                row[name] = _plain(value) if isinstance(value, bytes | list | dict) else value
            except TypeError:
                if roles[name]:
                    raise place.error(f"{name!r} is binary, not text", "cast that column to text") from None
                _left_out(path, name)
                row[name] = None
        yield place, [_cell(value, roles[name]) for name, value in row.items()]


def _cell(value: object, role: str) -> str:
    """A value as a cell of CSV has it; lists and structs as JSON."""
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    if role == "label" and type(value) is bool:
        return str(int(value))
    return "" if value is None else str(value)


def _rows(table: Any, size: int, path: str | Path) -> Iterator[Object]:
    """The rows as Python has them, so many read at a time."""
    for batch in table.iter_batches(batch_size=size):
        values = [_column(*each, path) for each in zip(batch.schema.names, batch.columns, strict=True)]
        for row in zip(*values, strict=True):
            yield dict(zip(batch.schema.names, row, strict=True))


def _column(name: str, column: Any, path: str | Path) -> list[Any]:
    try:
        values: list[Any] = column.to_pylist()
    except UnicodeDecodeError:
        raise
    except (ValueError, OverflowError) as error:  # such as a time after the year 9999
        what = f"the column {name!r} cannot be read ({str(error).partition(chr(10))[0]})"
        raise DataError(what, path=path, fix="cast it to text, or leave it out") from None
    return values


@cache  # told once, however often a file is read
def _left_out(path: str | Path, name: str) -> None:
    _log.warning("%s: %r is left out, as it is binary; cast it to text to keep it", path, name)


def _pool(row: Object, place: Place) -> Pool:
    candidates = [
        _candidate(one, n, place) for n, one in enumerate(list_of(row, "candidates", place, dict), 1)
    ]
    return build_pool(
        id_of(row, "id", place), text_of(row, "question", place), candidates, place, _extra(row, _POOL, place)
    )


def _candidate(raw: Object, number: int, place: Place) -> Candidate:
    place = place._replace(inside=f"{place.inside}, candidate {number}")
    extra, mark = _extra(raw, _CANDIDATE, place), label(raw.get("label"), place)
    id, text = id_of(raw, "id", place), text_of(raw, "text", place)
    return Candidate(id, text, mark, extra) if extra else Candidate(id, text, mark)


def _extra(raw: Object, known: frozenset[str], place: Place) -> Object | None:
    """What a row or a candidate holds besides the known names: of other columns, and of the JSON in extra."""
    found: Object = {}
    for name, value in raw.items():
        if name in known:
            continue
        try:
            if value is not None:
                found[name] = float(value) if name == "score" and type(value) is Decimal else _plain(value)
        except TypeError:
            _left_out(place.path, name)
    if raw.get("extra") is not None:
        if twice := sorted(found.keys() & (said := _said(raw, place)).keys()):
            raise place.error(f"{twice[0]!r} is a column, and stands in 'extra', too", "rename one of them")
        found |= said
    return other_keys(found, _NOTHING, place) or None


def _plain(value: object) -> Any:
    """A value as JSON has it; a TypeError if it is binary."""
    if type(value) in _SIMPLE:
        return value
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, bytes):
        raise TypeError
    return str(value)


def _said(raw: Object, place: Place) -> Object:
    """The object that the JSON in extra says."""
    text = text_of(raw, "extra", place)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise place.error(f"'extra' is broken JSON ({error})", "write a JSON object, or null") from None
    if type(value) is not dict:
        raise place.error("'extra' is not a JSON object", "write a JSON object, or null")
    check_whole(text, value, place)
    found: Object = value
    return found


def write_pools(path: str | Path, pools: Iterable[Pool]) -> None:
    """Write any pools whose labels fit into 64 bits."""
    pyarrow, parquet = needed()
    text, label = pyarrow.string(), pyarrow.int64()
    candidate = pyarrow.struct([("id", text), ("text", text), ("label", label), ("extra", text)])
    schema = pyarrow.schema(
        [("id", text), ("question", text), ("candidates", pyarrow.list_(candidate)), ("extra", text)]
    )
    with replacing(path) as file, parquet.ParquetWriter(file.buffer, schema, compression="zstd") as writer:
        for group in _groups(pools, path):
            writer.write_batch(pyarrow.RecordBatch.from_pylist(group, schema=schema))


def _groups(pools: Iterable[Pool], path: str | Path) -> Iterator[list[Object]]:
    group: list[Object] = []
    size = 0
    for pool in checked(pools, path):
        row = _row(pool, path)
        size += len("".join([pool.id, pool.question, *pool.answers]).encode())  # half characters fail here
        group.append(row)
        if size >= _GROUP:
            yield group
            group, size = [], 0
    if group:
        yield group


def checked(pools: Iterable[Pool], path: str | Path) -> Iterator[Pool]:
    """The same pools, once it is sure that their labels fit."""
    for pool in pools:
        for one in pool.candidates:
            if one.label is not None and not -(2**63) <= one.label < 2**63:
                raise unwritable(pool, f"has the label {one.label}, more than 64 bits hold", path)
        yield pool


def _row(pool: Pool, path: str | Path) -> Object:
    candidates = []
    for one in pool.candidates:
        extra = encoded(checked_extra(one.extra, _NOTHING, pool, path)) if one.extra else None
        candidates.append({"id": one.id, "text": one.text, "label": one.label, "extra": extra})
    extra = encoded(checked_extra(pool.extra, _NOTHING, pool, path)) if pool.extra else None
    return {"id": pool.id, "question": pool.question, "candidates": candidates, "extra": extra}


def needed() -> tuple[Any, Any]:
    """The library that reads and writes parquet, or one line on how to get it."""
    return require("pyarrow", extra="parquet"), require("pyarrow.parquet", extra="parquet")
