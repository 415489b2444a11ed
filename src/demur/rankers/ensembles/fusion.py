"""Rankers of different kinds as one: scores made comparable within each pool, weighed and averaged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np

from demur.errors import UsageError
from demur.rankers.base import Ranker
from demur.rankers.ensembles.base import Ensemble
from demur.specs import Setting
from demur.types import FloatArray, Pool

RANKERS, WEIGHTS = "bm25(stem=english); encoder", "1, 4"
"""What is fused if nothing is said; the weights were the best of 1:1, 1:2, 1:3 and 1:4 on three dev sets."""


@dataclass(frozen=True)
class Fusion(Ensemble):
    """The weighted mean of several rankers, named by specs or folders: ``fusion(rankers=[bm25; encoder])``.

    The list in brackets is separated by semicolons, and may hold further ones: ``fusion(rankers=[bm25;
    fusion(rankers=[mini; encoder])])``. `weights` are numbers separated by commas, one for each ranker;
    without them all count alike. Without settings it is bm25 and the encoder, which counts four times.
    Folders are looked up in `folder`, if there is one.
    """

    name: ClassVar[str] = "fusion"
    ways: ClassVar[tuple[str, ...]] = ("zscore", "rrf", "rank")
    called: ClassVar[str] = "ranker"
    unsaid: ClassVar[Mapping[str, str]] = {"rankers": RANKERS}
    rankers: str = ""
    how: str = "zscore"
    weights: str = ""
    k: int = 60
    folder: str = ""
    _held: tuple[Ranker, ...] = field(default=(), init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.k < 0:
            raise UsageError(f"k={self.k} of fusion must be 0 or more; 60 is usual")
        if not self.rankers:
            object.__setattr__(self, "rankers", RANKERS)  # said in full, so that the spec says it
            object.__setattr__(self, "weights", self.weights or WEIGHTS)
        super().__post_init__()
        if not any(self._given(1)):
            raise UsageError(f'weights="{self.weights}" of fusion must not all be 0')
        _ = self.members  # or they say what is wrong

    @classmethod
    def of(cls, members: Sequence[Ranker], how: str = "zscore", weights: str = "", k: int = 60) -> Self:
        """The fusion of rankers that are there already, such as some that were just trained."""
        return cls._made_of(members, how=how, weights=weights, k=k)

    def score_pools(self, pools: Sequence[Pool]) -> list[FloatArray]:
        """One array of scores per pool."""
        fused = [np.zeros(len(pool)) for pool in pools]
        for member, share in zip(self.members, self.shares().tolist(), strict=True):
            for total, scores in zip(fused, member.score_pools(pools), strict=True):
                total += share * self.comparable(scores, member)
        return fused

    @property
    def _kept(self) -> dict[str, Setting]:
        return {**super()._kept, "k": self.k}

    @property
    def fingerprint(self) -> str:
        """A hash of the settings and of all rankers, wherever they lie."""
        return self._hashed(f"{self.name} {self.how} {self.weights} {self.k}")
