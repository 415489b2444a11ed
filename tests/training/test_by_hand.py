"""Losses and inner loops beside the same written out by hand, number by number."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from demur.training.committees.irgan import deserved, highest, hinge, reward
from demur.training.objectives.decorrelation import PRESETS, Dependence, drawn, learnt
from demur.training.objectives.mini import reading_loss
from demur.training.objectives.pool_losses import Loss, listwise, loss_of, mean_of, pointwise
from demur.training.objectives.reweighting import Reweighting
from demur.training.readers.mini_teacher import LABELS

SCORES = torch.tensor([1.0, 0.5, -1.0, 2.0, 0.0])
RIGHT = torch.tensor([True, True, False, False, True])
SIZES = [3, 2]


def test_the_share_of_all_right_answers_together() -> None:
    first = (math.exp(1) + math.exp(0.5)) / (math.exp(1) + math.exp(0.5) + math.exp(-1))
    second = 1 / (math.exp(2) + 1)
    known = [-math.log(first), -math.log(second)]
    assert loss_of(Loss(), SCORES, RIGHT, SIZES).tolist() == pytest.approx(known, rel=1e-5)
    for found in (listwise(SCORES, RIGHT, SIZES), mean_of(Loss(), SCORES, RIGHT, SIZES)):
        assert float(found) == pytest.approx(sum(known) / 2, rel=1e-5)


def test_each_pair_alone() -> None:
    chances = [1 / (1 + math.exp(-score)) for score in SCORES.tolist()]
    right = [
        math.log(p) if true else math.log(1 - p) for p, true in zip(chances, RIGHT.tolist(), strict=True)
    ]
    pairs = Loss(pointwise=True)
    assert loss_of(pairs, SCORES, RIGHT, SIZES).tolist() == pytest.approx([-x for x in right], rel=1e-5)
    for found in (pointwise(SCORES, RIGHT, SIZES), mean_of(pairs, SCORES, RIGHT, SIZES)):
        assert float(found) == pytest.approx(-sum(right) / 5, rel=1e-5)
    smooth = loss_of(Loss(pointwise=True, smoothing=0.2), SCORES, RIGHT, SIZES).tolist()
    for p, true, each in zip(chances, RIGHT.tolist(), smooth, strict=True):
        target = 0.9 if true else 0.1
        assert each == pytest.approx(-target * math.log(p) - (1 - target) * math.log(1 - p), rel=1e-4)


def test_smoothing_and_focus_over_pools() -> None:
    plain = loss_of(Loss(), SCORES, RIGHT, SIZES)
    logs = [torch.log_softmax(SCORES[:3], 0), torch.log_softmax(SCORES[3:], 0)]
    alike = torch.stack([-each.mean() for each in logs])
    smooth = loss_of(Loss(smoothing=0.25), SCORES, RIGHT, SIZES)
    assert torch.allclose(smooth, 0.75 * plain + 0.25 * alike)
    both = loss_of(Loss(smoothing=0.25, focal=3.0), SCORES, RIGHT, SIZES)
    assert torch.allclose(both, smooth * (1 - torch.exp(-plain)) ** 3), "the chance is of what is right"


def test_rewards_and_hinges() -> None:
    right, shown = torch.tensor([[1.0], [0.0]]), torch.tensor([[0.5, 1.5], [2.0, -3.0]])
    missing = [[0.2 - 0.5, 0.2 + 0.5], [0.2 + 2.0, 0.2 - 3.0]]
    signed = [[2 / (1 + math.exp(-x)) - 1 for x in row] for row in missing]
    for row, known in zip(reward(right, shown, 0.2, True).tolist(), signed, strict=True):
        assert row == pytest.approx(known, rel=1e-5)
    for row, known in zip(reward(right, shown, 0.2, False).tolist(), signed, strict=True):
        assert row == pytest.approx([max(0.0, each) for each in known], rel=1e-5, abs=1e-7)
    there = torch.tensor([[True, True], [True, False]])
    assert float(hinge(right, shown, there, 0.2, True)) == pytest.approx(0.7 + 2.2)
    assert float(hinge(right, shown, there, 0.2, False)) == pytest.approx((0.7 + 2.2) / 3)
    none = torch.zeros(2, 2, dtype=torch.bool)
    assert float(hinge(right, shown, none, 0.2, False)) == 0


def test_what_an_answer_deserves_is_its_reward_less_the_mean_of_the_others() -> None:
    rewards = torch.tensor([[1.0, 2.0, 6.0], [3.0, 5.0, 9.0], [4.0, 7.0, 7.0]])
    shown = torch.tensor([[True, True, True], [True, True, False], [True, False, False]])
    known = [[(1 - 4) / 9, (2 - 3.5) / 9, (6 - 1.5) / 9], [-2 / 6, 2 / 6], [0.0]]
    found = deserved(rewards, shown, True)
    for row, there, wanted in zip(found, shown, known, strict=True):
        assert row[there].tolist() == pytest.approx(wanted)
    alone = deserved(rewards, shown, False)
    assert alone[0].tolist() == pytest.approx([1 / 9, 2 / 9, 6 / 9])
    assert alone[1].tolist() == pytest.approx([3 / 6, 5 / 6, 0]) and float(alone[2, 0]) == pytest.approx(
        4 / 3
    )


def test_a_hinge_of_one_answer_is_its_own_mean() -> None:
    right, shown, there = torch.tensor([[1.0]]), torch.tensor([[0.5, 3.0]]), torch.tensor([[True, False]])
    assert float(hinge(right, shown, there, 0.8, False)) == pytest.approx(0.3)


def test_a_reader_learns_from_what_a_larger_one_says_and_a_little_from_labels() -> None:
    """Two windows of three places, of which the second window has two; the teacher says nothing of it."""
    spans = torch.tensor([[[0.5, -1.0, 2.0], [0.0, 1.0, 0.3]], [[0.2, 0.9, 7.0], [-0.4, 0.1, 7.0]]])
    there = torch.tensor([[True, True, True], [True, True, False]])
    told = torch.tensor([[[0.5, 0.1, 0.4], [0.3, 0.6, 0.1]], [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]])
    scores, places = torch.tensor([0.7, -0.2]), [(2, 2), (0, 1)]
    logs = [
        [torch.log_softmax(side[here], 0) for side in window]
        for window, here in zip(spans, there, strict=True)
    ]
    by_label = -sum(float(logs[w][s][places[w][s]]) for w in (0, 1) for s in (0, 1)) / 4
    by_teacher = -sum(float((told[0, s] * logs[0][s]).sum()) for s in (0, 1)) / 4
    by_teacher -= sum(float(logs[1][s][places[1][s]]) for s in (0, 1)) / 4
    known = 2 * (LABELS * by_label + (1 - LABELS) * by_teacher)
    none = torch.zeros(2, 0, 2, 3)
    found = reading_loss(scores, spans, none, there, places, None, told)
    assert float(found) == pytest.approx(known, rel=1e-5)
    answered = [LABELS * 1.0 + (1 - LABELS) * (1 - (0.5 + 0.3) / 2), 0.0]  # the first place is no answer
    for score, share in zip(scores.tolist(), answered, strict=True):
        chance = 1 / (1 + math.exp(-score))
        known -= (share * math.log(chance) + (1 - share) * math.log(1 - chance)) / 2
    found = reading_loss(scores, spans, none, there, places, [True, False], told)
    assert float(found) == pytest.approx(known, rel=1e-5)


@pytest.mark.parametrize("preset", ["code", "paper"])
def test_the_inner_loop_as_released(preset: str) -> None:
    """Momentum of .9, a tenth of the rate from half-way on, λ, and the memory's weights held fast."""
    choices = replace(PRESETS[preset], rate=0.5, steps=7)
    rows, start = torch.randn(9, 4, generator=torch.Generator().manual_seed(0)), torch.linspace(-1, 1, 9)
    torch.manual_seed(3)
    found = learnt(rows, start, 5, choices)
    torch.manual_seed(3)
    moving, speed = start[4:].clone(), torch.zeros(5)
    depends = None if choices.fresh else Dependence(drawn(rows, choices), choices)
    for step in range(7):
        leaf = moving.clone().requires_grad_()
        weights = torch.softmax(torch.cat([start[:4], leaf]), 0)
        loss = (2 / 0.01 if preset == "code" else 1.0) * (
            depends or Dependence(drawn(rows, choices), choices)
        )(weights)
        if preset == "code":
            loss = loss + 5 / 140 * (torch.softmax(leaf, 0) ** 2).sum()
        (slope,) = torch.autograd.grad(loss, leaf)
        speed = 0.9 * speed + slope
        moving = moving - (0.5 if step < 3 else 0.05) * speed
    assert torch.equal(found[:4], start[:4]) and (found[4:] - start[4:]).abs().max() > 0.01
    assert torch.allclose(found[4:], moving, atol=1e-6)


