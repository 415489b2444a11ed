"""Candidates for one question: a line each, or a JSON object each."""

from __future__ import annotations

import json
from collections.abc import Iterator

from demur.errors import DataError
from demur.files import lines
from demur.types import Candidate


def read_candidates(path: str) -> Iterator[Candidate]:
    """The candidates of a file, numbered from 0 where they have no id; blank lines are passed over."""
    names_json = path.removesuffix(".gz").endswith((".jsonl", ".ndjson"))
    seen: set[str] = set()
    for number, line in lines(path):
        if not line.strip():
            continue
        candidate = (
            _from_json(line, path, number, len(seen)) if names_json else Candidate(str(len(seen)), line)
        )
        if candidate.id in seen:
            what = f"id {candidate.id!r} occurs twice"
            raise DataError(what, path=path, line=number, fix="give each candidate its own id, or none")
        seen.add(candidate.id)
        yield candidate


def _from_json(line: str, path: str, number: int, place: int) -> Candidate:
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        raise DataError(
            f"not JSON ({error.msg})", path=path, line=number, fix="write one object a line"
        ) from None
    if isinstance(value, str):
        return Candidate(str(place), value)
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        fix = 'write {"text": "…"} or {"id": "…", "text": "…"}'
        raise DataError("no text in this candidate", path=path, line=number, fix=fix)
    return Candidate(str(value.get("id", place)), value["text"])
