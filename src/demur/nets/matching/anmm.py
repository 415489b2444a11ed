"""aNMM (Yang et al. 2016): matches are weighed by how strong they are, and question words by attention.

b pairs, m words in a question and n in an answer, e numbers in a word's vector, k bins.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from demur.nets.matching.match_net import MatchNet

EXACT = 1e-5  # cosines that are nearer to 1 are those of the same word


class Anmm(MatchNet):
    """The attention to each question word times what its matches come to; it is aNMM-1.

    The cosines of a question word with all answer words fall into bins of equal width, and those of 1 into a
    bin of their own. A weight belongs to a bin, and not to a place in the answer.
    """

    margin: ClassVar[float] = 1.0
    heat: ClassVar[float] = 0.1

    def __init__(self, wide: int, bins: int = 20) -> None:
        super().__init__()
        self.sizes = {"wide": wide, "bins": bins}
        self.bins = bins
        self.weights = nn.Parameter(torch.randn(bins + 1, 1) / 10)
        self.gate = nn.Linear(wide, 1, bias=False)

    def compare(
        self, question: Sequence[Tensor], answer: Sequence[Tensor], asked: Tensor, there: Tensor
    ) -> Tensor:
        """The score of each pair."""
        [q], [a] = question, answer  # b × m × e, b × n × e
        alike = normalize(q, dim=2) @ normalize(a, dim=2).transpose(1, 2)  # b × m × n
        matched = (self.binned(alike, there) @ self.weights).tanh()  # b × m × 1
        gate: Tensor = self.gate(q)
        shares = gate.masked_fill(~asked[:, :, None], -torch.inf).softmax(1)  # b × m × 1
        return (shares * matched).sum((1, 2))  # b

    def binned(self, alike: Tensor, there: Tensor) -> Tensor:
        """The sum of the cosines, b × m × n, that fall into each bin, the exact ones last: b × m × k+1."""
        bins = ((alike + 1) * (self.bins / 2)).long().clamp(0, self.bins - 1)  # b × m × n
        bins = bins.masked_fill(alike > 1 - EXACT, self.bins)
        empty = alike.new_zeros(alike.shape[0], alike.shape[1], self.bins + 1)
        return empty.scatter_add(2, bins, alike * there[:, None])
