"""Losses over pools: scores of all pairs of a step, which of them are right, and how many each pool has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch.nn import functional as F  # noqa: N812  # as everybody calls it


@dataclass(frozen=True)
class Loss:
    """Which loss: of pools or of pairs, with labels smoothed by a share, and easy ones counting less (focal).

    A pool or pair whose right side has the chance p counts (1 - p) ** `focal` times (Lin et al. 2017).
    """

    pointwise: bool = False
    smoothing: float = 0.0
    focal: float = 0.0


def listwise(scores: torch.Tensor, right: torch.Tensor, sizes: Sequence[int]) -> torch.Tensor:
    """The mean over pools of −log of the share that a softmax gives to all right answers together."""
    return loss_of(Loss(), scores, right, sizes).mean()


def pointwise(scores: torch.Tensor, right: torch.Tensor, sizes: Sequence[int]) -> torch.Tensor:
    """The mean over pairs of the cross-entropy of each alone."""
    return F.binary_cross_entropy_with_logits(scores, right.to(scores.dtype))


def mean_of(loss: Loss, scores: torch.Tensor, right: torch.Tensor, sizes: Sequence[int]) -> torch.Tensor:
    """The mean loss."""
    if loss == Loss(pointwise=True):  # the mean of `loss_of` rounds otherwise, and would change kept models
        return pointwise(scores, right, sizes)
    return loss_of(loss, scores, right, sizes).mean()


def loss_of(loss: Loss, scores: torch.Tensor, right: torch.Tensor, sizes: Sequence[int]) -> torch.Tensor:
    """The loss of each pair, if pointwise, or else of each pool."""
    if loss.pointwise:
        each = F.binary_cross_entropy_with_logits(scores, right.to(scores.dtype), reduction="none")
        log_chance = each
        if loss.smoothing:  # with smoothing s the target is 1 - s / 2 or s / 2
            each = torch.lerp(each, F.softplus(scores) - scores / 2, loss.smoothing)
    else:
        parts = list(zip(torch.split(scores, list(sizes)), torch.split(right, list(sizes)), strict=True))
        each = torch.stack(
            [torch.logsumexp(pool, 0) - torch.logsumexp(pool[true], 0) for pool, true in parts]
        )
        log_chance = each
        if loss.smoothing:  # a share of the target lies on all candidates alike
            alike = torch.stack([torch.logsumexp(pool, 0) - pool.mean() for pool, _ in parts])
            each = torch.lerp(each, alike, loss.smoothing)
    if loss.focal:
        each = each * (-torch.expm1(-log_chance.clamp(min=1e-6))) ** loss.focal
    return each
