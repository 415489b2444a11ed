from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from demur.errors import UsageError
from demur.training import trainer
from demur.training.labels.confident_learning import chances, pruned, unlikely
from demur.types import Candidate, Pool
from training import made

STUDENT = f"concat(loss=pointwise, early=none, epochs=40, features='{made.words()}')"


def flipped(pools: list[Pool], share: float) -> tuple[list[Pool], list[bool]]:
    """The pools with so many labels turned round, and which."""
    count = sum(map(len, pools))
    which = np.random.default_rng(5).permutation(count) < round(share * count)
    turns = iter(which.tolist())
    turned = []
    for pool in pools:
        candidates = tuple(
            Candidate(c.id, c.text, int(bool(c.label) != next(turns))) for c in pool.candidates
        )
        turned.append(Pool(pool.id, pool.question, candidates))
    return turned, which.tolist()


def test_the_confident_joint_by_hand() -> None:
    right = np.array([True, True, True, False, False, False])
    chance = np.array([0.9, 0.8, 0.1, 0.2, 0.1, 0.7])  # the bars: 0.6 to be right, 2/3 to be wrong
    assert unlikely(chance, right).tolist() == [False, False, True, False, False, True]
    assert not unlikely(np.array([0.9, 0.55, 0.1, 0.4]), right[[0, 1, 3, 4]]).any()


def test_chances_rise_with_scores() -> None:
    scores = np.array([3.0, 2.0, -1.0, 0.5, 0.0])
    found = chances(scores, scores > 0.2)
    assert (np.argsort(found) == np.argsort(scores)).all() and found.min() < 0.5 < found.max()


def test_labels_nobody_gave_stay_so() -> None:
    pool = Pool.of("q", ["a", "b", "c", "d"], [1, 0, None, 0])
    scores = np.array([2.0, 2.0, 9.0, -2.0])
    (kept,), gone = pruned(
        [
            pool,
        ],
        [scores],
    )
    assert kept.labels[2] is None and gone == kept.labels.count(None) - 1
    assert pruned([pool], [-scores], keep_right=True)[0][0].labels[0] == 1
    with pytest.raises(UsageError, match="all right or all wrong"):
        pruned([Pool.of("q", ["a"], [1])], [np.zeros(1)])


def test_most_turned_labels_are_found_and_few_others() -> None:
    noisy, which = flipped(made.pools(60), 0.15)
    found = trainer(STUDENT).train(made.pools(60, seed=8)).score_pools(noisy)
    off = [label is None for pool in pruned(noisy, found)[0] for label in pool.labels]
    assert np.mean([gone for gone, turned in zip(off, which, strict=True) if turned]) > 0.6
    assert np.mean([gone for gone, turned in zip(off, which, strict=True) if not turned]) < 0.1


def test_the_student_learns_from_the_rest() -> None:
    noisy, _ = flipped(made.pools(30), 0.15)
    said: list[dict[str, Any]] = []
    taught = trainer("confident", student=STUDENT).train(noisy, report=said.append)
    assert said and {facts["pruned"] for facts in said} == {said[0]["pruned"]} and said[0]["pruned"] > 0
    assert taught.fingerprint != trainer(STUDENT).train(noisy).fingerprint


def test_settings_are_checked() -> None:
    with pytest.raises(UsageError, match="too few"):
        trainer("confident").train(made.pools(3))
    with pytest.raises(UsageError):
        trainer("confident(folds=1)")
