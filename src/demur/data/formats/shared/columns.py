"""Columns of a table of pairs: what TSV and CSV share.

With a header, columns are found by name, in any order; other columns are extras of the candidate. An extra
is text and an empty cell is no extra, but a column called ``score`` holds floats. Pools without
candidates, extras of pools, empty ids and other extras than texts cannot be written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from demur.data.formats.shared.checks import Place, label, number, shown, unwritable
from demur.data.formats.shared.rows import NO_EXTRA, Row, gathered
from demur.types import Candidate, Pool

_NAMES = {
    "question": ("question", "query"),
    "answer": ("answer", "candidate", "passage", "sentence"),
    "label": ("label",),
    "question_id": ("questionid", "id", "qid", "queryid"),
    "answer_id": ("answerid", "candidateid", "passageid", "sentenceid"),
}
_ROLES = {name: role for role, names in _NAMES.items() for name in names}
_FIX = "correct the line; texts with tabs or line breaks need quotes in .csv, or .jsonl"


class Columns(NamedTuple):
    """Which column holds what."""

    roles: dict[str, int]
    extras: tuple[tuple[int, str], ...]
    width: int


def pools(cells: Iterator[tuple[Place, Sequence[str]]], *, header: bool) -> Iterator[Pool]:
    """Pools from rows of cells with their places; where no header is needed, the first may still be one."""
    for place, first in cells:
        if "question" in (roles := [role_of(name) for name in first]) and "answer" in roles:
            yield from gathered(_rows(cells, _named(first, roles, place)))
        elif header:
            what = f"no columns called question and answer in the header ({shown(', '.join(first))})"
            raise place.error(what, "begin with a header such as question,answer,label")
        elif len(first) < 2:
            what = "1 column where question, answer and label were expected"
            raise place.error(what, "separate the columns by tabs")
        else:
            again = chain([(place, first)], cells)
            yield from gathered(_rows(again, _by_place(len(first))))


def role_of(name: str) -> str:
    """What a column of this name holds, such as ``question``; an empty text if it is an extra."""
    return _ROLES.get(name.strip().casefold().replace("_", "").replace("-", "").replace(" ", ""), "")


def _named(names: Sequence[str], roles: list[str], place: Place) -> Columns:
    extras = [(n, name or f"column{n + 1}") for n, name in enumerate(names) if not roles[n]]
    keys = [role for role in roles if role] + [name for _, name in extras]
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise place.error(f"two columns for the {twice} in the header", "rename one of them")
    return Columns({role: n for n, role in enumerate(roles) if role}, tuple(extras), len(names))


def _by_place(width: int) -> Columns:
    roles = dict(zip(("question", "answer", "label")[:width], range(3), strict=False))
    return Columns(roles, tuple((n, f"column{n + 1}") for n in range(3, width)), width)


def _rows(cells: Iterable[tuple[Place, Sequence[str]]], columns: Columns) -> Iterator[Row]:
    question, answer = columns.roles["question"], columns.roles["answer"]
    mark, question_id, answer_id = (columns.roles.get(role) for role in ("label", "question_id", "answer_id"))
    extras, width = columns.extras, columns.width
    for place, row in cells:
        if len(row) != width:
            what = f"{len(row)} column{'s' * (len(row) != 1)} where the first line has {width}"
            raise place.error(what, _FIX)
        yield Row(
            "" if question_id is None else row[question_id],
            row[question],
            "" if answer_id is None else row[answer_id],
            row[answer],
            None if mark is None else label(row[mark], place),
            place,
            _extra(row, extras, place) if extras else NO_EXTRA,
        )


def _extra(row: Sequence[str], extras: tuple[tuple[int, str], ...], place: Place) -> dict[str, Any]:
    found: dict[str, Any] = {name: row[n] for n, name in extras if row[n]}
    if "score" in found:
        said, found["score"] = found["score"], None
        with suppress(ValueError):
            found["score"] = number(said)
        if found["score"] is None or not isfinite(found["score"]):
            what = "is not a number" if found["score"] is None else "is infinite or too large"
            raise place.error(f"score {shown(said)} {what}", "correct it, or leave it empty")
    return found


def table(
    pools: Iterable[Pool], path: str | Path, more: Iterable[str] = ()
) -> Iterator[tuple[Pool, list[str]]]:
    """Rows of cells, a header first, each with its pool.

    Extras of the first pool have a column, and so have those that are named as more.
    """
    extras: list[str] | None = None
    for pool in apart(pools, path):
        if extras is None:
            own = (key for one in pool.candidates for key in one.extra)
            extras = list(dict.fromkeys(chain(own, more)))
            if taken := [name for name in extras if role_of(name) or not name]:
                what = f"has the extra {taken[0]!r}, a column of another meaning"
                raise unwritable(pool, what, path, "rename it, or write .jsonl")
            yield pool, ["question", "answer", "label", "question_id", "answer_id", *extras]
        _check(pool, extras, path)
        for one in pool.candidates:
            mark = "" if one.label is None else str(int(one.label))
            yield pool, [pool.question, one.text, mark, pool.id, one.id, *_texts(one, extras, pool, path)]


def apart(pools: Iterable[Pool], path: str | Path) -> Iterator[Pool]:
    """The same pools, if none follows one of the same id: in a table they would become one."""
    last_id = None
    for pool in pools:
        if pool.id == last_id:
            what = "follows a pool of the same id; they would become one"
            raise unwritable(pool, what, path, "give it another id")
        last_id = pool.id
        yield pool


def _check(pool: Pool, extras: list[str], path: str | Path) -> None:
    if not pool.candidates:
        raise unwritable(pool, "has no candidates, so it would have no row", path)
    if pool.extra:
        raise unwritable(
            pool, f"has the extra {next(iter(pool.extra))!r}; a row has room for a candidate's only", path
        )
    if not pool.id or not all(one.id for one in pool.candidates):
        raise unwritable(
            pool, "has an empty id, its own or a candidate's", path, "give it an id, or write .jsonl"
        )
    for one in pool.candidates:
        if one.extra and (new := [key for key in one.extra if key not in extras]):
            raise unwritable(pool, f"has the extra {new[0]!r}, for which the first pool made no column", path)


def _texts(candidate: Candidate, extras: list[str], pool: Pool, path: str | Path) -> Iterator[str]:
    for key in extras:
        value = candidate.extra.get(key)
        if key not in candidate.extra:
            yield ""
        elif key == "score" and isinstance(value, float) and isfinite(value):
            yield repr(float(value))
        elif key != "score" and isinstance(value, str) and value:
            yield value
        else:
            what = f"has the extra {key!r} = {shown(value)}; a table holds texts, and a float as score"
            raise unwritable(pool, what, path)
