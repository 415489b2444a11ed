"""Losses that do not reward what a bias alone can tell (Clark et al. 2019; Sagawa et al. 2020)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody calls it

from demur.training.objectives.base import Plain, ScoredPairs
from demur.training.objectives.pool_losses import Loss, mean_of


class Biased(Plain):
    """A plain loss that knows each pair's log-odds of being right by the bias alone."""

    odds: Tensor

    def __init__(self, loss: Loss, odds: Tensor) -> None:
        super().__init__(loss)
        self.register_buffer("odds", odds.float(), persistent=False)


class Product(Biased):
    """The product of two experts: the bias has had its say, and the network learns what is left.

    Probabilities multiply, so log-odds add up: with even odds it is the plain loss, and where the bias is
    sure and right there is nothing to learn. With a `width` the network says for each pair how far the bias
    is to be believed (learned-mixin), and `entropy` is what an undecided bias costs (+H).
    """

    def __init__(self, loss: Loss, odds: Tensor, width: int = 0, entropy: float = 0.0) -> None:
        super().__init__(loss, odds)
        self.belief = nn.Linear(width, 1) if width else None
        self.entropy = entropy
        self.wants = "first" if width else ""

    def forward(self, seen: ScoredPairs) -> Tensor:
        """The loss of a step."""
        odds = self.odds[seen.pairs]
        if self.belief is not None and seen.features is not None:
            odds = F.softplus(self.belief(seen.features)[:, 0].float()) * odds
        loss = mean_of(self.loss, seen.scores + odds, seen.right, seen.sizes)
        return loss + self.entropy * self._entropy(odds, seen.sizes) if self.entropy else loss

    def _entropy(self, odds: Tensor, sizes: Sequence[int]) -> Tensor:
        if self.loss.pointwise:
            return F.binary_cross_entropy_with_logits(odds, torch.sigmoid(odds))
        logs = [torch.log_softmax(pool, 0) for pool in torch.split(odds, list(sizes))]
        return torch.stack([-(each.exp() * each).sum() for each in logs]).mean()


class Reweighted(Biased):
    """Weights of 1 less the chance that the bias gives to what is right, 1 in the mean."""

    def forward(self, seen: ScoredPairs) -> Tensor:
        """The loss of a step."""
        odds = self.odds[seen.pairs]
        if self.loss.pointwise:
            known = torch.sigmoid(torch.where(seen.right, odds, -odds))
        else:
            parts = zip(
                torch.split(odds, list(seen.sizes)), torch.split(seen.right, list(seen.sizes)), strict=True
            )
            known = torch.stack([torch.softmax(pool, 0)[true].sum() for pool, true in parts])
        weights = 1 - known
        return (weights * self.each(seen)).sum() / weights.sum().clamp(min=1e-6)


class GroupDRO(Plain):
    """The loss of all groups of pairs, those counting most that do worst.

    With each step a group's share grows by exp(`rate` · (its loss + `adjust` / √ its size)); a group without
    a pair in a step has no loss in it.
    """

    shares: Tensor
    groups: Tensor
    sizes: Tensor
    sums: Tensor

    def __init__(self, loss: Loss, groups: Tensor, rate: float = 0.01, adjust: float = 0.0) -> None:
        super().__init__(loss)
        sizes = torch.bincount(groups)
        self.rate, self.adjust = rate, adjust
        self.register_buffer("groups", groups, persistent=False)
        self.register_buffer("sizes", sizes, persistent=False)
        self.register_buffer("shares", (sizes > 0) / (sizes > 0).sum())
        self.register_buffer("sums", torch.zeros(2, len(sizes), dtype=torch.float64))

    def forward(self, seen: ScoredPairs) -> Tensor:
        """The loss of a step."""
        each, group = self.each(seen), self.groups[seen.pairs]
        count = torch.bincount(group, minlength=len(self.shares))
        sums = torch.zeros(len(self.shares), device=each.device).index_add(0, group, each)
        losses = sums / count.clamp(min=1)
        with torch.no_grad():
            grown = losses.detach() + self.adjust / self.sizes.clamp(min=1).sqrt()
            shares = self.shares * torch.exp(self.rate * grown)
            self.shares.copy_(shares / shares.sum())
            self.sums += torch.stack([sums.detach().double(), count.double()])
        return (self.shares.clone() * losses).sum()  # a product of matrices would be one of half precision

    def told(self) -> dict[str, float]:
        """The mean loss and the share of the group that did worst in the epoch."""
        losses = self.sums[0] / self.sums[1].clamp(min=1)
        self.sums.zero_()
        worst = int(losses.argmax())
        return {"worst_loss": float(losses[worst]), "worst_share": float(self.shares[worst])}
