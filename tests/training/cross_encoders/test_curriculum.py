"""Training on easy examples first: what is easy, how weights grow, and the trainer from end to end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import gaussian_kde

from demur.errors import DemurError
from demur.training import trainer
from demur.training.cross_encoders.cross_encoder import CrossEncoder
from demur.training.cross_encoders.curriculum import Curriculum, chances, easiness
from demur.training.objectives.base import Plain, ScoredPairs
from demur.training.objectives.curriculum import Curriculum as EasyFirst
from demur.training.objectives.pool_losses import Loss
from laws import toys
from training import made

SCORES = np.array([3.0, 1.0, 2.0, 1.0])
RIGHT = np.array([True, False, False, False])


def test_what_is_thought_of_candidates() -> None:
    assert chances(SCORES, "rank").tolist() == pytest.approx([1, 1 / 3.5, 1 / 2, 1 / 3.5])
    assert chances(SCORES, "score").tolist() == [1, 0, 0.5, 0]
    below = [gaussian_kde(SCORES).integrate_box_1d(-np.inf, score) for score in SCORES]
    assert chances(SCORES, "density") == pytest.approx(np.array(below))


@pytest.mark.parametrize("difficulty", ["rank", "score", "density"])
def test_equal_scores_and_pools_of_one_are_neither_easy_nor_hard(difficulty: str) -> None:
    for scores in (np.zeros(3), np.zeros(1)):
        found = chances(scores, difficulty)
        assert np.isfinite(found).all() and len(set(found.tolist())) == 1


def test_easy_is_a_right_answer_on_top_and_a_wrong_one_below() -> None:
    likely = chances(SCORES, "score")
    assert easiness(likely, RIGHT, pointwise=True).tolist() == [1, 1, 0.5, 1]
    assert easiness(likely, RIGHT, pointwise=False) == pytest.approx(np.full(4, (1 - 1 / 6 + 1) / 2))
    upside_down = easiness(1 - likely, RIGHT, pointwise=False)
    assert upside_down[0] == pytest.approx(1 - easiness(likely, RIGHT, pointwise=False)[0])


@pytest.mark.parametrize("loss", [Loss(), Loss(pointwise=True)])
def test_weights_grow_until_all_count_alike(loss: Loss) -> None:
    seen = ScoredPairs(
        torch.tensor([0.3, -0.2, 0.5, 0.9]), torch.tensor([True, False, False, True]), [2, 2], torch.arange(4)
    )
    easy = torch.tensor([1.0, 1.0, 0.0, 0.0])
    first = EasyFirst(loss, easy, 8)
    each = Plain(loss).each(seen)
    mine = each[: len(each) // 2].sum() / len(each)
    theirs = each[len(each) // 2 :].sum() / len(each)
    assert first(seen) == pytest.approx(float(mine)), "of hard pairs nothing is learnt at first"
    assert first(seen) == pytest.approx(float(mine + theirs / 2)) and first.told() == {"curriculum": 1.0}
    assert first(seen) == pytest.approx(float(Plain(loss)(seen))) == pytest.approx(float(first(seen)))


def settings(**more: Any) -> dict[str, Any]:
    base = {"base": toys.bert(), "epochs": 2, "tokens": 200, "learning_rate": 0.01, "freeze_words": False}
    return {**base, "max_length": 24, "precision": "fp32", **more}


POOLS = made.pools(10)


@pytest.mark.parametrize("loss", ["listwise", "pointwise"])
def test_it_differs_from_plain_training_and_ends_the_same_after_a_kill(loss: str, tmp_path: Any) -> None:
    def killed(facts: dict[str, Any]) -> None:
        if facts.get("epoch") == 1:
            raise KeyboardInterrupt

    by = Curriculum(**settings(loss=loss, until=1.5))
    whole = by.train(POOLS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("demur.training.loop.fitting.Schedule.minutes", 0)
        with pytest.raises(KeyboardInterrupt):
            by.train(POOLS, checkpoints=tmp_path, report=killed)
        resumed = by.train(POOLS, checkpoints=tmp_path)
    assert resumed.fingerprint == whole.fingerprint
    plain = CrossEncoder(**settings(loss=loss)).train(POOLS)
    assert whole.fingerprint != plain.fingerprint
    at_once = Curriculum(**settings(loss=loss, until=0)).train(POOLS)
    assert at_once.score("quest1?", ["cape", ""]) == pytest.approx(
        plain.score("quest1?", ["cape", ""]), abs=1e-4
    )


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("curriculum(difficulty=hard)", "difficulty"),
        ("curriculum(until=2)", "until=2 must be 0 to 1, the number of epochs"),
        ("curriculum(first=bm52)", "bm25"),
    ],
)
def test_settings_are_checked(spec: str, said: str) -> None:
    with pytest.raises(DemurError, match=said):
        trainer(spec)
