"""The concat net of the scarce-annotations paper (Vallee et al. 2019, 2.2): it learns how texts are similar.

B pairs (or triplets) of a batch, d numbers in a text's vector.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody calls it

from demur.nets.small.base import SmallNet, dense

SLOPE = 10.0  # log-odds between a dot product of 0 and vectors that are the same
FREE = 0.1  # the part of Glorot's output weights that other units begin with


class Concat(SmallNet):
    """One hidden layer over [q; a; q∘a; |q−a|], and one number out of it: the log-odds of a right answer."""

    def __init__(self, width: int, dropout: float = 0.3) -> None:
        super().__init__()
        self.hidden = dense(4 * width, 4 * width)
        self.dropout = nn.Dropout(dropout)
        self.output = dense(4 * width, 1)

    def like_cosine(self, size: float) -> None:
        """Begin with log-odds that rise with the dot product of the vectors; half of the units are free.

        `size` is the root mean square of a vector's numbers. Of a product, relu passes the positive part to
        one unit and the negative part to another.
        """
        width = self.hidden.in_features // 4
        identity = torch.eye(width)
        slope = SLOPE / (width * size**2)  # the mean square of a vector's length: of dot product / that
        with torch.no_grad():
            self.hidden.weight[: 2 * width] = 0
            self.hidden.weight[: 2 * width, 2 * width : 3 * width] = torch.cat([identity, -identity])
            self.output.weight.mul_(FREE)
            self.output.weight[0, :width] = slope
            self.output.weight[0, width : 2 * width] = -slope
            self.output.bias.fill_(-SLOPE / 2)

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
