"""A toy in place of mini: it ranks and reads in one pass, and counts how often it looks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from demur.rankers import Ranker
from demur.text import tokenize
from demur.types import Candidate, FloatArray, Pool, Span

SPEC = "asking.toys:Toy"
NUMBER = re.compile(r"\b(?:one|two|three|\d+) \w+")


@dataclass(frozen=True)
class Seen:
    """What the toy sees in a passage."""

    score: float
    span: Span | None
    confidence: float


@dataclass(frozen=True)
class Toy(Ranker):
    """Scores by shared words, and quotes the first number with what it counts."""

    name: ClassVar[str] = "mini"
    calls: ClassVar[list[int]] = []
    folder: str = ""

    def look(self, question: str, passages: Sequence[str]) -> list[Seen]:
        """A look at each passage."""
        self.calls.append(len(passages))
        scores = self._scores(question, passages)
        return [Seen(score, *_read(text)) for text, score in zip(passages, scores, strict=True)]

    def score(self, question: str, answers: Sequence[str]) -> FloatArray:
        """How many words each answer shares with the question."""
        self.calls.append(len(answers))
        return np.array(self._scores(question, answers), np.float64)

    def _scores(self, question: str, answers: Sequence[str]) -> list[float]:
        words = set(tokenize(question))
        return [len(words & set(tokenize(answer))) - len(answer) / 1e4 for answer in answers]


def _read(text: str) -> tuple[Span | None, float]:
    found = NUMBER.search(text)
    return (Span(found.start(), found.end(), found[0]), 0.9) if found else (None, 0.2)


def labelled(question: str, texts: Sequence[str], number: int = 300) -> list[Pool]:
    """So many pools of the same texts; the first is right in nine of ten, and none in the others."""
    wrong = tuple(Candidate(str(n), text, 0) for n, text in enumerate(texts))
    right = (replace(wrong[0], label=1), *wrong[1:])
    return [Pool(str(n), question, right if n % 10 else wrong) for n in range(number)]
