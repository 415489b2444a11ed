from __future__ import annotations

import numpy as np
import pytest

from demur.training.cross_encoders.cross_encoder import CrossEncoder
from demur.training.cross_encoders.worst_group import groups, worst
from demur.types import Pool
from laws import toys


def pools() -> list[Pool]:
    """Right answers have much overlap with the question in half of the pools, and little in the others."""
    easy = [
        Pool.of(f"where is the key {n}", [f"the key {n} is where", "other words"], [1, 0]) for n in range(6)
    ]
    hard = [Pool.of(f"who sells tea {n}", ["a shop", f"who sells tea {n} here"], [1, 0]) for n in range(6)]
    return easy + hard


def test_groups_are_of_label_and_overlap() -> None:
    rows = np.array([[0.1], [0.5], [0.9]])
    assert groups(rows, np.zeros(3)).tolist() == [0, 1, 2]
    assert groups(rows, np.ones(3)).tolist() == [3, 4, 5]


def test_who_follows_overlap_fails_its_worst_group() -> None:
    from demur.rankers import ranker

    some = pools()
    overlap = ranker("overlap").score_pools(some)
    assert worst(some, overlap) == 0, "where the right answer shares nothing, it is never above"
    true = [np.array([float(c.label or 0) for c in pool.candidates]) for pool in some]
    assert worst(some, true) == 1
    assert worst(some, [np.zeros(2) for _ in some]) == 0.5, "equal scores count half"


def test_pools_of_one_label_say_nothing() -> None:
    one = Pool.of("a", ["b", "c"], [1, 1])
    some = pools()
    true = [np.array([float(c.label or 0) for c in pool.candidates]) for pool in some]
    assert worst([*some, one], [*true, np.zeros(2)]) == 1


def test_the_epoch_that_does_best_on_its_worst_group_wins() -> None:
    said: list[dict[str, object]] = []
    some = pools()
    made = CrossEncoder(
        base=toys.classifier(), epochs=4, early="worst", learning_rate=0.003, precision="fp32", max_length=24
    ).train(some, some, report=said.append)
    seen = [facts["dev"] for facts in said if "dev" in facts]
    assert len(seen) == 4
    assert worst(some, made.score_pools(some)) == pytest.approx(max(seen))  # type: ignore[type-var]
