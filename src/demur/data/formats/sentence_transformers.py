"""sentence-transformers' training JSONL, in the three shapes its losses take. Read only.

- pairs, triplets and tuples: ``anchor, positive`` and any of ``negative, negative_1, negative_2 …``; a line
  is a pool
- labelled pairs: ``query`` (or sentence1), ``answer`` (or sentence2), ``label`` (or score); lines with one
  query that follow each other are a pool. A pair without a label is one that nobody has judged; where all are
  right, call the keys ``anchor`` and ``positive``
- labelled lists: ``query, docs, labels``; a line is a pool

The first line says which shape a file has. Ids have the names that they have in CSV: ``question_id`` (or
``id``), and in labelled pairs ``answer_id``; where there are none, pools and candidates are numbered ``1``,
``1-0`` …. Labelled pairs with one query and different ids are different pools. Other keys are extras: of the
candidate in labelled pairs, else of the pool.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from demur.data.formats.shared.checks import Place, build_pool, label
from demur.data.formats.shared.columns import role_of
from demur.data.formats.shared.jsonlines import Object, id_of, list_of, objects, other_keys, text_of
from demur.data.formats.shared.rows import Row, gathered
from demur.types import Candidate, Pool

_QUESTIONS = ("query", "anchor", "question", "sentence1")
_ANSWERS = ("answer", "sentence2")
_MARKS = ("label", "score")

Lines = Iterator[tuple[Place, Object]]


def read_pools(path: str | Path) -> Iterator[Pool]:
    """The pools of a file, one at a time."""
    lines = objects(path)
    for place, first in lines:
        again = chain([(place, first)], lines)
        if "docs" in first:
            yield from _lists(again)
        elif "positive" in first:
            yield from _tuples(again)
        else:
            yield from gathered(_pairs(again))


def _lists(lines: Lines) -> Iterator[Pool]:
    for number, (place, line) in enumerate(lines, 1):
        texts, marks = list_of(line, "docs", place, str), line.get("labels")
        if type(marks) is not list or len(marks) != len(texts):
            raise place.error("'labels' is not a list as long as 'docs'", "give one label per document")
        judged = [label(mark, place) for mark in marks]
        yield _pool(number, line, ["docs", "labels"], texts, judged, place)


def _tuples(lines: Lines) -> Iterator[Pool]:
    for number, (place, line) in enumerate(lines, 1):
        keys = ["positive", *(key for key in line if key == "negative" or key.startswith("negative_"))]
        texts = [text_of(line, key, place) for key in keys]
        yield _pool(number, line, keys, texts, [1] + [0] * (len(keys) - 1), place)


def _pool(
    number: int, line: Object, keys: list[str], texts: list[str], marks: Sequence[int | None], place: Place
) -> Pool:
    pairs = enumerate(zip(texts, marks, strict=True))
    candidates = [Candidate(f"{number}-{n}", text, mark) for n, (text, mark) in pairs]
    question, question_id = _key(line, _QUESTIONS), _id_key(line, "question_id", place)
    extra = other_keys(line, frozenset({question, question_id, *keys}), place)
    id = _id(line, question_id, place) or str(number)
    return build_pool(id, text_of(line, question, place), candidates, place, extra)


def _pairs(lines: Lines) -> Iterator[Row]:
    for place, line in lines:
        question, answer, mark = (_key(line, names) for names in (_QUESTIONS, _ANSWERS, _MARKS))
        question_id, answer_id = (_id_key(line, role, place) for role in ("question_id", "answer_id"))
        yield Row(
            _id(line, question_id, place),
            text_of(line, question, place),
            _id(line, answer_id, place),
            text_of(line, answer, place),
            label(line.get(mark), place),
            place,
            other_keys(line, frozenset({question, answer, mark, question_id, answer_id}), place),
        )


def _id_key(line: Object, role: str, place: Place) -> str:
    """The key that holds an id, whether or not the line has it."""
    keys = [key for key in line if role_of(key) == role] or [role]
    if len(keys) > 1:
        raise place.error(f"two keys for the {role}, {keys[0]!r} and {keys[1]!r}", "rename one of them")
    return keys[0]


def _id(line: Object, key: str, place: Place) -> str:
    """The id under a key; an empty text where there is none."""
    return "" if line.get(key) is None else id_of(line, key, place)


def _key(line: Object, names: tuple[str, ...]) -> str:
    """The name that the line has, or the first, which it will then be said to lack."""
    return next((name for name in names if name in line), names[0])
