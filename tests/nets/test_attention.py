"""The quick attention is torch's own, with dropout that costs little or without."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from demur.nets.transformers import cross_encoder
from demur.nets.transformers.attention import DROPPING, NAME, attend, attend_dropping, quick
from demur.rankers.cross_encoders.cross_encoder import CrossEncoder as Ranker
from demur.training.cross_encoders.cross_encoder import CrossEncoder
from demur.training.loop.fitting import Schedule
from demur.types import Pool
from laws import toys

POOLS = [
    Pool.of(f"quest {n}", ["the ship sailed", "nothing round", "may"], [1, 0, 0], id=str(n)) for n in range(6)
]
SETTINGS: dict[str, Any] = {
    "base": toys.classifier(),
    "precision": "fp32",
    "learning_rate": 0.003,
    "tokens": 60,
    "max_length": 24,
}


def batch(tokens: int) -> dict[str, Tensor]:
    draws = torch.Generator().manual_seed(0)
    ids = torch.randint(5, 20, (3, tokens), generator=draws)
    mask = torch.ones_like(ids)
    mask[0, tokens // 2 :] = 0
    return {"input_ids": ids, "attention_mask": mask}


def gradients(network: torch.nn.Module, tokens: int) -> list[Tensor]:
    network.zero_grad()
    cross_encoder.score(network, batch(tokens)).pow(2).sum().backward()  # type: ignore[no-untyped-call]
    return [weight.grad.clone() for weight in network.parameters() if weight.grad is not None]


@pytest.mark.parametrize("short", [0, 1000], ids=["fused", "plain"])
def test_it_is_the_same_attention(short: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("demur.nets.transformers.attention._SHORT", short)
    network: Any = cross_encoder.load(toys.classifier()).eval()
    whole = gradients(network, 9)
    with quick(network):
        assert network.config._attn_implementation == NAME
        ours = gradients(network, 9)
    assert network.config._attn_implementation == "sdpa"
    for a, b in zip(whole, ours, strict=True):
        torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-4)


def test_there_is_no_dropout_in_it() -> None:
    network: Any = cross_encoder.load(toys.classifier()).train()
    for part in network.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
    for part in network.modules():
        if hasattr(part, "query"):
            part.dropout.p = 0.5
    with quick(network):
        same = [cross_encoder.score(network, batch(9)) for _ in range(2)]
    assert torch.equal(*same)
    assert not torch.equal(cross_encoder.score(network, batch(9)), same[0])


def test_with_dropout_it_is_what_it_drops_on_average() -> None:
    torch.manual_seed(0)
    query, key, value = torch.randn(3, 2, 4, 6, 8).unbind()
    mask = torch.ones(2, 1, 6, 6, dtype=torch.bool)
    mask[..., 4:] = False
    module = torch.nn.Module()
    whole = attend(module, query, key, value, mask)[0]
    torch.testing.assert_close(
        attend_dropping(module, query, key, value, mask)[0], whole, atol=1e-5, rtol=1e-4
    )
    drawn = torch.stack(
        [attend_dropping(module, query, key, value, mask, dropout=0.3)[0] for _ in range(4000)]
    )
    assert drawn.std(0).min() > 0.01
    torch.testing.assert_close(drawn.mean(0), whole, atol=0.06, rtol=0)


def test_attention_of_another_kind_is_left_to_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("demur.nets.transformers.attention._plain", None)  # not to be called
    query, key, value = torch.randn(3, 2, 4, 6, 8).unbind()
    module = torch.nn.Module()
    module.num_key_value_groups = 2  # type: ignore[assignment]
    for attention in (attend, attend_dropping):
        attention(module, query, key[:, :2], value[:, :2], None, dropout=0.1)  # heads share keys
        attention(module, query, query, query, None, dropout=0.1, is_causal=True)
        bias = torch.zeros(1, 4, 6, 6)
        attention(module, query, query, query, None, dropout=0.1, position_bias=bias)


def test_a_network_that_learns_drops_cheaply() -> None:
    network: Any = cross_encoder.load(toys.classifier())
    for usual in (True, False):
        with Schedule(0.1, quick=not usual).learning(network):
            assert network.config._attn_implementation == (DROPPING if usual else NAME)
            assert torch.nn.Dropout not in {type(part) for part in network.modules()}
    assert torch.nn.Dropout in {type(part) for part in network.modules()}


def test_what_is_set_back_is_set_back_after_an_error() -> None:
    network: Any = cross_encoder.load(toys.classifier())
    with pytest.raises(ValueError, match="stop"), quick(network):
        raise ValueError("stop")
    assert network.config._attn_implementation == "sdpa"
    network.set_attn_implementation("eager")
    with quick(network):
        assert network.config._attn_implementation == "eager", "another one was asked for, and stays"


def test_a_trainer_takes_it() -> None:
    made = CrossEncoder(**SETTINGS, quick=True).train(POOLS)
    again = CrossEncoder(**SETTINGS, quick=True).train(POOLS)
    slow = CrossEncoder(**SETTINGS).train(POOLS)
    assert isinstance(made, Ranker)
    assert made.fingerprint == again.fingerprint != slow.fingerprint
    network: Any = made.fresh()[0]
    assert network.config._attn_implementation == "sdpa"
    assert "quick" not in CrossEncoder().known_by
