"""The Deep Matching Net (Yang et al. 2018) for one turn: pictures of which words and states are alike.

b pairs, m words in a question and n in an answer, e numbers in a word's vector, h units, f filters.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, max_pool2d, relu

from demur.nets.match_net import BothWays, MatchNet, filled


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

    def forward(self, question: Tensor, answer: Tensor, asked: Tensor, there: Tensor) -> Tensor:
        """The score of each pair."""
        m, n = self.rows, self.columns
        q = filled(self.states[0](question[:, :m], asked[:, :m]), m)  # b × m × 2h
        a = filled(self.states[-1](answer[:, :n], there[:, :n]), n)  # b × n × 2h
        question, answer = filled(question, m), filled(answer, n)  # b × m × e, b × n × e
        alike = torch.stack([question @ answer.transpose(1, 2), q @ a.transpose(1, 2)], 1)  # b × 2 × m × n
        seen = max_pool2d(relu(self.convolution(alike)), 3)  # b × f × (m-2)/3 × (n-2)/3
        seen = dropout(seen.flatten(1), self.drop, self.training)
        scores: Tensor = self.output(self.dense(seen).tanh())[:, 0]
        return scores  # b
