"""Trainers of cross-encoders that are not to rest on how many words question and answer share.

What they are to leave alone is modelled from overlap, lengths and place (`bias`), or found where a first
training goes wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from demur.errors import UnknownName, UsageError
from demur.rankers.cross_encoders.cross_encoder import CrossEncoder as CrossEncoderRanker
from demur.training.base import Reporter
from demur.training.cross_encoders.cross_encoder import CrossEncoder
from demur.training.cross_encoders.worst_group import groups
from demur.types import FloatArray, IntArray, Pool

if TYPE_CHECKING:
    import torch

    from demur.training.objectives.base import Objective

METHODS = ("poe", "mixin", "reweight")
_FOLDS = 5


@dataclass(frozen=True)
class Debiased(CrossEncoder):
    """A cross-encoder that learns what overlap, lengths and position do not explain.

    By ``method=poe`` its scores are added to the log-odds of a bias-only model in training (product of
    experts), by ``mixin`` to a share of them that it chooses for each pair, with `entropy` as the price of a
    bias that says nothing, and by ``reweight`` pairs that the bias gets right count less. The other settings
    are those of ``cross-encoder``.
    """

    name: ClassVar[str] = "debiased"
    edition: ClassVar[int] = 2  # 1 stopped fitting the bias-only model sooner
    whole: ClassVar[bool] = True
    method: str = "poe"
    entropy: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.method not in METHODS:
            raise UnknownName("method", self.method, METHODS)
        if self.entropy < 0:
            raise UsageError(f"entropy={self.entropy:g} is a price; write 0 or more")
        if self.entropy and self.method != "mixin":
            raise UsageError(f"entropy is for method=mixin, not {self.method}; leave it out")

    def _objective(
        self, pools: Sequence[Pool], taught: Sequence[Pool], network: torch.nn.Module
    ) -> Objective:
        import torch

        from demur.training.cross_encoders.bias_model import out_of_fold
        from demur.training.objectives.robust import Product, Reweighted

        rows, right, of = known(self, pools, taught)
        odds = torch.from_numpy(out_of_fold(rows, right, of, _FOLDS, self.seed))
        if self.method == "reweight":
            return Reweighted(self._loss(), odds)
        config: Any = network.config
        return Product(self._loss(), odds, config.hidden_size if self.method == "mixin" else 0, self.entropy)


@dataclass(frozen=True)
class GroupDRO(CrossEncoder):
    """A cross-encoder whose worst group counts most: right or wrong answers with little to much overlap.

    `rate` is the step size of the group weights, `adjust` the size adjustment for small groups. The loss is
    pointwise, as groups are groups of pairs. The other settings are those of ``cross-encoder``.
    """

    name: ClassVar[str] = "group-dro"
    whole: ClassVar[bool] = True
    loss: str = "pointwise"
    rate: float = 0.01
    adjust: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.loss != "pointwise":
            raise UsageError(
                "groups are of pairs, so group-dro learns by loss=pointwise only; leave the loss out"
            )
        if min(self.rate, self.adjust) < 0:
            raise UsageError("rate and adjust must not be below 0")

    def _objective(
        self, pools: Sequence[Pool], taught: Sequence[Pool], network: torch.nn.Module
    ) -> Objective:
        import torch

        from demur.training.objectives.robust import GroupDRO as Shares

        rows, right, _ = known(self, pools, taught)
        return Shares(self._loss(), torch.from_numpy(groups(rows, right)), self.rate, self.adjust)


@dataclass(frozen=True)
class JustTrainTwice(CrossEncoder):
    """A cross-encoder trained twice: the errors of the first one after `first` epochs are upsampled.

    By ``loss=pointwise`` that is `copies` more of each pair on the wrong side, by ``listwise`` of each pool
    whose best answer is wrong. The other settings are those of ``cross-encoder``.
    """

    name: ClassVar[str] = "jtt"
    copies: int = 20
    first: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.copies < 0 or self.first < 1:
            raise UsageError("copies must be 0 or more, and first 1 or more")

    def _taught(
        self,
        pools: Sequence[Pool],
        start: CrossEncoderRanker | None,
        checkpoints: Path | None,
        report: Reporter,
    ) -> list[Pool]:
        taught = super()._taught(pools, start, checkpoints, report)
        if not self.copies:
            return taught
        plain = {field.name: getattr(self, field.name) for field in fields(CrossEncoder) if field.init}
        erring = CrossEncoder(**{**plain, "epochs": self.first, "early": "", "patience": 0}).train(
            pools,
            start=start,
            checkpoints=checkpoints,
            report=lambda facts: (
                report(facts) if "share" in facts else None
            ),  # its epochs are not the model's
        )
        scores = erring.score_pools(taught)
        wrong = [mistaken(*each, self.loss) for each in zip(taught, scores, strict=True)]
        return taught + [pool for pool in wrong if pool is not None] * self.copies


def known(
    by: CrossEncoder, pools: Sequence[Pool], taught: Sequence[Pool]
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Of all pairs: what tells them without reading, if they are right, and the number of their pool."""
    from demur.training.cross_encoders.bias_model import features

    seen = [pool for pool in pools if by._sampled(pool) is not None]
    rows = [
        table[[pool.candidates.index(candidate) for candidate in kept.candidates]]
        for pool, kept, table in zip(seen, taught, features(seen), strict=True)
    ]
    right = [float(bool(c.label and c.label > 0)) for pool in taught for c in pool.candidates]
    return np.concatenate(rows), np.array(right), np.repeat(np.arange(len(taught)), [*map(len, taught)])


def mistaken(pool: Pool, scores: FloatArray, loss: str) -> Pool | None:
    """The pool if its best answer is wrong, or its pairs on the wrong side of 0; None if all is well."""
    right = np.array([bool(c.label and c.label > 0) for c in pool.candidates])
    if loss == "listwise":
        return None if right[int(scores.argmax())] else pool
    kept = tuple(c for c, off in zip(pool.candidates, (scores > 0) != right, strict=True) if off)
    return replace(pool, candidates=kept) if kept else None
