"""Rows of CSV, whatever stands between their cells."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Protocol

from demur.errors import DataError
from demur.files import LONGEST_LINE

_SEPARATORS = ",;\t"  # what spreadsheets put between cells, by their country


class Rows(Protocol):
    """What Python's reader of CSV is."""

    line_num: int

    def __next__(self) -> list[str]:
        """The next row."""
        ...


def rows_of(lines: Iterator[str]) -> Rows:
    """The rows of a CSV, whose cells may be quoted.

    Cells are separated by commas; or by semicolons or tabs, if those alone stand in the first row.
    """
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_LINE))  # of the whole process: only raised
    head: list[str] = []
    for line in lines:
        head.append(line)
        if line.strip():
            break
    return csv.reader(chain(head, lines), delimiter=_separator(head), strict=True)


def broken(error: csv.Error, path: str | Path, line: int) -> DataError:
    """What is wrong with the row that starts there."""
    if "new-line" in str(error):
        fix = "save the file with line ends of Unix or Windows"
        return DataError("a line ends as on old Macs", path=path, line=line, fix=fix)
    fix = 'put quotes around texts with commas, and write " inside them as ""'
    return DataError(f"broken CSV in the row that starts here ({error})", path=path, line=line, fix=fix)


def says_separator(row: Sequence[str]) -> bool:
    """Whether this is the row in which Excel says what separates cells, which stands before the header."""
    return bool(row) and row[0].strip().lower().startswith("sep=")


def _separator(head: list[str]) -> str:
    first = head[-1].lstrip() if head else ""
    if says_separator([first]) and first[4:5] in _SEPARATORS:
        return first[4]
    bare = re.sub(r'"[^"]*"', "", first)
    return next((mark for mark in _SEPARATORS if mark in bare), ",")
