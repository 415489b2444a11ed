"""bf16 by way of fp32 gives what torch's own bf16 does, but for the order in which sums are added up."""

from __future__ import annotations

from collections.abc import Callable
from unittest.mock import Mock

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as f

from demur import emulated, precision

Compute = Callable[[Tensor, Tensor, Tensor], Tensor]
PRODUCTS: dict[str, Compute] = {
    "linear": lambda x, w, b: f.linear(x, w, b),
    "layer": lambda x, w, b: nn.Linear(24, 24)(f.linear(x, w)),
    "@": lambda x, w, b: x @ w,
    "matmul": lambda x, w, b: torch.matmul(x, w),
    "bmm": lambda x, w, b: x.bmm(w.expand(len(x), -1, -1)),
    "mm": lambda x, w, b: x[0].mm(w),
    "addmm": lambda x, w, b: torch.addmm(b, x[0], w, alpha=0.5),
    "baddbmm": lambda x, w, b: torch.baddbmm(b.expand(len(x), 7, -1), x, w.expand(len(x), -1, -1)),
    "attention": lambda x, w, b: f.scaled_dot_product_attention(x @ w, x, x, attn_mask=b[:7].expand(7, 7)),
}


def found(compute: Compute, block: Callable[[], object]) -> list[Tensor]:
    """What comes out, and the gradients of what goes in."""
    torch.manual_seed(0)
    x, w, b = torch.randn(3, 7, 24), torch.randn(24, 24), torch.randn(24)
    ins = [each.requires_grad_() for each in (x, w, b)]
    with block():  # type: ignore[attr-defined]
        out = compute(*ins)
        assert out.dtype == torch.bfloat16
        out.float().square().mean().backward()  # type: ignore[no-untyped-call]
    return [out.detach().float(), *(each.grad for each in ins if each.grad is not None)]


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_and_their_gradients_are_those_of_bf16(name: str) -> None:
    theirs = found(PRODUCTS[name], lambda: torch.autocast("cpu", torch.bfloat16))
    ours = found(PRODUCTS[name], emulated.bf16)
    assert len(ours) == len(theirs) >= 2
    for one, other in zip(ours, theirs, strict=True):
        assert one.dtype == other.dtype == torch.float32
        assert (one - other).abs().max() <= 0.02 * other.abs().max()
        assert (one == other).float().mean() > 0.5 or name == "attention"


def test_numbers_are_rounded_before_they_are_multiplied() -> None:
    fine = torch.full((1, 1), 1 + 2**-10)
    with emulated.bf16():
        assert f.linear(fine * 3, fine).item() == 3 and fine.item() != 1
        with torch.autocast("cpu", enabled=False):
            assert f.linear(fine, fine).item() > 1


@pytest.mark.parametrize(
    "ratio, taken, mode", [(0.3, "bf16", True), (0.3, "fp32", False), (1.0, "bf16", False)]
)
def test_it_is_taken_where_the_processor_has_no_bf16(
    monkeypatch: pytest.MonkeyPatch, ratio: float, taken: str, mode: bool
) -> None:
    monkeypatch.setattr(precision, "ratio", lambda: ratio)
    rounded = Mock(wraps=emulated._rounded)
    monkeypatch.setattr(emulated, "_rounded", rounded)
    with precision.casting(taken, "cpu"):
        out = f.linear(torch.ones(2, 3), torch.ones(4, 3))
    assert rounded.called == mode and out.dtype == precision.dtype(taken)
