"""bf16 on a processor that has none: numbers are rounded as it rounds them, and their products are of fp32.

That is what processors with bf16 do, too: they multiply rounded numbers and add the products up in fp32. It
takes little longer than fp32, where torch's own way takes several times as long (docs/decisions, 022).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as f
from torch.overrides import TorchFunctionMode

_PRODUCTS: frozenset[Callable[..., Any]] = frozenset(
    (
        f.linear,
        f.scaled_dot_product_attention,
        torch.matmul,
        torch.mm,
        torch.bmm,
        torch.addmm,
        torch.baddbmm,
        Tensor.matmul,
        Tensor.mm,
        Tensor.bmm,
        Tensor.__matmul__,
    )
)
"""What autocast computes in bf16, and takes most of the time; all else is left to torch."""


@contextmanager
def bf16() -> Iterator[None]:
    """A block that computes as `torch.autocast("cpu", torch.bfloat16)` does, and its gradients."""
    with torch.autocast("cpu", torch.bfloat16), _Rounding():
        yield


class _Rounding(TorchFunctionMode):
    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        if func not in _PRODUCTS or not torch.is_autocast_enabled("cpu"):
            return func(*args, **kwargs)
        with torch.autocast("cpu", enabled=False):
            product = func(*map(_rounded, args), **{name: _rounded(each) for name, each in kwargs.items()})
            return product.to(torch.bfloat16)


def _rounded(value: Any) -> Any:
    floats = isinstance(value, Tensor) and value.is_floating_point()
    return value.to(torch.bfloat16).float() if floats else value
