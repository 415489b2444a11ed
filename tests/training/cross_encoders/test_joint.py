"""A ranker that reads answers beside one another, and its training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import demur
from demur import training
from demur.errors import UsageError
from demur.rankers.cross_encoders.cross_encoder import CrossEncoder as Ranker
from demur.rankers.cross_encoders.joint import Joint as JointRanker
from demur.rankers.opening import save
from demur.training.cross_encoders.cross_encoder import CrossEncoder
from demur.training.cross_encoders.joint import Joint
from demur.types import Pool
from laws import toys

BEATS = [("the ship", "may"), ("may", "cape"), ("cape", "the ship")]  # so none is right by itself
POOLS = [
    Pool.of("quest?", [a, b] if n % 2 else [b, a], [1, 0] if n % 2 else [0, 1], id=f"{n}")
    for n, (a, b) in enumerate(BEATS * 8)
]
SMALL: dict[str, Any] = {"tokens": 300, "learning_rate": 0.02, "freeze_words": False, "precision": "fp32"}


def joint(**settings: Any) -> Joint:
    return Joint(
        **{"base": toys.bert(), "first": "length", "max_length": 16, "epochs": 30, **SMALL, **settings}
    )


@pytest.mark.parametrize("mode", ["others", "pairwise"])
def test_it_learns_what_hangs_on_the_other_answers(mode: str) -> None:
    alone = CrossEncoder(base=toys.bert(), max_length=16, epochs=30, **SMALL).train(POOLS)
    assert demur.evaluate(alone, POOLS, ["P@1"]).measures["P@1"].mean < 0.7
    taught = joint(mode=mode, learning_rate=0.003, epochs=100).train(POOLS)
    assert demur.evaluate(taught, POOLS, ["P@1"]).measures["P@1"].mean > 0.95


def test_it_may_begin_from_a_cross_encoder_and_is_saved_with_its_first_ranker(tmp_path: Path) -> None:
    begun = CrossEncoder(base=toys.bert(), max_length=16, epochs=1, **SMALL).train(POOLS)
    first = tmp_path / "first"
    save(Ranker(model=toys.classifier()), first)
    trained = joint(epochs=1, first=str(first)).train(POOLS, start=begun)
    save(trained, tmp_path / "model")
    before = trained.score_pools(POOLS[:4])
    first.rename(tmp_path / "gone")  # the model has its own copy
    opened = demur.open(tmp_path / "model")
    after = opened.score_pools(POOLS[:4])
    assert all(np.allclose(a, b, atol=1e-6) for a, b in zip(before, after, strict=True))
    assert isinstance(opened, JointRanker)
    assert (opened.k, opened.mode) == (3, "others")


def test_the_others_are_those_that_the_first_ranker_likes() -> None:
    ranker = JointRanker(model=toys.classifier(), first="length", k=2)
    pool = Pool.of("quest?", ["one", "one two three", "one two", "one two three", "four five six seven"])
    assert ranker.others([pool]) == [[[4, 1], [4, 2], [4, 1], [4, 2], [1, 2]]]


def test_long_pools_are_cut_and_what_has_no_room_is_left_out() -> None:
    ranker = demur.open(toys.beside("joint"))
    long = "ship cape may " * 3000
    pool = Pool.of(long, [long, "may", "", long + " end"])
    scores = ranker.score_pools([pool])[0]
    assert np.isfinite(scores).all()


def test_a_network_of_two_kinds_of_texts_is_refused() -> None:
    ranker = JointRanker(model=toys.classifier(), first="length")
    with pytest.raises(UsageError, match="tells 2 kinds of texts apart, and joint needs 5"):
        ranker.score("quest?", ["one", "two"])


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"mode": "both"}, "mode="),
        ({"k": 0}, "k of 1"),
        ({"block": 4}, "blocks of 8"),
        ({"epochs": 0}, "epochs"),
    ],
)
def test_settings_that_make_no_sense(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        joint(**settings)


def test_it_cannot_start_from_another_kind() -> None:
    with pytest.raises(UsageError, match="cannot start from bm25"):
        joint().train(POOLS, start=demur.ranker("bm25"))


@pytest.mark.parametrize("trainer", ["joint", "debiased", "group-dro"])
def test_no_checkpoint_is_taken_where_answers_that_were_not_sampled_differ(
    trainer: str, tmp_path: Path
) -> None:
    settings: dict[str, Any] = {"base": toys.bert(), "epochs": 1, "negatives": 1, **SMALL}
    by = training.trainer(trainer, **settings)
    for last in ("nothing", "something else"):
        pools = [
            Pool.of("quest?", ["may", "cape", "the ship", last], [1, 0, 0, None], id=f"{n}") for n in "ab"
        ]
        by.train(pools, checkpoints=tmp_path)
    assert len(list(tmp_path.glob("*.safetensors"))) == 2


def test_pools_of_two_files_may_have_the_same_ids() -> None:
    one, other = [
        Pool.of("quest?", answers, [1, 0, 0, 0], id="1")
        for answers in (["may", "cape", "the ship", "quest"], ["the ship", "may", "quest", "cape"])
    ]
    renamed = [one, Pool("2", other.question, other.candidates)]
    by = joint(epochs=1, k=1, negatives=3)
    same, apart = (by.train(pools).score_pools(POOLS[:3]) for pools in ([one, other], renamed))
    assert all(np.array_equal(a, b) for a, b in zip(same, apart, strict=True))


def test_of_answers_that_the_first_ranker_likes_alike_the_pools_order_chooses_none() -> None:
    ranker = JointRanker(model=toys.classifier(), first="overlap", k=1)
    texts = ["delta", "alpha", "charlie", "bravo"]
    for order in (texts, texts[::-1], sorted(texts)):
        (near,) = ranker.others([Pool.of("quest?", order)])
        assert {order[n]: order[places[0]] for n, places in enumerate(near)} == {
            **dict.fromkeys(texts, "alpha"),
            "alpha": "bravo",
        }
