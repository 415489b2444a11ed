"""PROBE-CNN (Su et al. 2019, 5.3): how sure the pictures that probes draw of all layers make an answer.

Q questions of a batch, L layers of the reader, n positions. The paper gives no sizes; these are ours.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody calls it


class ProbeCNN(nn.Module):
    """Two convolutions over layers and positions, the largest of each channel and layer, and one logit.

    What stands for no position is 0 after each convolution, so that padding changes nothing.
    """

    def __init__(self, layers: int, first: int, second: int, top: int) -> None:
        super().__init__()
        self.top = top
        self.first = nn.Conv2d(2, first, 3, padding=1)
        self.second = nn.Conv2d(first, second, 3, padding=1)
        self.last = nn.Linear(second * layers * top, 1)

    def forward(self, images: Tensor, there: Tensor) -> Tensor:  # Q × L × n × 2, Q × n
        """The log-odds that each answer is right, but for a constant: Q."""
        inside = there[:, None, None, :]  # Q × 1 × 1 × n
        hidden = images.permute(0, 3, 1, 2)  # Q × 2 × L × n
        hidden = torch.relu(self.first(hidden)) * inside  # Q × first × L × n
        hidden = torch.relu(self.second(hidden)) * inside  # Q × second × L × n
        hidden = F.pad(hidden, (0, max(0, self.top - hidden.shape[3])))
        most = hidden.topk(self.top, dim=3).values  # Q × second × L × top, sorted
        logits: Tensor = self.last(most.flatten(1))[:, 0]
        return logits


def loss(logits: Tensor, right: Tensor, kind: str) -> Tensor:
    """The mean over pairs of a right and a wrong answer, or over answers for ``bce``; logits and right: Q."""
    if kind == "bce":
        return F.binary_cross_entropy_with_logits(logits, right.to(logits.dtype))
    apart = logits[right][:, None] - logits[~right][None, :]  # right × wrong
    return F.softplus(-apart).mean() if kind == "pairwise" else F.relu(1 - apart).mean()
