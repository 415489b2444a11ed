"""Attention that is quick to train on a CPU: plain products where texts are short, or where it has dropout.

Torch's fused attention gives up where dropout is asked for, and its way back through short texts is slow.
Quickest is to have none; the dropout of states stays. What that costs in quality, the row `TANDA, quick` of
scan's Table 2 says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from demur.errors import UsageError
from demur.nets.transformers.dropout import dropout as dropped

NAME, DROPPING = "demur-quick", "demur-dropping"
_SHARES = ("attention_probs_dropout_prob", "attention_dropout")  # as configurations call it
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
    if query.shape[2] <= _SHORT and _usual(module, query, key, attention_mask, more):
        return _plain(query, key, value, attention_mask, scaling, 0.0)
    return _fused(module, query, key, value, attention_mask, scaling, 0.0, more)


def attend_dropping(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    **more: Any,
) -> tuple[Tensor, None]:
    """The same with dropout, as much as is asked for."""
    if dropout and _usual(module, query, key, attention_mask, more):
        return _plain(query, key, value, attention_mask, scaling, dropout)
    return _fused(module, query, key, value, attention_mask, scaling, dropout, more)


def _usual(module: nn.Module, query: Tensor, key: Tensor, mask: Tensor | None, more: dict[str, Any]) -> bool:
    """Whether all there is to attention are a mask, heads of one kind, and a CPU."""
    causal = more.get("is_causal") or getattr(module, "is_causal", False)
    plain = all(more.get(name) is None for name in ("position_bias", "cache"))
    return (
        query.device.type == "cpu"
        and query.shape[1] == key.shape[1]
        and plain
        and not (causal and mask is None)
    )


def _fused(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    scaling: float | None,
    share: float,
    more: dict[str, Any],
) -> tuple[Tensor, None]:
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    found: tuple[Tensor, None] = sdpa_attention_forward(
        module, query, key, value, mask, dropout=share, scaling=scaling, **more
    )
    return found


def _plain(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scaling: float | None, share: float
) -> tuple[Tensor, None]:
    with torch.autocast("cpu", enabled=False):  # products of 32 numbers are no faster in half precision
        scale = query.shape[-1] ** -0.5 if scaling is None else scaling
        scores = (query.float() * scale) @ key.float().transpose(2, 3)  # b × heads × t × t
        if mask is not None:
            if mask.dtype == torch.bool:
                scores = scores.masked_fill(~mask, torch.finfo(torch.float32).min)
            else:
                scores = scores + mask
        seen = dropped(scores.softmax(-1), share) @ value.float()
    return seen.transpose(1, 2).contiguous().to(query.dtype), None


@contextmanager
def quick(network: nn.Module, drops: bool = False) -> Iterator[None]:
    """While this lasts, transformers that use torch's fused attention use the quick one, or that `drops`.

    Those that have an attention of their own keep it, without dropout unless it `drops`; MPNet has a quick
    one, too. Where dropout cannot be left out, an error says so.
    """
    models: list[Any] = [part for part in network.modules() if hasattr(part, "set_attn_implementation")]
    changed = [model for model in models if model.config._attn_implementation == "sdpa"]
    others = [] if drops else [model for model in models if model not in changed]
    kept = _dropouts(others)
    with ExitStack() as undone:
        if changed:
            from transformers import AttentionInterface, AttentionMaskInterface
            from transformers.masking_utils import sdpa_mask

            name = DROPPING if drops else NAME
            AttentionInterface.register(name, attend_dropping if drops else attend)
            AttentionMaskInterface.register(name, sdpa_mask)
        for model in changed:
            undone.callback(model.set_attn_implementation, "sdpa")
            model.set_attn_implementation(name)
        for part, share in kept.items():
            undone.callback(setattr, part, "p", share)
            part.p = 0.0
        if any(model.config.model_type == "mpnet" for model in others):
            from demur.nets.transformers import mpnet

            undone.enter_context(mpnet.quick(network))
        yield


def _dropouts(models: Iterable[Any]) -> dict[nn.Dropout, float]:
    """The dropout of weights in transformers that have an attention of their own, and how much each drops.

    Hugging Face calls such a part MPNetSelfAttention, DisentangledSelfAttention and so on.
    """
    found: dict[nn.Dropout, float] = {}
    for model in models:
        parts = [part for part in model.modules() if type(part).__name__.endswith("SelfAttention")]
        own = [part.dropout for part in parts if isinstance(getattr(part, "dropout", None), nn.Dropout)]
        if not own and any(getattr(model.config, name, 0) for name in _SHARES):
            what = f"{type(model).__name__} has an attention whose dropout quick=true cannot leave out"
            raise UsageError(f"{what}; set quick=false")
        found |= {part: part.p for part in own}
    return found
