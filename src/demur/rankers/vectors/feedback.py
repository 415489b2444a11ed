"""Pseudo-relevance feedback: the question moves toward what a first ranker puts first (Rocchio 1971).

It gained nothing on the dev sets it was measured on beyond what its first ranker has (see docs/results.md):
where the pool is all there is, its best answers say little that their own scores did not. It is here to be
tried on pools of another kind.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np

from demur.embedders import Embedder, embedder
from demur.embedders.rows import Rows
from demur.errors import UsageError
from demur.rankers import ranker
from demur.rankers.base import Ranker
from demur.rankers.ensembles.base import standardised
from demur.rankers.vectors.cosine import pairwise
from demur.specs import Spelled
from demur.types import FloatArray, Pool


@dataclass(frozen=True)
class Feedback(Ranker):
    """Cosine with the question plus `beta` times the mean of the `k` answers that `first` puts first.

    The mean is weighted by a softmax of their standard scores over `temperature`. A text that is in a pool
    twice counts once. It did not beat its first ranker on our dev sets.
    """

    name: ClassVar[str] = "feedback"
    tolerance: ClassVar[float] = 1e-5  # of the features: encoders round by batch
    first: str = "fusion"
    features: str = "encoder"
    k: int = 3
    beta: float = 0.4
    temperature: float = 0.5
    members: tuple[Ranker, Embedder] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.k < 1 or self.beta < 0 or not self.temperature > 0:
            raise UsageError("feedback needs k of 1 or more, beta of 0 or more and a temperature above 0")
        self._hold(ranker(self.first), embedder(self.features))

    def holding(self, first: Ranker, features: Embedder) -> Self:
        """The same with another first ranker and embedder than its specs build."""
        other = copy.copy(self)
        other._hold(first, features)
        return other

    def _hold(self, first: Ranker, features: Embedder) -> None:
        object.__setattr__(self, "members", (first, features))  # the one field that no caller may set

    @property
    def parts(self) -> Sequence[Spelled]:
        """The first ranker and the embedder."""
        return self.members

    @property
    def needs_preparing(self) -> bool:
        """Whether the first ranker must see the pools first."""
        return self.members[0].needs_preparing

    def prepare(self, pools: Iterable[Pool]) -> Self:
        """The same with its first ranker prepared."""
        if not self.needs_preparing:
            return self
        first, features = self.members
        return self.holding(first.prepare(pools), features)

    def score_pools(self, pools: Sequence[Pool]) -> list[FloatArray]:
        """One array of scores per pool."""
        first, features = self.members
        rows = Rows.of(pools)
        vectors = np.asarray(features.embed(rows.texts), np.float64)
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
        vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
        ends = np.cumsum(rows.sizes).tolist()
        scored = first.score_pools(pools)
        return [
            self._scores(
                pool, scores, vectors[rows.questions[start:end]][:1], vectors[rows.answers[start:end]]
            )
            for pool, scores, start, end in zip(pools, scored, [0, *ends], ends, strict=False)
        ]

    def _scores(
        self, pool: Pool, scores: FloatArray, question: FloatArray, answers: FloatArray
    ) -> FloatArray:
        """The scores of one pool."""
        if not len(pool):
            return np.zeros(0)
        standard = standardised(scores, 100 * self.members[0].tolerance)
        places = {text: place for place, text in enumerate(pool.answers)}  # of equal texts one is enough
        best = sorted(places.values(), key=lambda place: (-standard[place], pool.answers[place]))[: self.k]
        weights = np.exp((standard[best] - standard[best[0]]) / self.temperature)
        moved = question[0] + self.beta * (weights / weights.sum()) @ answers[best]
        return pairwise(np.broadcast_to(moved, answers.shape), answers)

    @property
    def fingerprint(self) -> str:
        """A hash of the settings, the first ranker and the embedder."""
        first, features = self.members
        own = (
            f"{self.name} {self.k} {self.beta} {self.temperature} {first.fingerprint} {features.fingerprint}"
        )
        return hashlib.sha256(own.encode()).hexdigest()[:16]
