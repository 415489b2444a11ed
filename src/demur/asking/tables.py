"""Entries of JSONL and CSV files as passages: a text under one of several names, perhaps with a title."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from demur.asking.passages import Paragraph, Passage
from demur.data.formats.checks import Place
from demur.data.formats.jsonlines import objects
from demur.files import lines

TEXT = ("text", "passage", "body", "answer")
ABOVE = ("title", "question")

_HALF = re.compile("[\ud800-\udfff]")  # one of a pair of codes that only together are a character
_LONGEST = 1 << 30  # characters in a cell; Python's own limit is 131,072


def passages_of_jsonl(path: Path) -> Iterator[Passage]:
    """One passage per line, or one per candidate where a line is a pool."""
    for place, entry in objects(path):
        candidates = entry.get("candidates")
        if not isinstance(candidates, list):
            yield from _entry(entry, place)
            continue
        for number, candidate in enumerate(candidates, 1):
            inside = place._replace(inside=f"candidate {number}")
            if not isinstance(candidate, dict):
                raise inside.error("is no object", 'write {"id": "...", "text": "..."}')
            yield from _entry({"id": f"{_name(place)}+{number}", **candidate}, inside)


def passages_of_csv(path: Path) -> Iterator[Passage]:
    """One passage per row; the first row names the columns."""
    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST))  # one for the whole process: only raise it
    rows = csv.reader((f"{line}\n" for _, line in lines(path)), strict=True)
    columns: list[str] = []
    while True:
        place = Place(path, rows.line_num + 1)
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            raise place.error(
                f"broken CSV in the row that starts here ({error})", "mend its quotes"
            ) from None
        if not any(cell.strip() for cell in row):
            continue
        if not columns:
            columns = [name.strip().lower() for name in row]
            _name_of_text(columns, place)
        elif len(row) != len(columns):
            what = f"{len(row)} cells in this row, but {len(columns)} in the header"
            raise place.error(what, "put quotes around cells that hold commas")
        else:
            yield from _entry(dict(zip(columns, row, strict=True)), place)


def _entry(entry: Mapping[str, Any], place: Place) -> Iterator[Passage]:
    """The passages of one entry: none if its text is empty, several if it is long."""
    name = _name_of_text(entry, place)
    text = entry[name]
    if not isinstance(text, str):
        raise place.error(f"{name!r} is not text but {json.dumps(text)[:40]}", f"write {name!r} in quotes")
    above = " > ".join(str(entry[name]).strip() for name in ABOVE if entry.get(name))
    id = _name(place) if entry.get("id") in (None, "") else str(entry["id"])
    if half := _HALF.search(f"{id}{above}{text}"):
        raise place.error(f"half a character, U+{ord(half[0]):04X}", "write the character itself")
    if text := text.strip():
        yield from Paragraph([text], place.line or 0).passages(str(place.path), above, id)


def _name_of_text(names: Iterable[str], place: Place) -> str:
    """The one of the names under which the text stands."""
    found = next((name for name in TEXT if name in names), None)
    if found is None:
        there = ", ".join(names)
        raise place.error(f"no text among {there}", f"name one of them {', '.join(TEXT[:-1])} or {TEXT[-1]}")
    return found


def _name(place: Place) -> str:
    return f"{place.path}:{place.line}"
