"""The siamese net of the scarce-annotations paper (Vallee et al. 2019, 2.2): one projection for both texts.

B pairs (or triplets) of a batch, d numbers in a text's vector.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody calls it

from demur.nets.small.base import LIFT, SmallNet, dense

CLIP = 1e-7  # a probability of 0 or 1 has no logarithm


class Siamese(SmallNet):
    """The cosine of relu(W q + b) and relu(W a + b), which is never negative."""

    def __init__(self, width: int, dropout: float = 0.3) -> None:
        super().__init__()
        self.hidden = dense(width, width)
        self.dropout = nn.Dropout(dropout)

    def like_cosine(self, size: float) -> None:
        """Begin with the identity, so that pairs are in the order of the cosine of their texts' vectors.

        `size` is the root mean square of a vector's numbers. Without the lift, relu would cut off half of
        what a vector says.
        """
        with torch.no_grad():
            self.hidden.weight.copy_(torch.eye(len(self.hidden.weight)))
            self.hidden.bias.fill_(LIFT * size)

    def project(self, texts: Tensor) -> Tensor:  # B × d
        """The projections of texts, each of length 1, or 0 if nothing is left of it."""
        hidden = self.dropout(F.relu(self.hidden(texts)))  # B × d
        return F.normalize(hidden, eps=1e-12)  # B × d

    def forward(self, questions: Tensor, answers: Tensor) -> Tensor:  # B × d, B × d
        """The cosine of each pair."""
        question, answer = self.project(torch.cat([questions, answers])).chunk(2)  # B × d each
        return (question * answer).sum(dim=1)  # B

    def triplets(self, questions: Tensor, right: Tensor, wrong: Tensor) -> tuple[Tensor, Tensor]:
        """The cosines with right and with wrong answers; a question is projected, and dropped from, once."""
        question, one, other = self.project(torch.cat([questions, right, wrong])).chunk(3)  # B × d each
        return (question * one).sum(dim=1), (question * other).sum(dim=1)  # B, B

    @staticmethod
    def similarity(scores: Tensor) -> Tensor:
        """What a margin is between: the cosine itself."""
        return scores

    @staticmethod
    def entropy(scores: Tensor, labels: Tensor, weights: Tensor | None = None) -> Tensor:
        """The mean cross-entropy, with the cosine as the chance that an answer is right."""
        return F.binary_cross_entropy(scores.clamp(CLIP, 1 - CLIP), labels, weights)
