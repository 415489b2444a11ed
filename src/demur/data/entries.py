"""Entries with a text under one of several names, from files that are no pools: what JSONL and CSV share."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from demur.data.formats.shared.cells import broken, rows_of, says_separator
from demur.data.formats.shared.checks import Place
from demur.data.formats.shared.jsonlines import shown_list
from demur.errors import count_of
from demur.files import lines

TEXT = ("text", "passage", "body", "answer")


def csv_entries(path: str | Path) -> Iterator[tuple[Place, dict[str, str]]]:
    """Each row by the names of its columns, which the first row says, one of them for the text."""
    rows = rows_of(f"{line}\n" for _, line in lines(path))
    columns: list[str] = []
    while True:
        place = Place(path, rows.line_num + 1)
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            raise broken(error, path, place.line or 1) from None
        if not any(cell.strip() for cell in row):
            continue
        if not columns and says_separator(row):
            continue
        if not columns:
            columns = [name.strip().lower() for name in row]
            if twice := [name for name in dict.fromkeys(columns) if name and columns.count(name) > 1]:
                raise place.error(f"two columns are called {shown_list(twice[0])}", "rename one of them")
            name_of_text(columns, place, ", as the first row names the columns")
        elif len(row) != len(columns):
            what = f"{count_of(len(row), 'cell')} in this row, but {len(columns)} in the header"
            raise place.error(what, "put quotes around cells that hold what separates them")
        else:
            yield place, dict(zip(columns, row, strict=True))


def text_in(entry: Mapping[str, Any], place: Place) -> str:
    """The text of an entry."""
    name = name_of_text(entry, place)
    text = entry[name]
    if not isinstance(text, str):
        raise place.error(f"{name!r} is not text but {json.dumps(text)[:40]}", f"write {name!r} in quotes")
    return text


def name_of_text(names: Iterable[str], place: Place, why: str = "") -> str:
    """The one of the names under which the text stands."""
    found = next((name for name in TEXT if name in names), None)
    if found is None:
        fix = f"name one of them {', '.join(TEXT[:-1])} or {TEXT[-1]}{why}"
        raise place.error(f"no text among {shown_list(', '.join(names))}", fix)
    return found
