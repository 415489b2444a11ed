"""Entries of JSONL and CSV files as passages: a text under one of several names, perhaps with a title."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from demur.data.entries import csv_entries, text_in
from demur.data.formats.shared.checks import Place
from demur.data.formats.shared.jsonlines import kind, objects
from demur.kb.passages import Paragraph, Passage

ABOVE = ("title", "question")
LOST = "a question without an answer is left out{others}; write its answer beside it"
WRONG = "an answer labelled 0, which is wrong, is left out{others}"

_log = logging.getLogger(__name__)
Lost = dict[str, list[Place]]
"""What is left out, by why."""


def passages_of_jsonl(path: Path) -> Iterator[Passage]:
    """One passage per line, or one per candidate where a line is a pool."""
    lost: Lost = {}
    for place, entry in objects(path):
        candidates = entry.get("candidates")
        if not isinstance(candidates, list):
            yield from _entry(entry, place, lost)
            continue
        for number, candidate in enumerate(candidates, 1):
            inside = place._replace(inside=f"candidate {number}")
            if not isinstance(candidate, dict):
                raise inside.error("is not an object", 'write {"id": "...", "text": "..."}')
            yield from _entry({"id": f"{_name(place)}+{number}", **candidate}, inside, {})
    _warn(lost)


def passages_of_csv(path: Path) -> Iterator[Passage]:
    """One passage per row; the first row names the columns."""
    lost: Lost = {}
    for place, entry in csv_entries(path):
        yield from _entry(entry, place, lost)
    _warn(lost)


def _warn(lost: Lost) -> None:
    """Say which questions have no answer, and which answers are wrong; of several the first."""
    for why, places in lost.items():
        others = f", and {len(places) - 1:,} more" if len(places) > 1 else ""
        _log.warning("%s: %s", _name(places[0]), why.format(others=others))


def _entry(entry: Mapping[str, Any], place: Place, lost: Lost) -> Iterator[Passage]:
    """The passages of one entry: none if its text is empty, several if it is long."""
    if entry.get("question"):  # one without an answer is told, and left out
        entry = {name: "" if value is None else value for name, value in entry.items()}
    text = text_in(entry, place)
    for name in ABOVE:
        if isinstance(entry.get(name), list | dict):
            raise place.error(f"{name!r} is {kind(entry[name])}, not text", f"write {name!r} in quotes")
    above = " > ".join(str(entry[name]).strip() for name in ABOVE if entry.get(name))
    id = _name(place) if entry.get("id") in (None, "") else str(entry["id"])
    question = str(entry.get("question") or "").strip()
    if question and text.strip() and _wrong(entry.get("label")):
        lost.setdefault(WRONG, []).append(place)
        return
    if question and not text.strip():
        lost.setdefault(LOST, []).append(place)
    if text := text.strip():
        yield from Paragraph([text], place.line or 0).passages(str(place.path), above, id, question)


def _wrong(label: object) -> bool:
    """Whether a label says that an answer is wrong, as in data to train and measure with."""
    said = str(label).strip().casefold()
    try:
        return float(said) <= 0
    except ValueError:  # what is no number may be of another kind, such as a topic
        return said in ("false", "no")


def _name(place: Place) -> str:
    return f"{place.path}:{place.line}"
