"""RE2 (Yang et al. 2019): blocks that align two texts, with the words and what blocks before made of them.

b pairs, t words in a text, m in a question and n in an answer, e numbers in a word's vector, h units.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu

from demur.nets.matching.match_net import MatchNet
from demur.nets.transformers.dropout import dropout


class Re2(MatchNet):
    """Blocks of a convolution, alignment with the other text, and fusion; then two layers over both texts."""

    margin: ClassVar[float] = 1.0
    heat: ClassVar[float] = 1.0

    def __init__(
        self, wide: int, hidden: int = 100, blocks: int = 2, layers: int = 2, drop: float = 0.2
    ) -> None:
        super().__init__()
        self.sizes = {"wide": wide, "hidden": hidden, "blocks": blocks, "layers": layers, "drop": drop}
        self.drop = drop
        self.blocks = nn.ModuleList(
            Block(wide + (hidden if number else 0), hidden, layers, drop) for number in range(blocks)
        )
        self.dense = nn.Linear(4 * hidden, hidden)
        self.output = nn.Linear(hidden, 1)

    def compare(
        self, question: Sequence[Tensor], answer: Sequence[Tensor], asked: Tensor, there: Tensor
    ) -> Tensor:
        """The score of each pair."""
        words = question[0], answer[0]  # b × m × e, b × n × e
        made: list[tuple[Tensor, Tensor]] = []
        for block in self.blocks:
            made.append(block(residual(words, made[-2:]), (asked, there)))  # b × t × h each
        q, a = (largest(x, here) for x, here in zip(made[-1], (asked, there), strict=True))  # b × h each
        both = dropout(torch.cat([q, a, q - a, q * a], 1), self.drop, self.training)  # b × 4h
        hidden = dropout(gelu(self.dense(both)), self.drop, self.training)  # b × h
        scores: Tensor = self.output(hidden)[:, 0]
        return scores  # b


class Block(nn.Module):
    """A convolution of several layers, alignment and fusion; both texts share the weights."""

    def __init__(self, wide: int, hidden: int, layers: int, drop: float) -> None:
        super().__init__()
        self.drop = drop
        self.encoder = nn.ModuleList(
            nn.Conv1d(hidden if number else wide, hidden, 3, padding=1) for number in range(layers)
        )
        self.project = nn.Linear(wide + hidden, hidden)
        self.heat = nn.Parameter(torch.tensor(1 / math.sqrt(hidden)))
        self.fusions = nn.ModuleList(nn.Linear(2 * (wide + hidden), hidden) for _ in range(3))
        self.fusion = nn.Linear(3 * hidden, hidden)

    def forward(self, texts: tuple[Tensor, Tensor], there: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """From two texts, b × t × wide, to b × t × h each, zeros where nothing is there."""
        q, a = (self.encoded(x, here) for x, here in zip(texts, there, strict=True))  # b × t × wide+h
        alike = gelu(self.project(q)) @ gelu(self.project(a)).transpose(1, 2) * self.heat  # b × m × n
        of_answer = alike.masked_fill(~there[1][:, None], -torch.inf).softmax(2) @ a  # b × m × wide+h
        of_question = alike.masked_fill(~there[0][:, :, None], -torch.inf).softmax(1).transpose(1, 2) @ q
        return self.fused(q, of_answer, there[0]), self.fused(a, of_question, there[1])

    def encoded(self, x: Tensor, there: Tensor) -> Tensor:
        """The words with what the convolution makes of them: b × t × wide+h."""
        seen = x
        for convolution in self.encoder:
            seen = dropout(seen, self.drop, self.training).transpose(1, 2)
            seen = gelu(convolution(seen)).transpose(1, 2) * there[:, :, None]  # b × t × h
        return torch.cat([x, seen], 2)

    def fused(self, x: Tensor, aligned: Tensor, there: Tensor) -> Tensor:
        """What is made of words and what they are aligned with: b × t × h."""
        views = aligned, x - aligned, x * aligned
        seen = [
            gelu(one(torch.cat([x, view], 2))) for one, view in zip(self.fusions, views, strict=True)
        ]  # b × t × h each
        seen_all = dropout(torch.cat(seen, 2), self.drop, self.training)  # b × t × 3h
        return gelu(self.fusion(seen_all)) * there[:, :, None]

    def __call__(self, texts: tuple[Tensor, Tensor], there: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """As `forward`."""
        found: tuple[Tensor, Tensor] = super().__call__(texts, there)
        return found


def residual(words: tuple[Tensor, Tensor], made: Sequence[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
    """The words of both texts with the sum of what the last blocks made, if any: b × t × e or e+h each."""
    if not made:
        return words
    q, a = (
        torch.cat([each, sum(before) * len(before) ** -0.5], 2)
        for each, *before in zip(words, *made, strict=True)
    )
    return q, a


def largest(x: Tensor, there: Tensor) -> Tensor:
    """The largest of each number over the words there are, b × t × h: b × h."""
    return x.masked_fill(~there[:, :, None], -torch.inf).amax(1)
