"""A cross-encoder that learns another ranker's opinion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import demur
from demur.errors import UsageError
from demur.training.cross_encoders.distilled import Distilled
from demur.training.objectives.base import ScoredPairs
from demur.training.objectives.distilled import Distilling
from demur.training.objectives.pool_losses import Loss, listwise
from demur.types import Pool
from laws import toys

POOLS = [
    Pool.of(f"quest{n % 3}?", ["the ship", f"sailed the cape {n} may", "cape"], [0, 0, 1], id=f"{n}")
    for n in range(12)
]


def taught(**settings: Any) -> Distilled:
    small = {"base": toys.bert(), "epochs": 12, "tokens": 200, "learning_rate": 0.01, "freeze_words": False}
    return Distilled(**{**small, "max_length": 24, "precision": "fp32", "teacher": "length", **settings})


def agreement(ranker: demur.rankers.Ranker, other: str) -> float:
    pairs = zip(ranker.score_pools(POOLS), demur.ranker(other).score_pools(POOLS), strict=True)
    return float(np.mean([a.argmax() == b.argmax() for a, b in pairs]))


def test_it_comes_to_think_as_its_teacher_does() -> None:
    assert agreement(taught().train(POOLS), "length") == 1


def test_labels_are_not_read_unless_they_have_a_share() -> None:
    bare = [Pool.of(pool.question, pool.answers, id=pool.id) for pool in POOLS]
    learnt = [
        taught(epochs=2).train(pools).score("quest1?", ["cape", "may"]).tolist() for pools in (POOLS, bare)
    ]
    assert learnt[0] == learnt[1]
    mostly = taught(labels=0.95).train(POOLS)
    assert demur.evaluate(mostly, POOLS, ["P@1"]).measures["P@1"].mean > 0.9  # the labels', not the teacher's


def test_the_loss_is_least_at_the_teachers_distribution_and_mixes_with_the_labels() -> None:
    shares = torch.tensor([0.7, 0.2, 0.1, 0.5, 0.5])
    right = torch.tensor([False, True, False, True, False])
    places = torch.tensor([3, 4, 0, 1, 2])  # pools in another order than they were given
    order = shares[places].log()

    def loss(scores: torch.Tensor, labels: float = 0.0) -> float:
        return float(Distilling(Loss(), shares, labels)(ScoredPairs(scores, right[places], [2, 3], places)))

    entropy = -(shares * shares.log()).sum() / 2
    assert loss(order + 3) == pytest.approx(float(entropy), abs=1e-6)
    assert loss(order + torch.tensor([0.3, 0, 0, 0, 0.2])) > float(entropy)
    mixed = 0.75 * loss(order) + 0.25 * float(listwise(order, right[places], [2, 3]))
    assert loss(order, 0.25) == pytest.approx(mixed, abs=1e-6)


def test_large_pools_are_cut_but_keep_their_right_answers_where_labels_count() -> None:
    large = Pool.of("quest?", [f"may {n}" for n in range(30)], [int(n == 17) for n in range(30)])
    cut = taught(candidates=4, labels=0.5)._taught([large], None, None, lambda facts: None)
    assert [len(pool) for pool in cut] == [4]
    assert cut[0].positives == 1
    bare = taught(candidates=4)._taught([large], None, None, lambda facts: None)
    assert set(bare[0].labels) == {None}


def test_what_nobody_judged_is_no_wrong_answer() -> None:
    half = Pool.of("quest?", ["may", "cape", "ship"], [1, None, 0], id="half")
    none = Pool.of("quest?", ["may", "cape"], [1, None], id="none")
    (kept,) = taught(labels=0.5)._taught([half, none], None, None, lambda facts: None)
    assert kept.answers == ["may", "ship"] and kept.labels == [1, 0]
    assert len(taught()._taught([half, none], None, None, lambda facts: None)) == 2


@pytest.mark.parametrize(
    "settings", [{"sharpness": 0}, {"candidates": 1}, {"labels": 1}, {"loss": "pointwise"}]
)
def test_settings_that_make_no_sense(settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        taught(**settings)


def test_pools_of_one_teach_nothing() -> None:
    with pytest.raises(UsageError, match="two candidates"):
        taught().train([Pool.of("q", ["a"])])
