"""The words of demur as frozen dataclasses: pools of candidates go in, rankings and answers come out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from demur.errors import UsageError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_EMPTY: Mapping[str, Any] = {}  # shared by all that have nothing extra; a plain dict, so that it pickles


def _nothing() -> Mapping[str, Any]:
    return _EMPTY


@dataclass(frozen=True, slots=True)
class Candidate:
    """One candidate answer. A label is a graded integer; None means nobody has judged it."""

    id: str
    text: str
    label: int | None = None
    extra: Mapping[str, Any] = field(default_factory=_nothing, hash=False, repr=False)


@dataclass(frozen=True, slots=True)
class Pool:
    """One question with its candidates: the unit of all sampling, splitting, testing and calibration."""

    id: str
    question: str
    candidates: tuple[Candidate, ...]
    extra: Mapping[str, Any] = field(default_factory=_nothing, hash=False, repr=False)

    @classmethod
    def of(
        cls, question: str, answers: Sequence[str], labels: Sequence[int | None] | None = None, id: str = "q"
    ) -> Pool:
        """A pool from plain texts; candidates are numbered from 0."""
        if labels is not None and len(labels) != len(answers):
            raise UsageError(f"{len(answers)} answers but {len(labels)} labels; give one label per answer")
        marks = labels if labels is not None else [None] * len(answers)
        pairs = enumerate(zip(answers, marks, strict=True))
        return cls(id, question, tuple(Candidate(str(n), text, label) for n, (text, label) in pairs))

    @property
    def answers(self) -> list[str]:
        """The candidates' texts, in order."""
        return [candidate.text for candidate in self.candidates]

    @property
    def labels(self) -> list[int | None]:
        """The candidates' labels, in order; None where nobody has judged."""
        return [candidate.label for candidate in self.candidates]

    @property
    def positives(self) -> int:
        """How many candidates have a label above zero."""
        return sum(1 for candidate in self.candidates if candidate.label is not None and candidate.label > 0)

    def __len__(self) -> int:
        return len(self.candidates)


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates of one question, best first, with their scores."""

    question: str
    candidates: tuple[Candidate, ...]
    scores: tuple[float, ...]

    def __iter__(self) -> Iterator[tuple[Candidate, float]]:
        return iter(zip(self.candidates, self.scores, strict=True))

    def __len__(self) -> int:
        return len(self.candidates)


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a text: ``text == whole[start:end]``."""

    start: int
    end: int
    text: str


class SeenPassage(Protocol):
    """What a reader sees in a passage, whatever else it knows."""

    @property
    def score(self) -> float:
        """How well the passage answers: what the reader gives it as a ranker."""
        ...

    @property
    def span(self) -> Span | None:
        """The words that answer, as they stand in the passage; None if none do."""
        ...

    @property
    def confidence(self) -> float:
        """How sure the reader is of that."""
        ...


@dataclass(frozen=True, slots=True)
class Answer:
    """What demur says: a candidate, the words it quotes from it, and its confidence."""

    question: str
    candidate: Candidate
    score: float
    span: Span | None
    ranking: Ranking
    confidence: float | None = None
    certificate: Mapping[str, Any] | None = None
    threshold: float | None = None
    """The confidence below which there would have been no answer."""


@dataclass(frozen=True, slots=True)
class Abstention:
    """Why demur says nothing, with what came nearest."""

    question: str
    reason: str
    ranking: Ranking
    confidence: float | None = None
    certificate: Mapping[str, Any] | None = None
    threshold: float | None = None
    """The confidence below which there is no answer."""


class Verdict(NamedTuple):
    """How sure a gate is of the best candidate, and why it refuses; an empty refusal lets the answer pass."""

    confidence: float
    refusal: str = ""
    threshold: float | None = None
