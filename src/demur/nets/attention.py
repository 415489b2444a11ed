"""Attention that is quick to train on a CPU: no dropout in it, and plain products where texts are short.

Torch's fused attention gives up where dropout is asked for, and its way back through short texts is slow.
The dropout of states stays. What it costs in quality, the row `TANDA, quick` of scan's Table 2 says.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

NAME = "demur-quick"
_SHORT = 160  # tokens, from which on the fused attention is the faster one


def attend(
    module: nn.Module,
    query: Tensor,  # b × heads × t × d
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,  # b × 1 × t × t, what may be seen; or what is added
    scaling: float | None = None,
    dropout: float = 0.0,
    **more: Any,
) -> tuple[Tensor, None]:
    """What transformers asks of an attention: b × t × heads × d, and no weights. There is no dropout."""
    if query.shape[2] > _SHORT or query.device.type != "cpu":
        from transformers.integrations.sdpa_attention import sdpa_attention_forward

        found: tuple[Tensor, None] = sdpa_attention_forward(
            module, query, key, value, attention_mask, dropout=0.0, scaling=scaling, **more
        )
        return found
    with torch.autocast("cpu", enabled=False):  # products of 32 numbers are no faster in half precision
        scale = query.shape[-1] ** -0.5 if scaling is None else scaling
        scores = (query.float() * scale) @ key.float().transpose(2, 3)  # b × heads × t × t
        if attention_mask is not None:
            if attention_mask.dtype == torch.bool:
                scores = scores.masked_fill(~attention_mask, torch.finfo(torch.float32).min)
            else:
                scores = scores + attention_mask
        seen = scores.softmax(-1) @ value.float()
    return seen.transpose(1, 2).contiguous().to(query.dtype), None


@contextmanager
def quick(network: nn.Module) -> Iterator[None]:
    """While this lasts, transformers that use torch's fused attention use the quick one."""
    from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
    from transformers.masking_utils import sdpa_mask

    AttentionInterface.register(NAME, attend)
    AttentionMaskInterface.register(NAME, sdpa_mask)
    models = [part for part in network.modules() if isinstance(part, PreTrainedModel)]
    changed = [model for model in models if model.config._attn_implementation == "sdpa"]
    for model in changed:
        model.set_attn_implementation(NAME)
    try:
        yield
    finally:
        for model in changed:
            model.set_attn_implementation("sdpa")
