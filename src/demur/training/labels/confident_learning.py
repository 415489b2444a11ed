"""Labels that are likely wrong, left out before training: confident learning (Northcutt et al. 2021).

A student that has not seen a pool says how likely each of its answers is right. An answer counts as of that
class whose mean chance, over the answers labelled so, its own chance reaches; where that is not the class of
its label, the label is removed.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from demur import logistic
from demur.errors import UsageError
from demur.rankers import Ranker
from demur.training import refuse_readers, seeded
from demur.training.base import Reporter, Trainer, silent
from demur.types import FloatArray, Pool

_log = logging.getLogger("demur")


@dataclass(frozen=True)
class Confident(Trainer):
    """Any trainer, the `student`, on the pools without labels that are likely wrong (confident learning).

    The student is trained `folds` times on a part of the pools to judge the others, and once on all that
    remain. `keep_right` keeps all right answers, and removes only wrong ones.
    """

    name: ClassVar[str] = "confident"
    student: str = "cross-encoder"
    folds: int = 4
    keep_right: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if self.folds < 2 or self.seed < 0:
            raise UsageError("folds must be 2 or more, and seed 0 or more")
        refuse_readers(self.student, self.name)

    @property
    def inner(self) -> str:
        """The spec of the trainer that does the work."""
        return self.student

    def follows(self, before: Trainer | None) -> None:
        """Raise an error unless the student can go on from what that trainer makes."""
        seeded(self.student, self.seed).follows(before)

    def check(self, pools: Sequence[Pool], dev: Sequence[Pool] = ()) -> None:
        """Raise an error unless the student can learn from these."""
        seeded(self.student, self.seed).check(pools, dev)
        if len(pools) < self.folds:
            what = f"{len(pools)} pools are too few for folds={self.folds}"
            raise UsageError(f"{what}; give more or fewer folds")

    @property
    def depends(self) -> str:
        """What the student depends on."""
        by = seeded(self.student, self.seed)
        return f"{by.edition} {by.depends}"

    def train(
        self,
        pools: Sequence[Pool],
        dev: Sequence[Pool] = (),
        *,
        start: Ranker | None = None,
        checkpoints: Path | None = None,
        report: Reporter = silent,
    ) -> Ranker:
        """The ranker that the pools teach without their unlikely labels."""
        self.check(pools, dev)
        fold = np.random.default_rng([self.seed, len(pools)]).permutation(len(pools)) % self.folds
        scores: list[FloatArray] = [np.empty(0)] * len(pools)
        by = seeded(self.student, self.seed)
        more: dict[str, Any] = {"start": start, "checkpoints": checkpoints}
        for each in range(self.folds):
            out = np.flatnonzero(fold == each).tolist()
            rest = [pool for pool, other in zip(pools, fold, strict=True) if other != each]
            judge = by.train(
                rest, dev, **more, report=lambda facts: report(facts) if "share" in facts else None
            )
            for place, found in zip(out, judge.score_pools([pools[n] for n in out]), strict=True):
                scores[place] = found
        kept, gone = pruned(pools, scores, self.keep_right)
        _log.info(f"{gone:,} labels are unlikely and left out")
        return by.train(kept, dev, **more, report=lambda facts: report({**facts, "pruned": gone}))


def pruned(
    pools: Sequence[Pool], scores: Sequence[FloatArray], keep_right: bool = False
) -> tuple[list[Pool], int]:
    """The pools without unlikely labels, and how many those are."""
    judged = [[c.label is not None for c in pool.candidates] for pool in pools]
    given = np.array([c.label > 0 for pool in pools for c in pool.candidates if c.label is not None], bool)
    if given.all() or not given.any():
        raise UsageError("the labels are all right or all wrong, so none stands out; give some of both")
    known = np.concatenate([each[np.array(mask, bool)] for each, mask in zip(scores, judged, strict=True)])
    off = unlikely(chances(known, given), given)
    if keep_right:
        off &= ~given
    marks = iter(off.tolist())
    made = []
    for pool in pools:
        candidates = tuple(
            dataclasses.replace(c, label=None) if c.label is not None and next(marks) else c
            for c in pool.candidates
        )
        made.append(dataclasses.replace(pool, candidates=candidates))
    return made, int(off.sum())


def chances(scores: FloatArray, right: Any) -> FloatArray:
    """Scores as chances of being right, by a logistic regression on the labels."""
    slopes, shift = logistic.fit(scores[:, None], right.astype(np.float64), signed=True, ridge=1e-3)
    return np.asarray(expit(slopes[0] * scores + shift))


def unlikely(chance: FloatArray, right: Any) -> Any:
    """Which labels lie off the diagonal of the confident joint."""
    by_class = np.stack([1 - chance, chance], 1)
    bars = np.array([by_class[~right, 0].mean(), by_class[right, 1].mean()])
    reached = np.where(by_class >= bars, by_class, -1.0)
    confident = reached.max(1) >= 0
    return confident & (reached.argmax(1) != right.astype(np.int64))
