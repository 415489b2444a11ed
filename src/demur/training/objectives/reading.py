"""What readers minimise: starts and ends of answers that are not found."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy


def of_windows(starts: Tensor, ends: Tensor, wanted: Tensor) -> Tensor:
    """Of each window by itself, b × positions twice and b × 2: one without the answer is to say so."""
    of_start = cross_entropy(starts, wanted[:, 0], reduction="none")
    return of_start + cross_entropy(ends, wanted[:, 1], reduction="none")


def of_passages(starts: Tensor, ends: Tensor, wanted: Tensor, sizes: Sequence[int]) -> Tensor:
    """Of each passage, whose windows share one softmax (Clark and Gardner 2018), as they are read.

    No answer has one share of it, by the window that thinks least of it; an answer has those of all windows
    that show it whole.
    """
    sides: list[Tensor] = [*torch.split(torch.stack([starts, ends], 1), list(sizes))]
    places: list[Tensor] = [*torch.split(wanted, list(sizes))]
    return torch.stack([_of_passage(*each) for each in zip(sides, places, strict=True)])


def _of_passage(logits: Tensor, wanted: Tensor) -> Tensor:
    """Of the windows of one passage, k × 2 × positions and k × 2."""
    none = logits[:, :, 0].amin(0)  # 2
    every = torch.cat([none[None], logits[:, :, 1:].transpose(1, 2).flatten(0, 1)]).logsumexp(0)
    right = logits.gather(2, wanted[:, :, None])[wanted[:, 0] > 0, :, 0]  # the windows that show it × 2
    return (every - (right.logsumexp(0) if len(right) else none)).sum()


def differing(spans: Tensor, there: Tensor, told: Tensor, wanted: Tensor) -> Tensor:
    """How far spans are from what was told, b × 2 for both sides; from labels where nothing was.

    Spans and what was told are b × 2 × t, `there` says where a start and an end may be.
    """
    by_label = torch.zeros_like(told).scatter_(2, wanted[:, :, None], 1.0)
    shares = torch.where(told.sum(-1, keepdim=True) > 0, told, by_label)
    logs = torch.log_softmax(spans.masked_fill(~there[:, None], -torch.inf), -1)
    return -(shares * logs.masked_fill(~there[:, None], 0.0)).sum(-1)
