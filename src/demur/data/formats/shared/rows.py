"""Pairs, one to a row, gathered into pools: rows with one question that follow each other are a pool."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from demur.data.formats.shared.checks import Place, repeated
from demur.types import Candidate, Pool

NO_EXTRA: Mapping[str, Any] = {}


class Row(NamedTuple):
    """One question with one answer; an empty id is to be made up."""

    question_id: str
    question: str
    answer_id: str
    answer: str
    label: int | None
    place: Place
    extra: Mapping[str, Any] = NO_EXTRA


def gathered(rows: Iterable[Row]) -> Iterator[Pool]:
    """Pools; those without ids are numbered from 1, and their candidates ``1-0``, ``1-1`` and so on."""
    last_id = ""
    for number, ((id, question), group) in enumerate(groupby(rows, key=itemgetter(0, 1)), 1):
        members = list(group)
        if id and id == last_id:
            what = f"question id {id!r} has another question than on the line before"
            raise members[0].place.error(what, "give each question an id of its own")
        last_id = id
        ids = [row.answer_id or f"{number}-{place}" for place, row in enumerate(members)]
        again = repeated(ids)
        if again is not None:
            what = f"answer id {ids[again]!r} occurs twice for one question"
            fix = "give each answer of a question an id of its own"
            raise members[again].place.error(what, fix)
        pairs = zip(ids, members, strict=True)
        yield Pool(id or str(number), question, tuple(_candidate(id, row) for id, row in pairs))


def _candidate(id: str, row: Row) -> Candidate:
    if row.extra:
        return Candidate(id, row.answer, row.label, row.extra)
    return Candidate(id, row.answer, row.label)