def test_the_mean_over_pairs_of_features_is_what_fixed_lowers() -> None:
    """So that weights are held back alike for any number of features: the aim was set for 24 of them."""
    rows = torch.randn(12, 6, generator=torch.Generator().manual_seed(0))
    whole = replace(PRESETS["fixed"], mean=False, strength=276 / 15)
    assert torch.equal(
        learnt(rows, torch.zeros(12), 12, PRESETS["fixed"]), learnt(rows, torch.zeros(12), 12, whole)
    )
    free = replace(PRESETS["fixed"], penalty=0.0)
    spread = [learnt(rows, torch.zeros(12), 12, each).std() for each in (PRESETS["fixed"], free)]
    assert spread[0] < spread[1], "the penalty holds weights back"


def test_the_memory_as_released_is_a_plain_mean_first_and_then_forgets() -> None:
    reweighting = Reweighting(2, replace(PRESETS["code"], memory=3, plain=2, decay=0.75, steps=0))
    seen = [torch.full((3, 2), value) for value in (4.0, 8.0, 16.0)]
    for rows, known in zip(seen, (4.0, 6.0, 0.75 * 6 + 0.25 * 16), strict=True):
        reweighting(rows)
        assert reweighting.rows.tolist() == [[known, known]] * 3
    reweighting(torch.zeros(1, 2))
    assert reweighting.rows[:, 0].tolist() == [8.5 * 0.75, 8.5, 8.5], "a short batch changes the first rows"


