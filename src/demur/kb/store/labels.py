"""Labels that people gave: whether a passage answers a question, kept in the knowledge base."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from demur.errors import UsageError
from demur.kb.store.truth import Generation, Statements, Truth
from demur.text import bare, tokenize

_INSERT = "INSERT INTO labels (question, hash, heading, text, label, made) VALUES (?, ?, ?, ?, ?, ?)"


@lru_cache(1 << 16)
def named(question: str) -> str:
    """What a question is known by: its words, whatever their case and punctuation."""
    return bare(question) or question


@dataclass(frozen=True)
class Label:
    """What somebody said of a passage; it stays when the passage is taken out."""

    question: str
    label: int
    """1 if the passage answers the question, 0 if not."""
    place: int | None
    """Where the passage is now; None if it is no more, or if the label says that no passage answers."""
    heading: str
    text: str
    made: float
    """Seconds since 1970."""


def add(truth: Truth, question: str, place: int | None, label: int, generation: Generation) -> None:
    """Keep the label that a passage answers (1) or not (0), or that none does (None, 0).

    Labels of the question in another spelling are of the same question, and it keeps that spelling.
    """
    if not isinstance(question, str):
        raise UsageError("a label needs a question, which is a text")
    _check_question(question)
    if label not in (0, 1) or (place is None and label):
        raise UsageError(f"label={label} of a passage must be 1 or 0, and 0 where no passage answers")
    heading = text = ""
    hashed = None
    if place is not None and not isinstance(place, int | np.integer):
        raise UsageError(
            f"place={place!r} is not a place; take a whole number, as by_words and by_meaning give it"
        )
    if place is not None:
        passage = truth.passage(place, generation)
        heading, text = passage.heading, passage.text
        hashed = truth.hash(place)
    with truth.noting() as connection:
        question = [question, *_alike(connection, question)][-1]
        connection.execute(_INSERT, (question, hashed, heading, text, label, time.time()))


def _check_question(question: str) -> None:
    if not tokenize(question):
        raise UsageError(f"a label needs a question, and {question!r} has no word; label one that has")


def settle(
    truth: Truth, question: str, right: Iterable[int], wrong: Iterable[int], generation: Generation
) -> None:
    """Keep these labels of a question in place of earlier ones.

    Where none is right, keep the label that no passage answers.
    """
    _check_question(question)
    said = dict.fromkeys(wrong, 0) | dict.fromkeys(right, 1)
    rows: list[tuple[object, ...]] = []
    for place, label in said.items():
        passage = truth.passage(place, generation)
        hashed = truth.hash(place)
        rows.append((question, hashed, passage.heading, passage.text, label, time.time()))
    if 1 not in said.values():
        rows.append((question, None, "", "", 0, time.time()))
    _replaced(truth, question, rows)


def forget(truth: Truth, question: str) -> bool:
    """Whether there were labels of this question; there are none any more."""
    return _replaced(truth, question, [])


def _replaced(truth: Truth, question: str, rows: Sequence[tuple[object, ...]]) -> bool:
    """Whether the question had labels; these rows take their place, all of them or none."""
    with truth.noting() as connection:
        alike = _alike(connection, question)
        connection.executemany("DELETE FROM labels WHERE question = ?", [(each,) for each in alike])
        connection.executemany(_INSERT, rows)
    return bool(alike)


def _alike(connection: Statements, question: str) -> list[str]:
    """The spellings in which a question is labelled, the last one last."""
    known = connection.execute("SELECT question FROM labels GROUP BY question ORDER BY max(id)").fetchall()
    return [each for (each,) in known if named(each) == named(question)]


def every(truth: Truth) -> list[Label]:
    """All labels, in the order in which they were given."""
    rows = truth.noted("SELECT question, label, hash, heading, text, made FROM labels ORDER BY id")
    there = truth.hashed(list({bytes(hash) for _, _, hash, *_ in rows if hash is not None}))
    return [
        Label(question, label, None if hash is None else there.get(bytes(hash)), *rest)
        for question, label, hash, *rest in rows
    ]
