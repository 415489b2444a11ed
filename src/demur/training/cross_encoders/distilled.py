"""A cross-encoder that learns what another ranker thinks, with no labels or beside them.

A committee, or a sum of rankers that no label taught, can so be put into one network (Hinton et al. 2015).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from demur.errors import UsageError
from demur.rankers import ranker
from demur.rankers.cross_encoders.cross_encoder import CrossEncoder as CrossEncoderRanker
from demur.rankers.ensembles.base import standardised
from demur.rankers.vectors.recipe_encoder import in_floats
from demur.training.base import Reporter
from demur.training.cross_encoders.cross_encoder import CrossEncoder
from demur.training.dev_set import has_both
from demur.training.encoders.cached_encoder import with_kept_vectors
from demur.types import Pool

if TYPE_CHECKING:
    import torch

    from demur.training.objectives.base import Objective

_KEPT = 256  # pools whose scores by the teacher are asked for at a time


@dataclass(frozen=True)
class Distilled(CrossEncoder):
    """A cross-encoder distilled from a `teacher`: any ranker, such as a fusion, or the folder of a model.

    In each pool its scores become a distribution: a softmax of the standard scores times `sharpness`. The
    network learns it from at most `candidates` answers, drawn by the seed. Labels are not used, unless
    `labels` sets their share of the loss; then pools without right and wrong answers are left out, and so are
    candidates that nobody has judged. The other settings are those of ``cross-encoder``; `negatives` is not
    used here, and `smoothing` and `focal` are of labels.
    """

    name: ClassVar[str] = "distilled"
    teacher: str = "fusion"
    sharpness: float = 1.5
    candidates: int = 8
    labels: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.sharpness > 0 or self.candidates < 2 or not 0 <= self.labels < 1:
            raise UsageError("sharpness must be above 0, candidates 2 or more, and labels a share below 1")
        if self.loss != "listwise":
            raise UsageError(
                "a teacher's scores are compared within a pool, so the loss of distilled must be listwise"
            )

        if not self.labels and (self.smoothing or self.focal):
            raise UsageError("smoothing and focal are of labels; set labels, or leave them out")

    @property
    def depends(self) -> str:
        """A hash of the teacher, and of the base if it is a folder."""
        return super().depends + ranker(in_floats(self.teacher)).fingerprint

    def _taught(
        self,
        pools: Sequence[Pool],
        start: CrossEncoderRanker | None,
        checkpoints: Path | None,
        report: Reporter,
    ) -> list[Pool]:
        """The pools with some of their candidates; without labels, where those are not to be read."""
        kept = []
        for number, pool in enumerate(pools):
            if self.labels:
                if not has_both([pool]):
                    continue
                pool = replace(pool, candidates=tuple(c for c in pool.candidates if c.label is not None))
            chosen = list(range(len(pool)))
            if len(pool) > self.candidates:
                draws = np.random.default_rng([self.seed, number])
                right = [n for n, one in enumerate(pool.candidates) if self.labels and (one.label or 0) > 0]
                rest = draws.permutation([n for n in chosen if n not in right]).tolist()
                chosen = sorted([*right, *rest][: max(self.candidates, len(right) + 1)])
            part = replace(pool, candidates=tuple(pool.candidates[n] for n in chosen))
            if len(part) > 1:
                kept.append(part if self.labels else _bare(part))
        return kept

    def _check_labels(self, pools: Sequence[Pool]) -> None:
        """Raise an error if there is nothing on which a teacher could have an opinion."""
        if self.labels:
            super()._check_labels(pools)
        elif not any(len(pool) > 1 for pool in pools):
            raise UsageError(
                "no pool has two candidates or more, and nothing to learn from a teacher; name data that has"
            )

    def _objective(
        self, pools: Sequence[Pool], taught: Sequence[Pool], network: torch.nn.Module
    ) -> Objective:
        import torch

        from demur.training.objectives.distilled import Distilling

        teacher = with_kept_vectors(ranker(in_floats(self.teacher)).prepare(pools))
        scores = []
        for at in range(0, len(taught), _KEPT):
            scores += teacher.score_pools(taught[at : at + _KEPT])
        sharpened = [self.sharpness * standardised(each) for each in scores]
        shares = np.concatenate(
            [np.exp(each - each.max()) / np.exp(each - each.max()).sum() for each in sharpened]
        )
        return Distilling(self._loss(), torch.from_numpy(shares), self.labels)


def _bare(pool: Pool) -> Pool:
    return replace(pool, candidates=tuple(replace(one, label=None) for one in pool.candidates))
