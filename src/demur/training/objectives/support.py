"""The loss of a ranker that asks for support: that of the ranking, and that of what supports are."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from demur.training.objectives.base import Plain, ScoredPairs
from demur.training.objectives.pool_losses import Loss

UNKNOWN = -1
CLASSES = ("both right", "the answer alone", "the support alone", "neither")


def class_of(answer: bool, support: bool | None) -> int:
    """Which of the `CLASSES` an answer and its support are, by whether each is right, if that is known."""
    return UNKNOWN if support is None else 2 * (not answer) + (not support)


class Supporting(Plain):
    """The plain loss plus `weight` times the mean cross-entropy of the classes of answers and supports.

    Of each answer, `first` says where its rows begin and end, and `classes` what each row is, or `UNKNOWN`.
    A linear classifier sees what the encoder makes of a row. It is for training, as it scores no answer.
    """

    wants = "pooled"

    def __init__(self, loss: Loss, width: int, first: Tensor, classes: Tensor, weight: float = 1.0) -> None:
        super().__init__(loss)
        self.classifier = nn.Linear(width, len(CLASSES))
        self.first, self.classes, self.weight = first, classes, weight

    def forward(self, seen: ScoredPairs) -> Tensor:
        """The loss of a step."""
        assert seen.features is not None  # it is what it wants
        return super().forward(seen) + self.weight * self.of_classes(seen.features, seen.pairs)

    def of_classes(self, features: Tensor, pairs: Tensor) -> Tensor:
        """The mean cross-entropy of the classes that are known; 0 if there are none."""
        classes = self.classes[rows_of(self.first, pairs.cpu())].to(features.device)  # rows
        said = self.classifier(features)  # rows × 4
        lost = functional.cross_entropy(said.float(), classes, ignore_index=UNKNOWN, reduction="sum")
        return lost / (classes != UNKNOWN).sum().clamp(min=1)


def rows_of(first: Tensor, answers: Tensor) -> Tensor:
    """The rows of some answers as a batch has them: first each answer's own one, then those with supports."""
    further = [torch.arange(int(first[n]) + 1, int(first[n + 1])) for n in answers.tolist()]
    return torch.cat([first[answers], *further])
