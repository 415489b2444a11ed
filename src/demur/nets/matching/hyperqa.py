"""HyperQA (Tay et al. 2018): texts are points in a ball, and how far they are apart is hyperbolic.

b pairs, t words in a text, e numbers in a word's vector, h units.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from demur.nets.matching.match_net import MatchNet

LARGEST = 0.99  # norm of a text; nearer to the edge, single precision says little of how near
_BEGIN = 0.02  # times torch's weights: so small, the texts of the first steps lie within the ball


class HyperQA(MatchNet):
    """Minus the distance of two texts in the Poincaré ball, times a weight.

    A text is the sum of its words after one layer, with a norm below 1.
    """

    margin: ClassVar[float] = 1.0
    heat: ClassVar[float] = 0.5

    def __init__(self, wide: int, hidden: int = 200) -> None:
        super().__init__()
        self.sizes = {"wide": wide, "hidden": hidden}
        self.project = nn.Linear(wide, hidden)
        self.slope = nn.Parameter(torch.tensor(-1.0))
        with torch.no_grad():
            self.project.weight.mul_(_BEGIN)
            self.project.bias.mul_(_BEGIN)

    @property
    def apart(self) -> bool:
        """A text is read by itself."""
        return True

    def read(self, text: Tensor, there: Tensor, answer: bool) -> tuple[Tensor, ...]:
        """The text as one point: b × 1 × h."""
        words = relu(self.project(text)) * there[:, :, None]  # b × t × h
        return (in_ball(words.sum(1, keepdim=True)),)

    def compare(
        self, question: Sequence[Tensor], answer: Sequence[Tensor], asked: Tensor, there: Tensor
    ) -> Tensor:
        """The score of each pair."""
        [q], [a] = question, answer  # b × 1 × h each
        return self.slope * distance(q[:, 0], a[:, 0])  # b


def in_ball(x: Tensor) -> Tensor:
    """Vectors, … × h; those that are too long are made as long as may be."""
    norm: Tensor = x.norm(dim=-1, keepdim=True)
    return x * (LARGEST / norm.clamp(min=LARGEST))


def beyond_one(q: Tensor, a: Tensor) -> Tensor:
    """By how much the argument of arcosh is above 1, for points b × h: never negative."""
    room = (1 - q.square().sum(1)) * (1 - a.square().sum(1))  # b
    return 2 * (q - a).square().sum(1) / room


def distance(q: Tensor, a: Tensor) -> Tensor:
    """The hyperbolic distance of points, b × h: the arcosh, with a slope even where they are the same."""
    more = beyond_one(q, a)
    return torch.log1p(more + (more * (more + 2)).clamp(min=1e-12).sqrt())
