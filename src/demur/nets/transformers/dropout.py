"""Dropout that costs little on a CPU: if that is not Intel's, torch draws each number by itself.

Four numbers come from one draw of 64 bits, so shares are known to 1 in 65,536.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn import functional

_EACH = 1 << 16


def dropout(x: Tensor, share: float, training: bool = True) -> Tensor:
    """A share of the numbers is 0, the others are larger for it; nothing happens out of training."""
    if not training or share == 0:
        return x
    if share >= 1 or x.device.type != "cpu":
        return functional.dropout(x, share)
    drawn = torch.empty(-(-x.numel() // 4), dtype=torch.int64).random_(-(1 << 63), None)
    numbers = drawn.view(torch.int16)[: x.numel()].view(x.shape)
    kept = numbers >= round(share * _EACH) - _EACH // 2
    return x * kept.to(x.dtype).div_(1 - share)


class _Dropout(nn.Dropout):
    def forward(self, input: Tensor) -> Tensor:
        return dropout(input, self.p, self.training)


@contextmanager
def cheaply(network: nn.Module) -> Iterator[None]:
    """While this lasts, the network's dropout is the one that costs little."""
    changed = [part for part in network.modules() if type(part) is nn.Dropout]
    for part in changed:
        part.__class__ = _Dropout
    try:
        yield
    finally:
        for part in changed:
            part.__class__ = nn.Dropout
