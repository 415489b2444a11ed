"""The loss of a network that learns a teacher's opinion."""

from __future__ import annotations

import torch
from torch import Tensor

from demur.training.objectives.base import Plain, ScoredPairs
from demur.training.objectives.pool_losses import Loss


class Distilling(Plain):
    """The mean over pools of the cross-entropy between the teacher's distribution and the network's.

    `labels` is the share of the loss that is the labels'. The teacher's shares are given for all pairs, and
    sum to 1 within a pool.
    """

    def __init__(self, loss: Loss, shares: Tensor, labels: float = 0.0) -> None:
        super().__init__(loss)
        self.shares = shares.float()
        self.labels = labels

    def forward(self, seen: ScoredPairs) -> Tensor:
        """The loss of a step."""
        shares = self.shares.to(seen.scores.device)[seen.pairs]
        sizes = list(seen.sizes)
        parts = zip(torch.split(seen.scores, sizes), torch.split(shares, sizes), strict=True)
        loss = torch.stack([-(wanted * torch.log_softmax(pool, 0)).sum() for pool, wanted in parts]).mean()
        return torch.lerp(loss, super().forward(seen), self.labels) if self.labels else loss
