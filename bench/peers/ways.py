"""The ways in which libraries rank candidates: by vectors, by pairs all at once, or question by question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from demur.rankers import Ranker
from demur.types import Pool

Vectors = Any


class Contender(Protocol):
    """What ranks candidates."""

    def score(self, pools: Sequence[Pool]) -> list[Sequence[float]]:
        """The scores of all candidates of each pool."""

    def faq(self, answers: list[str]) -> Callable[[str], object]:
        """What ranks the same answers for each question."""


@dataclass
class Ours:
    """demur with one of its rankers."""

    ranker: Ranker

    def score(self, pools: Sequence[Pool]) -> list[Sequence[float]]:
        """The scores of all candidates of each pool."""
        return [each.tolist() for each in self.ranker.score_pools(pools)]

    def faq(self, answers: list[str]) -> Callable[[str], object]:
        """What ranks the same answers for each question."""
        return lambda question: self.ranker.rank(question, answers)


@dataclass
class Encoder:
    """A library's sentence vectors, compared by their cosine; no text is given to it twice."""

    embed: Callable[[list[str]], Vectors]

    def score(self, pools: Sequence[Pool]) -> list[Sequence[float]]:
        """The scores of all candidates of each pool."""
        texts = list(dict.fromkeys(text for pool in pools for text in (pool.question, *pool.answers)))
        found = dict(zip(texts, unit(self.embed(texts)), strict=True))
        return [[float(found[answer] @ found[pool.question]) for answer in pool.answers] for pool in pools]

    def faq(self, answers: list[str]) -> Callable[[str], object]:
        """What ranks the same answers for each question; their vectors are made once."""
        kept = unit(self.embed(answers))
        return lambda question: np.argsort(-(kept @ unit(self.embed([question]))[0]))


@dataclass
class Pairs:
    """A library's cross-encoder, asked question by question."""

    rank: Callable[[str, list[str]], Sequence[float]]

    def score(self, pools: Sequence[Pool]) -> list[Sequence[float]]:
        """The scores of all candidates of each pool."""
        return [self.rank(pool.question, list(pool.answers)) for pool in pools]

    def faq(self, answers: list[str]) -> Callable[[str], object]:
        """What ranks the same answers for each question."""
        return lambda question: self.rank(question, answers)


def unit(vectors: Vectors) -> Vectors:
    """Vectors of length one."""
    found = np.asarray(vectors, np.float32)
    return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)


@dataclass
class AllPairs:
    """A library's cross-encoder, given all pairs at once."""

    predict: Callable[[list[tuple[str, str]]], Any]

    def score(self, pools: Sequence[Pool]) -> list[Sequence[float]]:
        """The scores of all candidates of each pool."""
        pairs = [(pool.question, answer) for pool in pools for answer in pool.answers]
        ends = np.cumsum([len(pool) for pool in pools])[:-1]
        return [part.tolist() for part in np.split(np.asarray(self.predict(pairs), float), ends)]

    def faq(self, answers: list[str]) -> Callable[[str], object]:
        """What ranks the same answers for each question."""
        return lambda question: self.predict([(question, answer) for answer in answers])
