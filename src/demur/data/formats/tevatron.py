"""Tevatron's training JSONL: ``query_id, query, positive_passages, negative_passages``; the one we write.

Positive passages are labelled 1 and negative ones 0, positives first. What demur writes has one more key,
which Tevatron ignores: ``demur_labels``, all labels in the pool's order, so that graded labels (above 0 is
positive) and the order come back as they were. Candidates that nobody has judged cannot be written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from demur.data.formats.shared.checks import Place, build_pool, unwritable
from demur.data.formats.shared.jsonlines import (
    Object,
    checked_extra,
    each_pool,
    encoded,
    id_of,
    list_of,
    objects,
    other_keys,
    text_of,
)
from demur.data.formats.shared.passages import candidate, passage
from demur.errors import DataError
from demur.files import replacing
from demur.types import Candidate, Pool

_KEYS = frozenset({"query_id", "query", "positive_passages", "negative_passages", "demur_labels"})


def read_pools(path: str | Path) -> Iterator[Pool]:
    """The pools of a file, one at a time."""
    for place, line in objects(path):
        yield _pool(line, place)


def each_row(path: str | Path) -> Iterator[tuple[int, Pool | DataError]]:
    """The pools of a file with the numbers of their lines; in place of a bad line, what is wrong with it."""
    return each_pool(path, _pool)


def _pool(line: Object, place: Place, number: int = 0) -> Pool:
    positive = list_of(line, "positive_passages", place, dict)
    negative = list_of(line, "negative_passages", place, dict)
    marks = _marks(line, len(positive), len(negative), place)
    sides = iter(positive), iter(negative)
    found: list[Candidate] = []
    for mark in marks:
        inside = Place(place.path, place.line, f"{'positive' if mark > 0 else 'negative'} passage")
        found.append(candidate(next(sides[mark <= 0]), "docid", mark, inside))
    id, question = id_of(line, "query_id", place), text_of(line, "query", place)
    return build_pool(id, question, found, place, other_keys(line, _KEYS, place))


def _marks(line: Object, positive: int, negative: int, place: Place) -> list[int]:
    if "demur_labels" not in line:
        return [1] * positive + [0] * negative
    marks: list[int] = list_of(line, "demur_labels", place, int)
    above = sum(mark > 0 for mark in marks)
    if (above, len(marks) - above) != (positive, negative):
        raise place.error("'demur_labels' does not fit the passages", "remove that key")
    return marks


def write_pools(path: str | Path, pools: Iterable[Pool]) -> None:
    """Write pools whose candidates are all judged."""
    with replacing(path) as file:
        file.writelines(rows(pools, path))


def rows(pools: Iterable[Pool], path: str | Path) -> Iterator[str]:
    """The lines of a file."""
    for pool in pools:
        marks = [None if one.label is None else int(one.label) for one in pool.candidates]
        if None in marks:
            what = "has a candidate without a label, which is neither positive nor negative"
            raise unwritable(pool, what, path, "drop such candidates, or write .jsonl")
        sides: tuple[list[Object], list[Object]] = ([], [])
        for one in pool.candidates:
            sides[(one.label or 0) <= 0].append(passage(one, "docid", pool, path))
        line: Object = {"query_id": pool.id, "query": pool.question, "positive_passages": sides[0]}
        line |= {"negative_passages": sides[1], "demur_labels": marks}
        yield encoded({**line, **checked_extra(pool.extra, _KEYS, pool, path)}) + "\n"
