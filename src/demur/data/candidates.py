"""Candidates for one question: a line each, a JSON text or object each, or a row of a CSV file each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from demur.data.entries import csv_entries, text_in
from demur.data.formats.shared.checks import Place
from demur.data.formats.shared.jsonlines import id_of, kind
from demur.files import lines
from demur.types import Candidate


def read_candidates(path: str) -> Iterator[Candidate]:
    """The candidates of a file, numbered from 0 where they have no id; blank lines are passed over."""
    seen: set[str] = set()
    for place, entry in _entries(path):
        number = str(len(seen))
        id = number if entry.get("id") in (None, "") else id_of(dict(entry), "id", place)
        if id in seen:
            raise place.error(f"id {id!r} occurs twice", "give each candidate its own id, or none")
        seen.add(id)
        yield Candidate(id, text_in(entry, place))


def _entries(path: str) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    name = path.lower().removesuffix(".gz")
    if name.endswith(".csv"):
        yield from csv_entries(path)
        return
    names_json = name.endswith((".jsonl", ".ndjson"))
    for number, line in lines(path):
        if line.strip():
            place = Place(path, number)
            yield place, _json_entry(line, place) if names_json else {"text": line}


def _json_entry(line: str, place: Place) -> Mapping[str, Any]:
    fix = 'write {"text": "…"} or {"id": "…", "text": "…"} on a line'
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:  # broken, or a number of 5,000 digits, or lists 10,000 deep
        raise place.error(f"JSON that cannot be read ({error})", fix) from None
    if isinstance(value, str):
        return {"text": value}
    if not isinstance(value, dict):
        raise place.error(f"{kind(value)} where a JSON object was expected", fix)
    return value