def test_what_is_not_there_is_never_among_the_highest() -> None:
    places, there = highest(torch.tensor([[1.0, 3.0, -torch.inf], [-torch.inf, 2.0, -torch.inf]]), 2)
    assert places[0].tolist() == [1, 0] and places[1, 0] == 1
    assert there.tolist() == [[True, True], [True, False]]
    assert highest(torch.zeros(1, 2), 5)[1].tolist() == [[True, True]]


def test_the_strength_is_that_of_24_features_however_many_there_are() -> None:
    choices = replace(PRESETS["fixed"], steps=3, adam=False)  # whose steps would not depend on it
    for features, strength in ((24, 1.0), (4, 276 / 6), (2, 276.0)):
        torch.manual_seed(features)
        drawn_features, logits = torch.randn(12, features), torch.zeros(12)
        found = []
        for each in (choices, replace(choices, mean=False, strength=strength)):
            torch.manual_seed(1)
            found.append(learnt(drawn_features, logits, 12, each))
        assert torch.equal(*found) and not torch.equal(found[0], logits)


def test_what_is_done_as_the_paper_and_as_the_code_do_it() -> None:
    differs = ("pooled", "standard", "blocks", "squared", "fresh", "adam", "mean", "queue")
    done = {name: {key for key in differs if getattr(each, key)} for name, each in PRESETS.items()}
    assert done == {
        "fixed": {"standard", "blocks", "adam", "mean", "queue"},
        "paper": {"standard", "blocks", "squared"},
        "code": {"pooled", "fresh"},
    }
