"""The arithmetic of two nets: what is not computed must not be missed."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np
import pytest
import torch

from demur.rankers.match_nets.match_nets import Match
from demur.training import trainer
from demur.training.committees import adversarial_loop
from demur.training.committees.adversarial import ADVERSARIES
from demur.training.committees.adversarial_loop import Epochs, Schedule, TwoNets
from demur.training.committees.irgan import chances, deserved, drawn, reinforce
from demur.training.committees.irgan_rules import PRESETS
from demur.training.small_nets.negatives import Negatives
from training import made
from training.small_nets.test_match_nets import built

POOLS = made.pools(12)


@pytest.fixture(scope="module", params=["match-pyramid", "multihop"])
def field(request: pytest.FixtureRequest) -> Epochs:
    start = built(request.param, epochs=1).train(POOLS)
    assert isinstance(start, Match)
    schedule = Schedule("irgan", PRESETS["fixed"], 1, 4, 5, 3, 0, 0)
    return Epochs(start.fresh(), Negatives.of(POOLS), schedule)


@pytest.mark.parametrize("alike", [False, True])
def test_the_answers_drawn_are_enough_for_the_generators_gradient(field: Epochs, alike: bool) -> None:
    net = copy.deepcopy(field.has.network).eval()
    weights = [each for each in net.parameters() if each.requires_grad]
    examples, grid, there = next(iter(field.batches(np.random.default_rng(0))))
    torch.manual_seed(0)
    scores = field.scores(net, examples, grid, there)
    places, shown = drawn(chances(scores.detach(), there, field.heat), 5, again=True)
    gains = torch.full(places.shape, 0.3) if alike else torch.randn(grid.shape).gather(1, places)
    whole = reinforce(chances(scores, there, field.heat).gather(1, places), gains, shown, True)
    expected = torch.autograd.grad(whole, weights)
    few = field.baselined(net, examples, grid, places, deserved(gains, shown, True)) / field.heat
    found = torch.autograd.grad(few, weights)
    largest = max(float(each.abs().max()) for each in expected)
    assert alike == (largest < 1e-6), "so that the test could fail"
    for one, other in zip(found, expected, strict=True):
        assert torch.allclose(one, other, atol=1e-6 + 1e-4 * largest)


@pytest.mark.parametrize("adversary", ADVERSARIES)
def test_a_right_answer_is_shown_by_no_adversary_but_the_codes_own(adversary: str, field: Epochs) -> None:
    rules = dataclasses.replace(PRESETS["code"], pool=8)
    other = Epochs(field.has, field.negatives, Schedule(adversary, rules, 1, 8, 3, 3, 0, 0))
    for examples, grid, _ in other.batches(np.random.default_rng(0)):
        with_right = (grid == field.negatives.right[examples][:, None]).any(axis=1)
        assert with_right.all() if adversary == "irgan" else not with_right.any()


def test_what_is_drawn_first_is_drawn_by_its_chance() -> None:
    known = torch.tensor([0.5, 0.3, 0.15, 0.05])
    places, _ = drawn(known.log().expand(40_000, -1), 2, again=False)
    found = torch.bincount(places[:, 0], minlength=4) / 40_000
    assert torch.allclose(found, known, atol=0.012)


@pytest.mark.parametrize(("preset", "wanted"), [("code", [1 / 20, 1 / 30, 1.0]), ("fixed", None)])
def test_the_codes_temperatures_are_those_of_its_code_for_any_net(
    preset: str, wanted: list[float] | None, field: Epochs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It draws at exp(20 s) and exp(30 s), and its log-softmax has none; the other presets have the net's."""
    heats: list[float] = []

    def noted(scores: torch.Tensor, there: torch.Tensor, heat: float) -> torch.Tensor:
        heats.append(heat)
        return chances(scores, there, heat)

    monkeypatch.setattr(adversarial_loop, "chances", noted)
    rules = dataclasses.replace(PRESETS[preset], pool=8)
    other = Epochs(field.has, field.negatives, Schedule("irgan", rules, 1, 12, 3, 3, 0, 0))
    net = field.has.network
    other.epoch(TwoNets(copy.deepcopy(net), copy.deepcopy(net), (1e-4, 1e-4)), 1)
    assert set(heats) == set(wanted or [net.net.heat])


def test_games_whose_rules_did_not_change_keep_their_models() -> None:
    assert "preset=fixed," in trainer("adversarial").known_by
    assert "preset=code-2" in trainer("adversarial(preset=code)").known_by
    assert "preset=code," in trainer("adversarial(preset=code)").spec
