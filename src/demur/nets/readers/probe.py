"""Linear probes of every layer of a reader (Alain and Bengio 2016; Su et al. 2019, 5.2), to be trained.

B windows of a batch, n positions of a window, the first of which stands for no answer, d numbers in a state.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from demur.errors import UsageError


def times(layers: Sequence[Tensor], weights: Sequence[NDArray[np.float32]]) -> list[Tensor]:
    """The states of each layer, B × n × d, times its weights, d × k, in full precision: B × n × k."""
    widths, wanted = [each.shape[2] for each in layers], [len(each) for each in weights]
    if widths != wanted:
        what = f"these probes are of another reader: its layers have {wanted} numbers a token, not {widths}"
        raise UsageError(f"{what}; train them for this one")
    with torch.autocast(layers[0].device.type, enabled=False):
        return [
            each.float() @ torch.from_numpy(weight).to(each.device)
            for each, weight in zip(layers, weights, strict=True)
        ]


class Probe(nn.Module):
    """Two vectors for each layer: how well a position starts, and how well it ends, by its state alone.

    States are divided by `scales`, the spread of each number: the same probes, found in fewer steps.
    """

    def __init__(self, scales: Sequence[Tensor], spread: float = 0.0) -> None:  # of each layer d
        super().__init__()
        self.scales = list(scales)
        self.vectors = nn.ParameterList(spread * torch.randn(len(each), 2) for each in scales)

    def forward(self, layers: Sequence[Tensor], there: Tensor) -> Tensor:  # each B × n × d; B × n
        """The log-probability of each position as start and as end, by each layer: B × layers × n × 2."""
        found = []
        for states, vectors, scale in zip(layers, self.vectors, self.scales, strict=True):
            scores = (states / scale) @ vectors  # B × n × 2
            found.append(scores.masked_fill(~there[:, :, None], float("-inf")).log_softmax(1))
        return torch.stack(found, 1)

    def losses(self, layers: Sequence[Tensor], there: Tensor, start: Tensor, end: Tensor) -> Tensor:
        """Of each layer, the mean of −log p(start) − log p(end); starts and ends are B positions each."""
        found = self(layers, there)
        rows = torch.arange(len(start))
        each: Tensor = -(found[rows, :, start, 0] + found[rows, :, end, 1]).mean(0)
        return each

    def weights(self) -> list[Tensor]:
        """The vectors for states as they are: of each layer d × 2."""
        pairs = zip(self.vectors, self.scales, strict=True)
        return [vectors.detach() / scale[:, None] for vectors, scale in pairs]
