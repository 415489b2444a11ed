"""The CNN of Santos et al. (2017): each text a vector by one convolution; and who judges its scores.

b pairs, t words in a text, e numbers in a word's vector, f filters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity

from demur.nets.matching.match_net import MatchNet, along, padding


class Cnn(MatchNet):
    """The cosine of two texts: of each filter the largest over windows of words; both share the weights."""

    margin: ClassVar[float] = 0.2
    heat: ClassVar[float] = 0.05

    def __init__(self, wide: int, filters: int = 200, window: int = 3) -> None:
        super().__init__()
        self.sizes = {"wide": wide, "filters": filters, "window": window}
        self.convolution = nn.Conv1d(wide, filters, window, padding=padding(window))

    @property
    def apart(self) -> bool:
        """A text is read by itself."""
        return True

    def read(self, text: Tensor, there: Tensor, answer: bool) -> tuple[Tensor, ...]:
        """The text as one vector: b × 1 × f."""
        seen = along(self.convolution, text.transpose(1, 2)).tanh()  # b × f × t
        return (seen.masked_fill(~there[:, None], -1.0).amax(2)[:, None],)

    def compare(
        self, question: Sequence[Tensor], answer: Sequence[Tensor], asked: Tensor, there: Tensor
    ) -> Tensor:
        """The score of each pair."""
        [q], [a] = question, answer  # b × 1 × f each
        return cosine_similarity(q[:, 0], a[:, 0])  # b


class Views(Cnn):
    """The same convolution, which says of each pair all numbers that the two texts share, and no score."""

    def compare(
        self, question: Sequence[Tensor], answer: Sequence[Tensor], asked: Tensor, there: Tensor
    ) -> Tensor:
        """The product of both texts' vectors: b × f."""
        [q], [a] = question, answer  # b × 1 × f each
        return (q * a)[:, 0]


class Judge(nn.Module):
    """The log-odds that scores of a right and a wrong answer are a person's, and not a net's."""

    def __init__(self, filters: int, hidden: int) -> None:
        super().__init__()
        self.dense = nn.Linear(2 * filters + 2, hidden)
        self.output = nn.Linear(hidden, 1)

    def forward(self, right: Tensor, wrong: Tensor, good: Tensor, bad: Tensor) -> Tensor:
        """From what pairs share, b × f each, and their scores, b each, to b."""
        told = torch.cat([right, wrong, good[:, None], bad[:, None]], 1)  # b × 2f+2
        odds: Tensor = self.output(self.dense(told).tanh())[:, 0]
        return odds

    def __call__(self, right: Tensor, wrong: Tensor, good: Tensor, bad: Tensor) -> Tensor:
        """As `forward`."""
        odds: Tensor = super().__call__(right, wrong, good, bad)
        return odds
