"""Comp-Agg (Bian et al. 2017, Yoon et al. 2019): words are compared with what they attend to, then summed up.

b pairs, t words in a text (m or n), e numbers in a word's vector, h units, f filters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import pad, relu

from demur.nets.matching.match_net import MatchNet
from demur.nets.transformers.dropout import dropout

_BEGIN = (
    0.25  # of words of length 4 it makes numbers near 1; of smaller ones all words look alike to attention
)


class CompAgg(MatchNet):
    """Gated words, attention to the `keep` best words of the other text, products, and a convolution.

    Each text also has a mean of the `near` of `clusters` latent vectors that are most like it; 0 clusters
    leave that out.
    """

    margin: ClassVar[float] = 1.0
    heat: ClassVar[float] = 1.0

    def __init__(
        self,
        wide: int,
        hidden: int = 100,
        filters: int = 50,
        windows: int = 5,
        keep: int = 5,
        clusters: int = 8,
        near: int = 6,
        drop: float = 0.2,
    ) -> None:
        super().__init__()
        self.sizes = {"wide": wide, "hidden": hidden, "filters": filters, "windows": windows}
        self.sizes |= {"keep": keep, "clusters": clusters, "near": near, "drop": drop}
        self.keep, self.near, self.drop = keep, near, drop
        self.gate, self.value = (nn.Linear(wide, hidden) for _ in range(2))
        nn.init.normal_(self.value.weight, std=_BEGIN)
        self.clusters = nn.Parameter(torch.randn(clusters, hidden) / 10) if clusters else None
        of_word = hidden * (2 if clusters else 1)
        self.convolutions = nn.ModuleList(nn.Conv1d(of_word, filters, n + 1) for n in range(windows))
        self.output = nn.Linear(2 * windows * filters, 1)

    @property
    def apart(self) -> bool:
        """A text's words are gated by themselves."""
        return True

    def read(self, text: Tensor, there: Tensor, answer: bool) -> tuple[Tensor, ...]:
        """The words that pass the gate: b × t × h."""
        return (self.gate(text).sigmoid() * self.value(text).tanh() * there[:, :, None],)

    def compare(
        self, question: Sequence[Tensor], answer: Sequence[Tensor], asked: Tensor, there: Tensor
    ) -> Tensor:
        """The score of each pair."""
        [q], [a] = question, answer  # b × m × h, b × n × h
        alike = q @ a.transpose(1, 2)  # b × m × n
        of_question = self.summed(q, clipped(alike, there[:, None], self.keep) @ a, asked)  # b × windows·f
        of_answer = self.summed(a, clipped(alike.transpose(1, 2), asked[:, None], self.keep) @ q, there)
        both = dropout(torch.cat([of_question, of_answer], 1), self.drop, self.training)
        scores: Tensor = self.output(both)[:, 0]
        return scores  # b

    def summed(self, x: Tensor, attended: Tensor, there: Tensor) -> Tensor:
        """What the convolutions see of words, b × t × h, and what they attend to: b × windows·f."""
        compared = x * attended  # b × t × h
        if self.clusters is not None:
            compared = torch.cat([compared, self.theme(x, there)[:, None].expand_as(x)], 2)
        there = there[:, :, None]
        compared = dropout(compared * there, self.drop, self.training).transpose(1, 2)  # b × h or 2h × t
        seen = []
        for size, convolution in enumerate(self.convolutions, 1):
            found = relu(convolution(pad(compared, ((size - 1) // 2, size // 2))))  # b × f × t
            seen.append((found * there.transpose(1, 2)).amax(2))
        return torch.cat(seen, 1)

    def theme(self, x: Tensor, there: Tensor) -> Tensor:
        """The mean of the latent vectors that a text, b × t × h, is most like: b × h."""
        assert self.clusters is not None
        mean = x.sum(1) / there.sum(1, keepdim=True)  # b × h
        return clipped(mean @ self.clusters.T, torch.ones_like(mean[:, :1]).bool(), self.near) @ self.clusters


def clipped(alike: Tensor, there: Tensor, keep: int) -> Tensor:
    """A softmax over the last of … × n, of which the `keep` largest alone remain: … × n."""
    shares = alike.masked_fill(~there, -torch.inf).softmax(-1)
    least = pad(shares.detach(), (0, keep)).topk(keep, -1).values[..., -1:]  # … × 1; a text may be short
    kept = shares * (shares >= least)
    return kept / kept.sum(-1, keepdim=True)
