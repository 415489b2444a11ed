"""Training of a cross-encoder on easy examples first, hard ones counting more and more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from demur.errors import UnknownName, UsageError
from demur.rankers.ensembles.base import resolve_member
from demur.training.cross_encoders.cross_encoder import CrossEncoder
from demur.types import FloatArray, Pool

if TYPE_CHECKING:
    import torch

    from demur.training.objectives.base import Objective

DIFFICULTIES = ("rank", "score", "density")


@dataclass(frozen=True)
class Curriculum(CrossEncoder):
    """A cross-encoder that learns from easy examples first, as BERT-CL does (MacAvaney et al. 2020).

    An example is easy if the ranker `first` puts the right answer above the wrong one. ``difficulty=rank``
    compares their reciprocal ranks in the pool; ``score`` where their scores lie between the pool's lowest
    and highest; ``density`` what share of a kernel density of the pool's scores lies below them. Over the
    first `until` epochs the weights of all examples grow to 1. By ``loss=listwise`` an example is a pool, and
    counts as the mean of its pairs of a right and a wrong answer. The other settings are those of
    ``cross-encoder``.
    """

    name: ClassVar[str] = "curriculum"
    whole: ClassVar[bool] = True
    first: str = "bm25(stem=english)"
    difficulty: str = "rank"
    until: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.difficulty not in DIFFICULTIES:
            raise UnknownName("difficulty", self.difficulty, DIFFICULTIES)
        if not 0 <= self.until <= self.epochs:
            raise UsageError(f"until={self.until:g} must be 0 to {self.epochs}, the number of epochs")
        resolve_member(self.first)  # or it says why

    @property
    def depends(self) -> str:
        """A hash of the first ranker, and of the base if it is a folder."""
        return super().depends + resolve_member(self.first).fingerprint

    def _objective(
        self, pools: Sequence[Pool], taught: Sequence[Pool], network: torch.nn.Module
    ) -> Objective:
        import torch

        from demur.training.objectives.curriculum import Curriculum as EasyFirst

        seen = [pool for pool in pools if self._sampled(pool) is not None]
        found = []
        scores = resolve_member(self.first).prepare(pools).score_pools(seen)
        for pool, kept, first in zip(seen, taught, scores, strict=True):
            places = {(each.id, each.text): place for place, each in enumerate(pool.candidates)}
            likely = chances(first, self.difficulty)[[places[each.id, each.text] for each in kept.candidates]]
            right = np.array([bool(each.label and each.label > 0) for each in kept.candidates])
            found.append(easiness(likely, right, pointwise=self.loss == "pointwise"))
        easy = np.concatenate(found)
        return EasyFirst(self._loss(), torch.from_numpy(easy), self.until * len(easy))


def chances(scores: FloatArray, difficulty: str) -> FloatArray:
    """How highly each candidate of a pool is thought of, from 0 to 1; ties are thought of alike."""
    if difficulty == "rank":
        above = (scores[None] > scores[:, None]).sum(1)
        ties = (scores[None] == scores[:, None]).sum(1)
        return np.asarray(1 / (above + (ties + 1) / 2), np.float64)  # of the mean rank
    low, high = float(scores.min()), float(scores.max())
    if low == high:
        return np.full(len(scores), 0.5)
    if difficulty == "score":
        return np.asarray((scores - low) / (high - low), np.float64)
    width = float(scores.std(ddof=1)) * len(scores) ** -0.2  # Scott's rule, as in scipy
    return np.asarray(ndtr((scores[:, None] - scores[None]) / width).mean(1), np.float64)


def easiness(likely: FloatArray, right: NDArray[np.bool_], pointwise: bool) -> FloatArray:
    """How easy each pair of a pool is: what is thought of a right one, or what is not of a wrong one.

    For a whole pool, the mean of (right - wrong + 1) / 2 over its pairs of both; each of its pairs has that.
    """
    if pointwise:
        return np.where(right, likely, 1 - likely)
    return np.full(len(likely), (likely[right].mean() - likely[~right].mean() + 1) / 2)
