"""The quick attention is torch's own, with dropout that costs little or without."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from demur.errors import UsageError
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


def other(kind: str) -> Any:
    """A network whose attention is its own: a share of .4 is dropped there, and of states .1."""
    from transformers import AutoConfig, AutoModelForSequenceClassification

    small = {"hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 2, "intermediate_size": 32}
    small |= {"vocab_size": 30, "num_labels": 1, "max_position_embeddings": 40}
    more: dict[str, Any] = {"attention_probs_dropout_prob": 0.4, "relative_attention": True}
    if kind == "funnel":
        small, more = {"vocab_size": 30, "d_model": 16, "n_head": 2, "d_head": 8, "d_inner": 32}, {}
    torch.manual_seed(0)
    network = AutoModelForSequenceClassification.from_config(AutoConfig.for_model(kind, **small, **more))
    assert network.config._attn_implementation == "eager"
    return network


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


@pytest.mark.parametrize(("precision", "off"), [("fp32", 1e-5), ("bf16", 0.15)])
def test_of_mpnet_it_is_the_same_attention(precision: str, off: float) -> None:
    torch.manual_seed(0)
    network: Any = cross_encoder.load(toys.mpnet()).eval()
    kinds = [type(part) for part in network.modules()]

    def both(tokens: int) -> tuple[Tensor, Tensor]:
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
            scores = cross_encoder.score(network, batch(tokens)).detach()
            return scores, torch.cat([each.flatten() for each in gradients(network, tokens)])

    for tokens in (9, 46):
        theirs = both(tokens)
        with quick(network):
            assert [type(part) for part in network.modules()] != kinds
            ours = both(tokens)
        assert [type(part) for part in network.modules()] == kinds
        for a, b in zip(theirs, ours, strict=True):
            assert (a - b).norm() < off * a.norm()


def test_of_mpnet_weights_are_told_where_they_are_asked_for() -> None:
    network: Any = cross_encoder.load(toys.mpnet()).train()
    with quick(network):
        told = network(**batch(9), output_attentions=True).attentions
    assert len(told) == 2 and told[0].shape == (3, 2, 9, 9)
    assert (told[0].sum(-1) - 1).abs().max() < 1e-5


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


@pytest.mark.parametrize("kind", ["mpnet", "deberta-v2"])
def test_attention_that_is_a_networks_own_loses_its_dropout_and_nothing_else(kind: str) -> None:
    network = other(kind).train()
    states = [part for part in network.modules() if isinstance(part, torch.nn.Dropout) and part.p == 0.1]
    for part in states:
        part.p = 0.0
    drawn = [cross_encoder.score(network, batch(9)) for _ in range(2)]
    assert not torch.equal(*drawn)
    with quick(network):
        once = cross_encoder.score(network, batch(9))
        assert torch.equal(once, cross_encoder.score(network, batch(9)))
    assert not torch.equal(once, cross_encoder.score(network, batch(9))), "it comes back"
    network.eval()
    torch.testing.assert_close(
        once, cross_encoder.score(network, batch(9)), atol=1e-5, rtol=1e-5, msg="relative positions and all"
    )
    for part in states:
        part.p = 0.1
    network.train()
    with quick(network):
        assert not torch.equal(*(cross_encoder.score(network, batch(9)) for _ in range(2))), (
            "of states it stays"
        )
    with quick(network, drops=True):
        assert {part.p for part in network.modules() if isinstance(part, torch.nn.Dropout)} >= {0.1, 0.4}


def test_where_it_cannot_be_left_out_that_is_one_line() -> None:
    network = other("funnel")
    with (
        pytest.raises(UsageError, match=r"^Funnel\w+ has an attention .* leave out; set quick=false$"),
        Schedule(0.1, quick=True).learning(network),
    ):
        pass
    network.config.attention_dropout = 0.0
    with quick(network):
        pass
    with quick(other("funnel"), drops=True):
        pass


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
