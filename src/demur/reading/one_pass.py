"""What one look at a passage says: how well it answers, what it quotes, and how sure that is."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from demur.logistic import expit
from demur.reading.base import Pair, Reader, Reading, portions
from demur.reading.confidence import ConfidenceModel, Glance, signals
from demur.reading.readers.span_reader import Tokens
from demur.types import FloatArray, Pool, Span

_Floats = NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class ScoredReading:
    """What was seen in one passage; the confidence is that it answers the question and the quote is right."""

    score: float
    reading: Reading
    confidence: float

    @property
    def span(self) -> Span | None:
        """The answer as it stands in the passage; None if none is the better answer."""
        return self.reading.span

    @property
    def quote(self) -> Span | None:
        """The best span, even where no answer is better; None if there is nothing to quote."""
        return self.reading.quotes[0].span if self.reading.quotes else None


class OnePassReader(Reader):
    """A reader whose one pass also scores the passage and says how sure that is.

    Its views are glances. As a ranker it gives the scores of a cross-encoder, of a long passage that of the
    best window.
    """

    @property
    @abstractmethod
    def confidence_model(self) -> ConfidenceModel | None:
        """What makes a confidence of signals; None if it has not been trained."""

    def look(self, question: str, passages: Sequence[str]) -> list[ScoredReading]:
        """A look at each passage."""
        return self.look_pools([Pool.of(question, passages)])[0]

    def look_pools(self, pools: Sequence[Pool]) -> list[list[ScoredReading]]:
        """A look at each candidate of each pool, all in one go."""
        found = iter(self.looks([(pool.question, text) for pool in pools for text in pool.answers]))
        return [[next(found) for _ in pool.answers] for pool in pools]

    def looks(self, pairs: Sequence[Pair]) -> list[ScoredReading]:
        """A look at each pair; one that is there twice is seen once."""
        found: dict[Pair, ScoredReading] = {}
        for some in _different(pairs):
            seen = self.glances(some)
            readings = [self.reading(text, each) for (_, text), each in zip(some, seen, strict=True)]
            scores = np.array([max(one.score for one in each) for each in seen])
            confidences = self._confidences(seen, scores)
            looks = zip(scores.tolist(), readings, confidences.tolist(), strict=True)
            found |= dict(zip(some, (ScoredReading(*each) for each in looks), strict=True))
        return [found[pair] for pair in pairs]

    def signals(self, pairs: Sequence[Pair]) -> FloatArray:
        """The signals that the confidence is made of: a row for each pair."""
        rows: dict[Pair, FloatArray] = {}
        for some in _different(pairs):
            seen = (signals(each, self.longest) for each in self.glances(some))
            rows |= dict(zip(some, seen, strict=True))
        return np.array([rows[pair] for pair in pairs])

    def score_pools(self, pools: Sequence[Pool]) -> list[FloatArray]:
        """One array of scores per pool."""
        pairs = [(pool.question, text) for pool in pools for text in pool.answers]
        found: dict[Pair, float] = {}
        for some in _different(pairs):
            best = (max(one.score for one in each) for each in self.glances(some))
            found |= dict(zip(some, best, strict=True))
        return [np.array([found[pool.question, text] for text in pool.answers], float) for pool in pools]

    def _confidences(self, seen: Sequence[Sequence[Glance]], scores: FloatArray) -> FloatArray:
        how = self.confidence_model
        if how is None:  # as good as a network alone can say
            return expit(scores)
        return how.of(np.array([signals(each, self.longest) for each in seen]))

    def glances(self, pairs: Sequence[Pair]) -> list[list[Glance]]:
        """What the network says of each window of each pair, pair by pair."""
        found: list[list[Glance]] = [[] for _ in pairs]
        for seen in cast("Iterator[Glance]", self.views(pairs)):
            found[seen.pair].append(seen)
        return [sorted(each, key=lambda seen: seen.number) for each in found]


def _different(pairs: Sequence[Pair]) -> Iterator[Sequence[Pair]]:
    """The different pairs, so many at a time."""
    return portions(list(dict.fromkeys(pairs)))


def glance(window: Tokens, at: int, score: float, spans: _Floats, layers: _Floats) -> Glance:
    """What a network said of a window, token by token, as positions: no answer, then the passage's tokens."""
    places = np.append(0, np.arange(window.head, window.head + window.shown))
    starts, ends = spans[:, places].astype(np.float64)
    probed = layers[:, :, places].astype(np.float32)
    facts = at + window.pair, window.number, starts, ends, window.places, window.fair
    return Glance(*facts, score=float(score), layers=probed)
