"""The concat net of the scarce-annotations paper (Vallee et al. 2019, 2.2): it learns how texts are similar.

B pairs (or triplets) of a batch, d numbers in a text's vector.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody calls it

from demur.nets.small import SmallNet, dense


class Concat(SmallNet):
    """One hidden layer over [q; a; q∘a; |q−a|], and one number out of it: the log-odds of a right answer."""

    def __init__(self, width: int, dropout: float = 0.3, init: str = "glorot") -> None:
        super().__init__()
        self.hidden = dense(4 * width, 4 * width, init)
        self.dropout = nn.Dropout(dropout)
        self.output = dense(4 * width, 1)

    def forward(self, questions: Tensor, answers: Tensor) -> Tensor:  # B × d, B × d
        """The log-odds of each pair."""
        product, distance = questions * answers, (questions - answers).abs()  # B × d each
        pair = torch.cat([questions, answers, product, distance], dim=1)  # B × 4d
        hidden = self.dropout(F.relu(self.hidden(pair)))  # B × 4d
        logits: Tensor = self.output(hidden).squeeze(1)
        return logits  # B

    def triplets(self, questions: Tensor, right: Tensor, wrong: Tensor) -> tuple[Tensor, Tensor]:
        """The log-odds of the questions with right and with wrong answers."""
        one, other = self(torch.cat([questions, questions]), torch.cat([right, wrong])).chunk(2)
        return one, other  # B, B

    @staticmethod
    def similarity(scores: Tensor) -> Tensor:
        """What a margin is between: the chance that an answer is right."""
        return scores.sigmoid()

    @staticmethod
    def entropy(scores: Tensor, labels: Tensor, weights: Tensor | None = None) -> Tensor:
        """The mean cross-entropy."""
        return F.binary_cross_entropy_with_logits(scores, labels, weights)
