"""Where something was read, and the small checks that name the place when they fail."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from demur.errors import DataError
from demur.types import Candidate, Pool

_WHOLE = re.compile(r"[+-]?[0-9]{1,400}")
_USUAL: dict[object, int | None] = {"0": 0, "1": 1, "": None, None: None}


class Place(NamedTuple):
    """A line of a file, or a named part of it such as ``candidate 2``."""

    path: str | Path
    line: int | None = None
    inside: str = ""

    def error(self, what: str, fix: str = "") -> DataError:
        """The error that says what is wrong here."""
        return DataError(
            f"{self.inside}: {what}" if self.inside else what, path=self.path, line=self.line, fix=fix
        )


def label(value: object, place: Place) -> int | None:
    """The label that a value says: a whole number (``1.0`` is one), or None where it is empty."""
    if isinstance(value, str):
        if value in _USUAL:
            return _USUAL[value]
        value = value.strip()
        if not value:
            return None
        if _WHOLE.fullmatch(value):
            return int(value)
        with suppress(ValueError):
            value = number(value)
    if value is None:
        return None
    if isinstance(value, int):
        return int(value)  # true and false are 1 and 0
    if isinstance(value, float) and value.is_integer():
        return int(value)
    fix = "use whole numbers such as 0 and 1, or leave it empty where there is no judgement"
    raise place.error(f"label {shown(value)} is not a whole number", fix)


def number(text: str) -> float:
    """The number a text spells, or a ValueError: NaN and Python's ``1_000`` are none."""
    if "_" in text or math.isnan(value := float(text)):
        raise ValueError(text)
    return value


def repeated(ids: Sequence[str]) -> int | None:
    """The place of the first id that stood there before, or None."""
    if len(set(ids)) == len(ids):
        return None
    first = {id: n for n, id in reversed(list(enumerate(ids)))}
    return next(n for n, id in enumerate(ids) if first[id] != n)


def build_pool(
    id: str,
    question: str,
    candidates: Iterable[Candidate],
    place: Place,
    extra: dict[str, object] | None = None,
) -> Pool:
    """A pool whose candidates have different ids."""
    found = tuple(candidates)
    again = repeated([candidate.id for candidate in found])
    if again is not None:
        what = f"candidate id {found[again].id!r} occurs twice in pool {id!r}"
        raise place.error(what, "give each candidate of a pool an id of its own")
    return Pool(id, question, found, extra) if extra else Pool(id, question, found)


def unwritable(
    pool: Pool, what: str, path: str | Path, fix: str = "write .jsonl, which holds any pool"
) -> DataError:
    """The error that says why a format cannot hold a pool."""
    return DataError(f"pool {pool.id!r} {what}", path=path, fix=fix)


def unencodable(error: UnicodeEncodeError) -> str:
    """What is wrong with a text that cannot be encoded, such as one with half a character; what to do."""
    character = f"U+{ord(error.object[error.start]):04X}"
    return f"holds {character}, which {error.encoding} cannot write; put another character in its place"


def shown(value: object) -> str:
    """A value as an error message shows it: its start, if it is long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
