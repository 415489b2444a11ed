"""Dropout that costs little is torch's own, but for which numbers it draws."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from demur.nets.transformers.dropout import cheaply, dropout


@pytest.mark.parametrize("share", [0.1, 0.5, 0.73])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_share_is_nothing_and_the_rest_is_larger_for_it(share: float, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    out = dropout(torch.ones(401, 503, dtype=dtype), share).float()
    gone = out == 0
    assert gone.float().mean().item() == pytest.approx(share, abs=0.005)
    assert sorted(set(out[~gone].tolist())) == pytest.approx([1 / (1 - share)], rel=0.01)
    beside = (gone[:, 1:] & gone[:, :-1]).float().mean().item()  # four numbers come from one draw
    assert beside == pytest.approx(share**2, abs=0.005)
    assert gone.float().mean(0).std().item() == pytest.approx((share * (1 - share) / 401) ** 0.5, rel=0.15)


def test_a_seed_says_which_and_the_way_back_is_the_same() -> None:
    x = torch.ones(7, 5, 3, requires_grad=True)
    seen: list[Any] = []
    for _ in range(2):
        torch.manual_seed(3)
        seen.append(dropout(x, 0.4))
    assert torch.equal(*seen)
    assert not torch.equal(seen[0], dropout(x, 0.4))
    [back] = torch.autograd.grad(seen[0].sum(), x)
    assert 0 < int((back == 0).sum()) < x.numel()
    torch.testing.assert_close(back, seen[0].detach())


def test_where_nothing_is_to_be_done() -> None:
    x = torch.ones(9)
    assert dropout(x, 0.5, training=False) is x
    assert dropout(x, 0.0) is x
    assert not dropout(x, 1.0).any()
    assert dropout(torch.ones(0, 4), 0.5).shape == (0, 4)


def test_a_network_takes_it_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[float] = []

    def noted(x: torch.Tensor, share: float, training: bool) -> torch.Tensor:
        calls.append(share)
        return x

    monkeypatch.setattr("demur.nets.transformers.dropout.dropout", noted)
    network = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.25), nn.Dropout1d(0.5))
    with pytest.raises(ValueError, match="stop"), cheaply(network):
        network(torch.ones(1, 2))
        raise ValueError("stop")
    assert calls == [0.25], "other kinds of dropout stay"
    network(torch.ones(1, 2))
    assert calls == [0.25]
    assert type(network[1]) is nn.Dropout
