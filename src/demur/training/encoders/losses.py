"""Losses of texts' vectors: near what answers them, and as near to each other as a teacher has them."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  # as everybody calls it


def contrast(questions: Tensor, answers: Tensor, right: Tensor, heat: float) -> Tensor:
    """The mean of −log of the share that a softmax of q × a cosines over `heat` gives to the right answers.

    A question without any counts nothing.
    """
    logits = (_unit(questions) @ _unit(answers).T).float() / heat
    logs = logits.logsumexp(1) - logits.masked_fill(~right, -torch.inf).logsumexp(1)
    asked = right.any(1)
    return torch.where(asked, logs, 0).sum() / asked.sum().clamp(min=1)


def geometry(own: Tensor, teacher: Tensor, heat: float) -> Tensor:
    """How far a softmax of the cosines of each text with all others is from the teacher's, in the mean.

    A Kullback-Leibler divergence, 0 where all cosines are alike up to a shift; n × any width, both.
    """
    itself = torch.eye(len(own), dtype=torch.bool, device=own.device)
    logs, wanted = (
        ((v @ v.T).float() / heat).masked_fill(itself, -1e4).log_softmax(1)
        for v in (_unit(own), _unit(teacher))
    )
    return F.kl_div(logs, wanted, reduction="batchmean", log_target=True)


def _unit(vectors: Tensor) -> Tensor:
    return F.normalize(vectors.float(), dim=1)
