"""MPNet's attention made quick: relative positions are what the product begins with, and there is no dropout.

Hugging Face's adds them, the mask and the scale one after the other to as many numbers as there are pairs of
tokens, and makes room for the positions of each text though they are the same for all.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from transformers.models.mpnet.modeling_mpnet import MPNetEncoder, MPNetSelfAttention


class _Attention(MPNetSelfAttention):  # type: ignore[misc]
    def forward(
        self, hidden_states: Tensor, attention_mask: Tensor | None = None, *more: Any, **named: Any
    ) -> Any:
        positions = more[-1] if more else named.get("position_bias")  # 1 × heads × t × t
        if positions is None or named.get("output_attentions"):
            return super().forward(hidden_states, attention_mask, *more, **named)
        heads = (*hidden_states.shape[:-1], self.num_attention_heads, self.attention_head_size)
        query, key, value = (
            line(hidden_states).view(heads).transpose(1, 2).flatten(0, 1) for line in (self.q, self.k, self.v)
        )  # each (b · heads) × t × d
        added = positions if attention_mask is None else positions + attention_mask
        added = added.expand(len(hidden_states), -1, -1, -1).flatten(0, 1)
        seen = torch.baddbmm(added, query, key.transpose(1, 2), alpha=heads[-1] ** -0.5).softmax(-1)
        found = (seen @ value).unflatten(0, (-1, heads[-2])).transpose(1, 2).flatten(2)  # b × t × width
        return (self.o(found),)


class _Encoder(MPNetEncoder):  # type: ignore[misc]
    def compute_position_bias(self, x: Tensor, *more: Any, **named: Any) -> Any:
        return super().compute_position_bias(x[:1], *more, **named)


_QUICK: dict[type[nn.Module], type[nn.Module]] = {MPNetSelfAttention: _Attention, MPNetEncoder: _Encoder}


@contextmanager
def quick(network: nn.Module) -> Iterator[None]:
    """While this lasts, the attention of an MPNet is the quick one."""
    changed = [part for part in network.modules() if type(part) in _QUICK]
    for part in changed:
        part.__class__ = _QUICK[type(part)]
    try:
        yield
    finally:
        for part in changed:
            part.__class__ = type(part).__mro__[1]
