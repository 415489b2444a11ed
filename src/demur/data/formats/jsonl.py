"""Our own format: one pool per line, ``{"id", "question", "candidates": [{"id", "text", "label"}]}``.

A label may be missing, and so may ids: pools without one are called by their line, `1`, `2` …, and their
candidates `1-0`, `1-1` …, as in TSV. Unknown keys of a pool or candidate, a ``score`` among them, are kept in
``extra`` and written back: what is written is read back equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from demur.data.formats.shared.checks import Place, build_pool, label
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
from demur.errors import DataError
from demur.files import replacing
from demur.types import Candidate, Pool

_POOL = frozenset({"id", "question", "candidates"})
_CANDIDATE = frozenset({"id", "text", "label"})


def read_pools(path: str | Path) -> Iterator[Pool]:
    """The pools of a file, one at a time."""
    for place, line in objects(path):
        yield _pool(line, place)


def each_row(path: str | Path) -> Iterator[tuple[int, Pool | DataError]]:
    """The pools of a file with the numbers of their lines; in place of a bad line, what is wrong with it."""
    return each_pool(path, _pool)


def _pool(line: Object, place: Place, number: int = 0) -> Pool:
    id = id_of(line, "id", place) if "id" in line else str(place.line)
    question = text_of(line, "question", place)
    raw = list_of(line, "candidates", place, dict)
    extra = None if line.keys() <= _POOL else other_keys(line, _POOL, place)
    candidates = [_candidate(one, n, place, id) for n, one in enumerate(raw)]
    return build_pool(id, question, candidates, place, extra)


def _candidate(raw: Object, number: int, place: Place, pool: str) -> Candidate:
    id, text, mark = raw.get("id"), raw.get("text"), raw.get("label")
    if "id" not in raw:
        id = f"{pool}-{number}"
    if type(id) is not str or type(text) is not str or not (mark is None or type(mark) is int):
        inside = Place(place.path, place.line, f"candidate {number + 1}")
        id = id if type(id) is str else id_of(raw, "id", inside)
        text, mark = text_of(raw, "text", inside), label(mark, inside)
    if not raw.keys() <= _CANDIDATE:
        return Candidate(id, text, mark, other_keys(raw, _CANDIDATE, place, number + 1))
    return Candidate(id, text, mark)


def write_pools(path: str | Path, pools: Iterable[Pool]) -> None:
    """Write any pools."""
    with replacing(path) as file:
        for pool in pools:
            file.write(line(pool, path))


def line(pool: Pool, path: str | Path = "-") -> str:
    """The line that holds a pool, with its line feed; the path is for error messages."""
    candidates = []
    for candidate in pool.candidates:
        one: Object = {"id": candidate.id, "text": candidate.text}
        if candidate.label is not None:
            one["label"] = int(candidate.label)
        if candidate.extra:
            one.update(checked_extra(candidate.extra, _CANDIDATE, pool, path))
        candidates.append(one)
    whole = {"id": pool.id, "question": pool.question, "candidates": candidates}
    return encoded({**whole, **checked_extra(pool.extra, _POOL, pool, path)}) + "\n"
