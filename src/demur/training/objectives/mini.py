"""What mini minimises: right answers of pools that score little, spans that are not found."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from demur.training.objectives.pool_losses import listwise
from demur.training.objectives.reading import differing
from demur.training.readers.mini_teacher import LABELS
from demur.types import FloatArray

_LITTLE = 1e-3  # Adam's steps depend on no factor, but gradients are clipped together, and probes' are large


def ranked(scores: Tensor, right: Sequence[bool], sizes: Sequence[int]) -> Tensor:
    """The loss of whole pools."""
    return listwise(scores, torch.tensor(right, device=scores.device), sizes)


def agreeing(
    scores: Tensor,
    right: Sequence[bool],
    sizes: Sequence[int],
    shares: Sequence[FloatArray | None],
    labels: float = LABELS,
) -> Tensor:
    """The loss of whole pools by a teacher's shares of trust, and by labels where some are right."""
    loss = scores.new_zeros(())
    parts = torch.split(scores, list(sizes)), torch.split(torch.tensor(right), list(sizes)), shares
    for pool, true, trusted in zip(*parts, strict=True):
        wanted = torch.as_tensor(trusted, dtype=scores.dtype, device=scores.device)
        each = -(wanted * torch.log_softmax(pool, 0)).sum()
        if true.any():
            found = torch.logsumexp(pool, 0) - torch.logsumexp(pool[true.to(scores.device)], 0)
            each = torch.lerp(each, found, labels)
        loss = loss + each
    return loss / len(sizes)


def reading_loss(
    scores: Tensor,  # b
    spans: Tensor,  # b × 2 × t
    layers: Tensor,  # b × probes × 2 × t
    there: Tensor,  # b × t: where a start and an end may be
    places: Sequence[tuple[int, int]],
    right: Sequence[bool] | None,
    told: Tensor | None = None,  # b × 2 × t: what a larger reader says, nothing in rows of which it says none
    labels: float = LABELS,
) -> Tensor:
    """The loss of parts of passages: of the span, of the probes, and of the scores where `right` is given."""
    wanted = torch.tensor(places, device=scores.device)  # b × 2
    loss = 2 * cross_entropy(_among(spans, there), wanted.flatten())  # of starts and of ends
    if told is not None:
        loss = torch.lerp(loss, 2 * differing(spans, there, told, wanted).mean(), 1 - labels)
    if layers.shape[1]:
        count = layers.shape[1]
        shown = _among(layers, there[:, None].expand(-1, count, -1))
        loss = loss + 2 * _LITTLE * cross_entropy(shown, wanted[:, None].expand(-1, count, -1).flatten())
    if right is not None:
        true = torch.tensor(right, dtype=scores.dtype, device=scores.device)
        if told is not None:
            answered = 1 - told[:, :, 0].mean(1)
            true = torch.where(told.sum((1, 2)) > 0, torch.lerp(true, answered.to(true), 1 - labels), true)
        loss = loss + binary_cross_entropy_with_logits(scores, true)
    return loss


def _among(logits: Tensor, there: Tensor) -> Tensor:
    """Rows of logits, with none where nothing stands."""
    return logits.masked_fill(~there[..., None, :], -torch.inf).flatten(0, -2)
