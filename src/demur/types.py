"""The words of demur as frozen dataclasses: pools of candidates go in, rankings and answers come out."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from demur.errors import UsageError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class _Nothing(dict[str, Any]):
    """What all that have nothing extra share, so it cannot be written to; a dict, for whoever writes JSON."""

    def _refuse(self, *_: object, **__: object) -> Any:
        raise UsageError("this extra is empty and shared; make the object with an extra of its own")

    __setitem__ = __ior__ = update = setdefault = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return _nothing, ()


_EMPTY = _Nothing()


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
        cls, question: str, answers: Iterable[str], labels: Iterable[int | None] | None = None, id: str = "q"
    ) -> Pool:
        """A pool from plain texts; candidates are numbered from 0."""
        texts = texts_of(answers)
        marks = [None] * len(texts) if labels is None else [check_label(each) for each in labels]
        if len(marks) != len(texts):
            raise UsageError(f"{len(texts)} answers but {len(marks)} labels; give one label per answer")
        pairs = enumerate(zip(texts, marks, strict=True))
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


T = TypeVar("T")


def texts_of(answers: Iterable[T], kinds: tuple[type, ...] = (str,)) -> list[T]:
    """The answers as a list, or an error: a string alone would be its letters."""
    if isinstance(answers, str | bytes) or not isinstance(answers, Iterable):
        raise UsageError(f"answers are a list of texts, not {type(answers).__name__}; write [answer] for one")
    found = list(answers)
    for each in found:
        if not isinstance(each, kinds):
            raise UsageError(f"an answer is a text, not {type(each).__name__}; leave it out, or write a text")
    return found


def listed(pools: Any) -> Sequence[Pool]:
    """The pools as a sequence, or an error: a name or one pool alone is none."""
    if isinstance(pools, str | bytes | PurePath | Pool | Mapping) or not isinstance(pools, Iterable):
        what = f"pools are a list of demur.Pool, not {type(pools).__name__}"
        raise UsageError(f"{what}; read a dataset or a file with demur.load")
    found = pools if isinstance(pools, Sequence) else list(pools)
    if isinstance(found, list | tuple) and found and not isinstance(found[0], Pool):
        what = f"pools are demur.Pool, and the first of these is {type(found[0]).__name__}"
        raise UsageError(f"{what}; make them with demur.Pool.of, or read a file with demur.load")
    return found


def check_label(label: Any) -> int | None:
    """The label, if it is a whole number; of half a label nobody knows what is right."""
    try:
        return None if label is None else operator.index(label)
    except TypeError:
        what = f"a label is {str(label)[:30]!r}, not a whole number"
        raise UsageError(f"{what}; write 1 for right, 0 for wrong, or grades") from None


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
