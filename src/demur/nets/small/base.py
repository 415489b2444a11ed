"""What the two small nets of the scarce-annotations paper share: what they are asked, and how they begin."""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor, nn

LIFT = 4.0  # times the mean size of the inputs: so far up, relu lets nearly all of them pass


class SmallNet(nn.Module):
    """A net that scores pairs of vectors. B pairs (or triplets) of a batch, d numbers in a text's vector."""

    @abstractmethod
    def like_cosine(self, size: float) -> None:
        """Begin with scores nearly in the order of the cosines; `size` is the vectors' root mean square."""

    @abstractmethod
    def forward(self, questions: Tensor, answers: Tensor) -> Tensor:  # B × d, B × d
        """The score of each pair: B."""

    @abstractmethod
    def triplets(self, questions: Tensor, right: Tensor, wrong: Tensor) -> tuple[Tensor, Tensor]:
        """The scores of the questions with right and with wrong answers: B, B."""

    @staticmethod
    @abstractmethod
    def similarity(scores: Tensor) -> Tensor:
        """The scores as similarities from 0 to 1, which a margin is to be between."""

    @staticmethod
    @abstractmethod
    def entropy(scores: Tensor, labels: Tensor, weights: Tensor | None = None) -> Tensor:
        """The mean cross-entropy, with the similarity as the chance that an answer is right."""

    def __call__(self, questions: Tensor, answers: Tensor) -> Tensor:
        """As `forward`."""
        scores: Tensor = super().__call__(questions, answers)
        return scores


def dense(inputs: int, outputs: int) -> nn.Linear:
    """A dense layer as Keras begins: weights drawn uniformly after Glorot, bias 0."""
    layer = nn.Linear(inputs, outputs)
    with torch.no_grad():
        nn.init.zeros_(layer.bias)
        nn.init.xavier_uniform_(layer.weight)
    return layer
