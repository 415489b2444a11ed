"""sentence-transformers' training JSONL, in the three shapes its losses take. Read only.

- pairs, triplets and tuples: ``anchor, positive`` and any of ``negative, negative_1, negative_2 …``; a line
  is a pool
- labelled pairs: ``query`` (or sentence1), ``answer`` (or sentence2), ``label`` (or score); lines with one
  query that follow each other are a pool. A pair without a label is one that nobody has judged; where all are
  right, call the keys ``anchor`` and ``positive``
- labelled lists: ``query, docs, labels``; a line is a pool

The first line says which shape a file has. Pools and candidates are numbered ``1``, ``1-0`` ….
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from demur.data.formats.shared.checks import Place, build_pool, label
from demur.data.formats.shared.jsonlines import Object, list_of, objects, text_of
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
        yield _pool(number, line, texts, [label(mark, place) for mark in marks], place)


def _tuples(lines: Lines) -> Iterator[Pool]:
    for number, (place, line) in enumerate(lines, 1):
        keys = ["positive", *(key for key in line if key == "negative" or key.startswith("negative_"))]
        yield _pool(
            number, line, [text_of(line, key, place) for key in keys], [1] + [0] * (len(keys) - 1), place
        )


def _pool(
    number: int, line: Object, texts: list[str], marks: list[int | None] | list[int], place: Place
) -> Pool:
    pairs = enumerate(zip(texts, marks, strict=True))
    candidates = [Candidate(f"{number}-{n}", text, mark) for n, (text, mark) in pairs]
    return build_pool(str(number), text_of(line, _key(line, _QUESTIONS), place), candidates, place)


def _pairs(lines: Lines) -> Iterator[Row]:
    for place, line in lines:
        question = text_of(line, _key(line, _QUESTIONS), place)
        answer = text_of(line, _key(line, _ANSWERS), place)
        mark = label(line.get(_key(line, _MARKS)), place)
        yield Row("", question, "", answer, mark, place)


def _key(line: Object, names: tuple[str, ...]) -> str:
    """The name that the line has, or the first, which it will then be said to lack."""
    return next((name for name in names if name in line), names[0])
