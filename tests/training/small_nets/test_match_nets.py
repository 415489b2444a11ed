"""Nets that match words learn, start again, are kept, and never see a right answer as a wrong one."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import demur
from demur.errors import DataError, UsageError
from demur.evaluation import evaluate
from demur.rankers.match_nets.match_nets import Match, score_together
from demur.rankers.opening import save
from demur.specs import parse
from demur.training import trainer
from demur.training.small_nets.match_nets import MatchTrainer
from demur.training.small_nets.negatives import Negatives
from demur.types import Candidate, Pool
from laws import toys
from training import made

TRAIN, DEV, TEST = made.pools(60), made.pools(12, seed=1), made.pools(30, seed=2)
NAMES = toys.MATCHING
VECTORS = str(parse(made.words()).settings["vectors"])
FAST: dict[str, Any] = {"question_words": 12, "answer_words": 12, "buckets": 20, "early": "", "batch": 16}
SIZES: dict[str, dict[str, Any]] = {
    "match-pyramid": {"epochs": 12, "learning_rate": 0.01},
    "deep-matching": {"epochs": 20, "hidden": 10, "dropout": 0.0, "filters": 4, "learning_rate": 0.01},
    "hyperqa": {"epochs": 12, "hidden": 30, "learning_rate": 0.01},
    "comp-agg": {"epochs": 8, "hidden": 12, "filters": 8, "dropout": 0.0, "learning_rate": 0.01},
    "re2": {"epochs": 8, "hidden": 12, "dropout": 0.0, "learning_rate": 0.01},
    "cnn": {"epochs": 12, "filters": 20, "learning_rate": 0.01},
    "drcn": {"epochs": 8, "hidden": 8, "small": 12, "dense": 20, "dropout": 0.0, "learning_rate": 0.01},
    "acnn": {"epochs": 12, "filters": 12, "dropout": 0.0, "learning_rate": 0.01},
    "adaqa": {"epochs": 12, "filters": 12, "dropout": 0.0, "learning_rate": 0.01},
    "anmm": {"epochs": 12, "bins": 80, "learning_rate": 0.05},
    "multihop": {"epochs": 12, "hidden": 12, "dropout": 0.0, "learning_rate": 0.01},
}


def built(name: str, **settings: Any) -> MatchTrainer:
    found = trainer(name, **{"vectors": VECTORS, **FAST, **SIZES[name], **settings})
    assert isinstance(found, MatchTrainer)
    return found


def value(ranker: demur.rankers.Ranker) -> float:
    return evaluate(ranker, TEST, "MAP").measures["MAP"].mean


@pytest.mark.parametrize("name", NAMES)
def test_they_learn(name: str, tmp_path: Path) -> None:
    state = torch.get_rng_state()
    trained = built(name).train(TRAIN)
    assert value(trained) > 0.85
    assert torch.equal(torch.get_rng_state(), state), "the caller's random numbers are left alone"
    save(trained, tmp_path / "model")
    again = demur.open(tmp_path / "model")
    assert again.fingerprint == trained.fingerprint
    assert [a.tolist() for a in again.score_pools(TEST)] == [a.tolist() for a in trained.score_pools(TEST)]
    save(again, tmp_path / "other")
    assert (tmp_path / "other" / "vectors.safetensors").stat().st_nlink > 1, "they lie on the disk once"
    assert demur.open(tmp_path / "other").fingerprint == trained.fingerprint


def test_a_cnn_learns_by_a_judge_too() -> None:
    trained = built("cnn", loss="dan", hidden=10, epochs=12).train(TRAIN)
    assert value(trained) > 0.85
    with pytest.raises(UsageError, match="loss='rank' is not known; use hinge or dan"):
        built("cnn", loss="rank")


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_net_and_another_another(name: str) -> None:
    wanted = built(name, epochs=1)
    first = wanted.train(TRAIN).fingerprint
    torch.manual_seed(99)
    assert wanted.train(TRAIN).fingerprint == first
    assert dataclasses.replace(wanted, seed=1).train(TRAIN).fingerprint != first


def test_the_best_epoch_on_dev_wins_and_a_start_is_gone_on_from() -> None:
    said: list[dict[str, Any]] = []
    wanted = built("match-pyramid", early="RR", epochs=4)
    trained = wanted.train(TRAIN, DEV, report=said.append)
    dev = [facts["dev"] for facts in said if "dev" in facts]
    found = evaluate(trained, DEV, "RR").measures["RR"].mean
    assert len(dev) == 4 and found == pytest.approx(max(dev))
    more = built("match-pyramid", epochs=1, learning_rate=1e-6).train(TRAIN, start=trained)
    pairs = zip(more.score_pools(TEST), trained.score_pools(TEST), strict=True)
    assert all(np.allclose(one, other, atol=0.01) for one, other in pairs)
    with pytest.raises(UsageError, match="cannot start from"):
        built("multihop").train(TRAIN, start=trained)


def test_vectors_stay_unless_they_are_tuned(tmp_path: Path) -> None:
    still = built("match-pyramid", epochs=1).train(TRAIN)
    tuned = built("match-pyramid", epochs=1, tuned=True).train(TRAIN)
    assert tuned.trained.words.fingerprint != still.trained.words.fingerprint
    save(tuned, tmp_path / "tuned")
    assert demur.open(tmp_path / "tuned").fingerprint == tuned.fingerprint


def test_an_encoder_may_give_words_their_vectors(tmp_path: Path) -> None:
    contextual = f'encoder(model="{toys.bert()}")'
    trained = built("match-pyramid", vectors=contextual, epochs=1).train(TRAIN)
    save(trained, tmp_path / "model")
    pools = TEST[:3]
    for one, other in zip(
        demur.open(tmp_path / "model").score_pools(pools), trained.score_pools(pools), strict=True
    ):
        assert np.allclose(one, other, atol=1e-4)
    with pytest.raises(UsageError, match="not tuned"):
        built("match-pyramid", vectors=contextual, tuned=True)


def test_words_that_nobody_has_a_vector_for_still_match() -> None:
    trained = built("match-pyramid", buckets=500).train(TRAIN)
    words = trained.trained.words
    read = words.read(["zorblax eats", "daily zorblax", "daily quuxly"])
    assert read.numbers[0] == read.numbers[3] != read.numbers[5]
    assert 0 < read.numbers[0] <= 500 < read.numbers[1]


def test_several_nets_are_scored_in_one_pass() -> None:
    nets: list[Match] = [built("match-pyramid", epochs=1, seed=seed).train(TRAIN) for seed in range(3)]
    together = score_together(nets, TEST)
    for net, scores in zip(nets, together, strict=True):
        assert [a.tolist() for a in net.score_pools(TEST)] == [a.tolist() for a in scores]


def test_no_right_answer_is_ever_drawn_as_a_wrong_one() -> None:
    pools = [
        Pool.of("who?", ["ann", "bob", "cat"], [1, 0, 1], id="a"),
        Pool.of("who?", ["ann", "dan", "eve"], [0, 1, None], id="b"),
        Pool.of("when?", ["may", "june"], [1, 0], id="c"),
        Pool.of("why?", ["rain"], [0], id="d"),
    ]
    negatives, draws = Negatives.of(pools), np.random.default_rng(0)
    for example in range(len(negatives)):
        question = negatives.texts[negatives.questions[example]]
        for own in (True, False):
            found = {negatives.texts[n] for n in negatives.drawn(example, 20, draws, own)}
            never = {"ann", "cat", "dan", "eve"} if question == "who?" else {"may"}  # eve may be right
            everything = {"ann", "bob", "cat", "dan", "eve", "may", "june", "rain"}
            assert found == everything - never
    assert {negatives.texts[n] for n in negatives.drawn(0, 1, draws)} == {"bob"}, "its own pool's come first"


def test_data_that_teach_nothing_are_one_clear_line() -> None:
    with pytest.raises(DataError, match="no question has both"):
        built("multihop").train([Pool("a", "who?", (Candidate("x", "ann", 0),))])
    with pytest.raises(UsageError, match="1 or more"):
        built("multihop", negatives=0)
    with pytest.raises(UsageError, match="has learnt nothing yet"):
        demur.ranker("multihop")


@pytest.mark.parametrize(
    ("name", "settings", "why"),
    [
        ("match-pyramid", {"filters": 0}, "filters=0 must be 1 or more"),
        ("match-pyramid", {"rows": -1}, "rows=-1 must be 1 or more"),
        ("deep-matching", {"question_words": 3}, "5 question_words and answer_words or more"),
        ("deep-matching", {"dropout": 1.5}, "dropout=1.5 must be a share below 1"),
        ("deep-matching", {"hidden": 0}, "hidden=0 must be 1 or more"),
        ("multihop", {"dropout": -1.0}, "dropout=-1 must be a share below 1"),
        ("multihop", {"hops": 0}, "hops=0 must be 1 or more"),
        ("adaqa", {"code": 1}, "code=1 must be 2 or more"),
    ],
)
def test_settings_of_which_no_net_can_be_made_are_one_line(
    name: str, settings: dict[str, Any], why: str
) -> None:
    with pytest.raises(UsageError, match=why):
        built(name, **settings)


def test_the_smallest_deep_matching_net_learns() -> None:
    built("deep-matching", question_words=5, answer_words=5, epochs=1).train(TRAIN)
