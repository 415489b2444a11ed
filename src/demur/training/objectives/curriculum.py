"""Easy pairs first: the weight of a hard one grows while a network learns (MacAvaney et al. 2020)."""

from __future__ import annotations

import torch
from torch import Tensor

from demur.training.objectives.base import Plain, ScoredPairs
from demur.training.objectives.pool_losses import Loss


class Curriculum(Plain):
    """A plain loss in which a pair counts as much as it is easy at first, and all count 1 in the end.

    The weight is `easy` + i/m (1 - `easy`), where i of m pairs have been seen, `until` in all.
    """

    easy: Tensor
    seen: Tensor

    def __init__(self, loss: Loss, easy: Tensor, until: float) -> None:
        super().__init__(loss)
        self.until = until
        self.register_buffer("easy", easy.float(), persistent=False)
        self.register_buffer("seen", torch.zeros((), dtype=torch.float64))

    def forward(self, seen: ScoredPairs) -> Tensor:
        """The loss of a step."""
        share = self._share()
        self.seen += len(seen.scores)
        easy = self.easy[seen.pairs]
        return self.weighted(seen, easy + share * (1 - easy))

    def told(self) -> dict[str, float]:
        """How far the curriculum is."""
        return {"curriculum": self._share()}

    def _share(self) -> float:
        return min(float(self.seen) / self.until, 1.0) if self.until else 1.0
