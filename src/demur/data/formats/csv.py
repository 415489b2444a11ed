"""CSV with a header, quoted as RFC 4180 says, so that texts may hold commas, quotes and line breaks.

Semicolons or tabs may stand in place of the commas, as spreadsheets of many countries write them.

Columns are ``question``, ``answer`` and, where there are any, ``label``, ``question_id`` (or ``id``) and
``answer_id``; any others are extras of the candidate, as texts, but a ``score`` is a number. Rows with one
question that follow each other form a pool, or rows with one question id where there are ids. An extra called
``text`` cannot be written as JSONL, which needs that name.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from demur.data.formats.shared import columns
from demur.data.formats.shared.cells import broken, rows_of, says_separator
from demur.data.formats.shared.checks import Place
from demur.errors import DataError
from demur.files import opened, raw_lines, replacing
from demur.types import Pool


def read_pools(path: str | Path) -> Iterator[Pool]:
    """The pools of a file, one at a time."""
    return columns.pools(_cells(path), header=True)


def _cells(path: str | Path) -> Iterator[tuple[Place, Sequence[str]]]:
    reader = rows_of(_text(path))
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise broken(error, path, line) from None
        if line == 1 and says_separator(row):
            continue
        if len(row) > 1 or (row and not row[0].isspace()):
            yield Place(path, line), row


def _text(path: str | Path) -> Iterator[str]:
    """The lines with their ends, which belong to the text where they are quoted."""
    with opened(path) as file:
        for line, raw in raw_lines(file, path):
            raw = raw.removeprefix(b"\xef\xbb\xbf") if line == 1 else raw
            try:
                yield raw.decode("utf-8")
            except UnicodeDecodeError as error:
                what = f"byte 0x{raw[error.start]:02x} is not UTF-8"
                raise DataError(what, path=path, line=line, fix="save the file as UTF-8") from None


def write_pools(path: str | Path, pools: Iterable[Pool], more: Iterable[str] = ()) -> None:
    """Write pools with the columns question, answer, label, question_id, answer_id, then extras."""
    with replacing(path) as file:
        csv.writer(file).writerows(rows(pools, path, more))


def rows(pools: Iterable[Pool], path: str | Path, more: Iterable[str] = ()) -> Iterator[Sequence[str]]:
    """The cells of each row."""
    return (cells for _, cells in columns.table(pools, path, more))
