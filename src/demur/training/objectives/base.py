"""What a step's loss is: from the scores of its pairs, and what is known of each pair.

An objective is a module of torch. So it may have weights of its own, which learn along, and remember things
between steps as buffers; a checkpoint holds both. What it is told of all pairs beforehand it need not keep.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from demur.training.objectives.pool_losses import Loss, loss_of, mean_of


@dataclass(frozen=True)
class ScoredPairs:
    """What a step saw: pool after pool, n pairs in all."""

    scores: Tensor  # n
    right: Tensor  # n, true or false
    sizes: Sequence[int]  # of each pool
    pairs: Tensor  # n: which of all pairs that are learnt from
    features: Tensor | None = (
        None  # n × d: what the encoder says of each pair, where the objective asks for it
    )

    def pools(self, values: Tensor, mean: bool = False) -> Tensor:
        """The sums, or means, over each pool of one value per pair."""
        sizes = torch.tensor(self.sizes, device=values.device)
        place = torch.repeat_interleave(torch.arange(len(sizes), device=values.device), sizes)
        sums = torch.zeros(len(sizes), dtype=values.dtype, device=values.device).index_add(0, place, values)
        return sums / sizes if mean else sums


class Objective(nn.Module):
    """Something to be minimised."""

    wants: str = ""
    """What it looks at besides scores: ``first`` is the encoder's last state of the first token, ``pooled``
    what the encoder makes of it for a classifier (the same, if it makes nothing)."""

    def forward(self, seen: ScoredPairs) -> Tensor:
        """The loss of a step."""
        raise NotImplementedError

    def told(self) -> dict[str, float]:
        """What is to be said of the epoch that is over."""
        return {}

    def __call__(self, seen: ScoredPairs) -> Tensor:
        """As `forward`."""
        loss: Tensor = super().__call__(seen)
        return loss


class Plain(Objective):
    """The mean of a loss over pools (listwise) or pairs (pointwise)."""

    def __init__(self, loss: Loss | None = None) -> None:
        super().__init__()
        self.loss = loss or Loss()

    def each(self, seen: ScoredPairs, scores: Tensor | None = None) -> Tensor:
        """The loss of each pool or pair; perhaps with other scores."""
        return loss_of(self.loss, seen.scores if scores is None else scores, seen.right, seen.sizes)

    def weighted(self, seen: ScoredPairs, weights: Tensor) -> Tensor:
        """The mean loss with weights of pairs; a pool's is the mean of its pairs'."""
        per = weights if self.loss.pointwise else seen.pools(weights, mean=True)
        return (per * self.each(seen)).mean()

    def forward(self, seen: ScoredPairs) -> Tensor:
        """The mean loss."""
        return mean_of(self.loss, seen.scores, seen.right, seen.sizes)
