"""The debiasing heads of SCAN (Zhong et al. 2022, section 3.3), which are left out when ranking.

B pairs of a batch, d numbers in what the encoder says of a pair.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody calls it


class Debiasing(nn.Module):
    """A gate that tells what is biased in features, what is left without it, and a score from that.

    The gate is one number for each of the d (Eq. 12), or one for all of them, as in the released code.
    """

    def __init__(self, width: int, scalar: bool = False) -> None:
        super().__init__()
        self.transform = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.gate = nn.Linear(width, 1 if scalar else width)
        self.clean = nn.Sequential(nn.Linear(width, width), nn.ReLU())
        self.head = nn.Linear(width, 1)  # the two logits of Eq. 15 less each other: the same function

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor, Tensor]:  # B × d
        """The biased features, the debiased ones, and the scores."""
        changed = self.transform(features)  # B × d
        biased = torch.sigmoid(self.gate(changed)) * changed  # B × d
        debiased = self.clean(features - biased)  # B × d
        return biased, debiased, self.head(debiased)[:, 0].float()  # B × d, B × d, B

    def __call__(self, features: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """As `forward`."""
        found: tuple[Tensor, Tensor, Tensor] = super().__call__(features)
        return found


def contrast(features: Tensor, debiased: Tensor, biased: Tensor, temperature: float) -> Tensor:
    """The mean loss that draws features to the debiased ones and away from the biased (Eqs. 17, 18)."""
    near = F.cosine_similarity(features.float(), debiased.float())  # B
    far = F.cosine_similarity(features.float(), biased.float())  # B
    loss = F.softplus((far - near) / temperature).mean()
    # cosines differ by 2 at most
    assert not loss < math.log1p(math.exp(-2 / temperature)) * (1 - 1e-3), (
        "no cosine is that far from another"
    )
    return loss
