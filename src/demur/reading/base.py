"""What every reader is: a ranker that also quotes the answer, or says that there is none."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from demur.rankers.base import Ranker
from demur.reading.spans import Through, View, best, span
from demur.types import FloatArray, Pool, Span

Pair = tuple[str, str]
"""A question and a passage."""

_NOTHING = -1000.0  # the score of a passage in which there is not one token to quote
_TOGETHER, _CHARACTERS = 4096, 4_000_000  # pairs read in one go, and characters of their passages


@dataclass(frozen=True, slots=True)
class Quote:
    """A span that may answer: the sum of its start's and end's scores, and the product of their shares."""

    span: Span
    score: float
    probability: float


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader found: the answer or None, the best spans, and how far no answer is from them."""

    span: Span | None
    quotes: tuple[Quote, ...]
    """The best spans, best first, whether or not one of them is the answer."""
    null_score: float
    """The score of no answer: the lowest of any window."""
    null_probability: float

    @property
    def confidence(self) -> float:
        """The probability of the best span: of its start times of its end, in the window where it stands."""
        return self.quotes[0].probability if self.quotes else 0.0

    @property
    def null_odds(self) -> float:
        """By how much no answer is better than the best span."""
        return self.null_score - self.quotes[0].score if self.quotes else -_NOTHING


class Reader(Ranker):
    """A frozen dataclass whose fields are its settings; it gives each pair's windows in `views`.

    There is no answer where no answer scores more than `threshold` above the best span. As a ranker it
    scores a passage by how much its best span is better than no answer.
    """

    alone: ClassVar[bool] = True
    tolerance: ClassVar[float] = 1e-4
    shows_states: ClassVar[bool] = True
    """Whether `views` can show the states of its network, from which probes learn."""
    layers: ClassVar[tuple[str, ...]] = ()
    """What the arrays of states are called, if they have names."""
    folder: str = ""
    """The folder of demur in which it lies, if it lies in one."""
    longest: int
    n_best: int
    threshold: float

    @abstractmethod
    def views(self, pairs: Sequence[Pair], states: bool = False, through: Through = ()) -> Iterator[View]:
        """What the network says of each window of each pair, a batch of windows at a time.

        Pairs come in any order; with `states` in theirs, and each view has the states of every layer. With
        `through`, weights for each layer, it has the states times these: nothing wide leaves the network.
        """

    def read(self, question: str, passage: str) -> Span | None:
        """The answer as it stands in the passage, or None."""
        return self.read_all([(question, passage)])[0].span

    def read_all(self, pairs: Iterable[Pair]) -> list[Reading]:
        """What is found for each pair; one that is there twice is read once."""
        pairs = list(pairs)
        different = list(dict.fromkeys(pairs))
        found: dict[Pair, Reading] = {}
        for some in portions(different):
            found |= dict(zip(some, self._readings(some), strict=True))
        return [found[pair] for pair in pairs]

    def reading(self, passage: str, views: Iterable[View]) -> Reading:
        """What the windows of one pair come to."""
        spans: list[tuple[float, int, int, float]] = []
        null, null_probability = float("inf"), 0.0
        for view in views:
            if view.null < null:
                null, null_probability = view.null, view.share(view.null)
            for score, first, last in best(view, self.longest, self.n_best):
                start, end = int(view.places[first, 0]), int(view.places[last, 1])
                spans.append((score, start, end, view.share(score)))
        quotes = tuple(_different(passage, spans, self.n_best))
        answers = bool(quotes) and null - quotes[0].score <= self.threshold
        return Reading(quotes[0].span if answers else None, quotes, null, null_probability)

    def best_of(self, passage: str, views: Sequence[View]) -> tuple[int, int, int]:
        """The window of the best span, and its positions there: zeros where there is nothing to quote."""
        spans = []
        for view in views:
            for score, first, last in best(view, self.longest, self.n_best):
                start, end = int(view.places[first, 0]), int(view.places[last, 1])
                spans.append((-score, start, end, view.number, first, last))
        for _, start, end, number, first, last in sorted(spans):
            if span(passage, start, end).text:
                return number, first, last
        return 0, 0, 0

    def score_pools(self, pools: Sequence[Pool]) -> list[FloatArray]:
        """One array of scores per pool."""
        readings = iter(self.read_all((pool.question, text) for pool in pools for text in pool.answers))
        return [np.array([-next(readings).null_odds for _ in pool.answers], np.float64) for pool in pools]

    def _readings(self, pairs: Sequence[Pair]) -> list[Reading]:
        views: dict[int, list[View]] = {}
        for view in self.views(pairs):
            views.setdefault(view.pair, []).append(view)
        return [
            self.reading(passage, sorted(views[place], key=lambda view: view.number))
            for place, (_, passage) in enumerate(pairs)
        ]


def _different(passage: str, spans: Sequence[tuple[float, int, int, float]], count: int) -> Iterator[Quote]:
    """The best quotes, each stretch once: windows overlap, and signs may belong to one character."""
    seen: set[Span] = set()
    for score, start, end, share in sorted(spans, key=lambda each: (-each[0], each[1], each[2])):
        stretch = span(passage, start, end)
        if stretch.text and stretch not in seen:
            seen.add(stretch)
            yield Quote(stretch, score, share)
        if len(seen) == count:
            return


def portions(pairs: Sequence[Pair], count: int = _TOGETHER) -> Iterator[Sequence[Pair]]:
    """The pairs, so many at a time; fewer of long passages, so that memory is bounded."""
    begin, size = 0, 0
    for at, (_, passage) in enumerate(pairs):
        if at > begin and (at - begin == count or size + len(passage) > _CHARACTERS):
            yield pairs[begin:at]
            begin, size = at, 0
        size += len(passage)
    if begin < len(pairs):
        yield pairs[begin:]
