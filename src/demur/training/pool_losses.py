"""Losses over pools: scores of all pairs of a step, which of them are right, and how many each pool has."""

from __future__ import annotations

from collections.abc import Sequence

import torch


def listwise(scores: torch.Tensor, right: torch.Tensor, sizes: Sequence[int]) -> torch.Tensor:
    """The mean over pools of −log of the share that a softmax gives to all right answers together."""
    parts = zip(torch.split(scores, list(sizes)), torch.split(right, list(sizes)), strict=True)
    losses = [torch.logsumexp(pool, 0) - torch.logsumexp(pool[true], 0) for pool, true in parts]
    return torch.stack(losses).mean()


def pointwise(scores: torch.Tensor, right: torch.Tensor, sizes: Sequence[int]) -> torch.Tensor:
    """The mean over pairs of the cross-entropy of each alone."""
    return torch.nn.functional.binary_cross_entropy_with_logits(scores, right.to(scores.dtype))
