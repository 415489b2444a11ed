"""The Deep Matching Net (Yang et al. 2018) for one turn: pictures of which words and states are alike.

b pairs, m words in a question and n in an answer, e numbers in a word's vector, h units, f filters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody calls it
from torch.nn.functional import max_pool2d, relu

from demur.nets.matching.match_net import BothWays, MatchNet, filled
from demur.nets.transformers.dropout import dropout


class DeepMatching(MatchNet):
    """A convolution over dot products of words and of what a GRU makes of them, on a grid of fixed size.

    Texts are cut at, or filled up to, `rows` and `columns` words. With ``shared=0`` questions and answers
    have a GRU each, as in the released code.
    """

    margin: ClassVar[float] = 1.0
    heat: ClassVar[float] = 1.0

    def __init__(
        self,
        wide: int,
        rows: int = 40,
        columns: int = 60,
        hidden: int = 100,
        filters: int = 2,
        dense: int = 50,
        drop: float = 0.6,
        shared: int = 1,
    ) -> None:
        super().__init__()
        self.sizes = {"wide": wide, "rows": rows, "columns": columns, "hidden": hidden}
        self.sizes |= {"filters": filters, "dense": dense, "drop": drop, "shared": shared}
        self.rows, self.columns, self.drop = rows, columns, drop
        self.states = nn.ModuleList(BothWays(nn.GRU, wide, hidden) for _ in range(1 if shared else 2))
        self.convolution = nn.Conv2d(2, filters, 3)
        self.dense = nn.Linear(filters * ((rows - 2) // 3) * ((columns - 2) // 3), dense)
        self.output = nn.Linear(dense, 1)

    @property
    def apart(self) -> bool:
        """Words are dropped of neither text."""
        return True

    def read(self, text: Tensor, there: Tensor, answer: bool) -> tuple[Tensor, ...]:
        """The words, b × t × e, and their states, b × t × 2h, of as many as the grid has room for."""
        most = self.columns if answer else self.rows
        text, there = text[:, :most], there[:, :most]
        return text, self.states[-1 if answer else 0](text, there)

    def compare(
        self, question: Sequence[Tensor], answer: Sequence[Tensor], asked: Tensor, there: Tensor
    ) -> Tensor:
        """The score of each pair."""
        both = zip(question, answer, strict=True)
        alike = torch.stack([q @ a.transpose(1, 2) for q, a in both], 1)  # b × 2 × m × n
        seen = self.pictured(alike)  # b × f × (rows-2)/3 × (columns-2)/3
        seen = dropout(seen.flatten(1), self.drop, self.training)
        scores: Tensor = self.output(self.dense(seen).tanh())[:, 0]
        return scores  # b

    def pictured(self, alike: Tensor) -> Tensor:
        """What the convolution sees on the whole grid; behind both texts that is known beforehand."""
        high, wide = (self.rows - 2) // 3, (self.columns - 2) // 3
        b, _, m, n = alike.shape
        whole = torch.onnx.is_in_onnx_export()  # of texts of any length
        up, across = (high, wide) if whole else (min(high, -(-m // 3)), min(wide, -(-n // 3)))
        alike = filled(alike.flatten(0, 1), 3 * up + 2)  # 2·b × 3·up+2 × n
        alike = F.pad(alike, (0, 3 * across + 2))[..., : 3 * across + 2]
        seen = max_pool2d(
            relu(self.convolution(alike.view(b, 2, *alike.shape[1:]))), 3
        )  # b × f × up × across
        nothing = relu(self.bias)[:, None, None]
        seen = torch.cat([seen, nothing.expand(*seen.shape[:3], wide - across)], 3)
        return torch.cat([seen, nothing.expand(*seen.shape[:2], high - up, wide)], 2)

    @property
    def bias(self) -> Tensor:
        """What the convolution sees where there is nothing: f."""
        bias = self.convolution.bias
        assert bias is not None  # torch allows for convolutions without
        return bias
