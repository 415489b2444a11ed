from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from demur.embedders import embedder
from demur.errors import DataError, UsageError
from demur.evaluation import evaluate
from demur.rankers import ranker
from demur.rankers.vectors import network
from demur.training import trainer
from demur.training.small_nets import loop as small_loop
from demur.training.small_nets import vector_nets
from demur.training.small_nets.dev_measures import Entropy, Margins, Ranking
from demur.training.small_nets.examples import Labelled, Pairs, Triplets, triplets
from demur.types import Candidate, Pool
from training import made

TRAIN, DEV, TEST = made.pools(60), made.pools(12, seed=1), made.pools(30, seed=2)
SPECS = [f"{name}(loss={loss})" for name in ("siamese", "concat") for loss in ("pointwise", "pairwise")]
FAST = {"learning_rate": 0.01, "margin": 0.3, "epochs": 12}


def built(spec: str, **settings: Any) -> vector_nets.Small:
    found = trainer(spec, **{"features": made.words(), **settings})
    assert isinstance(found, vector_nets.Small)
    return found


def weights(found: network.Network) -> dict[str, Any]:
    return {name: array.tolist() for name, array in found.learnt.weights.items()}


@pytest.mark.parametrize("spec", SPECS)
def test_they_learn(spec: str) -> None:
    trained = built(spec, **FAST).train(TRAIN, DEV)
    before = evaluate(ranker("average", vectors=made.words()[14:-1]), TEST, "MAP").measures["MAP"].mean
    assert evaluate(trained, TEST, "MAP").measures["MAP"].mean > max(0.9, before + 0.2)


@pytest.mark.parametrize("spec", SPECS)
def test_the_same_seed_gives_the_same_net_and_another_another(spec: str) -> None:
    wanted = built(spec, epochs=2)
    state = torch.get_rng_state()
    first = weights(wanted.train(TRAIN, DEV))
    torch.manual_seed(99)
    assert weights(wanted.train(TRAIN, DEV)) == first
    assert weights(dataclasses.replace(wanted, seed=1).train(TRAIN, DEV)) != first
    torch.set_rng_state(state)
    wanted.train(TRAIN[:4])
    assert torch.equal(torch.get_rng_state(), state), "the caller's random numbers are left alone"


def test_labels_that_nobody_gave_teach_nothing() -> None:
    more = [dataclasses.replace(p, candidates=(*p.candidates, Candidate("x", "likes hay"))) for p in TRAIN]
    more.append(Pool.of("hen eats", ["corn", "hay"]))
    wanted = built("siamese", epochs=2)
    assert weights(wanted.train(more, DEV)) == weights(wanted.train(TRAIN, DEV))


def test_triplets_are_all_right_with_all_wrong_of_a_pool() -> None:
    pools = [
        Pool.of("a", ["r", "w", "s", "v"], [1, 0, 2, 0]),
        Pool.of("b", ["x", "y"], [1, 1]),
        Pool.of("c", ["x", "y"], [0, 1]),
        Pool.of("d", ["x", "y"], [0, 0]),
    ]
    data = Labelled.of(pools, embedder(made.words()))
    right, wrong = triplets(data)
    assert sorted(zip(right.tolist(), wrong.tolist(), strict=True)) == [
        (0, 1),
        (0, 3),
        (2, 1),
        (2, 3),
        (7, 6),
    ]
    assert len(triplets(data, negatives=1)[0]) == 3
    few = [
        pair
        for seed in range(20)
        for pair in zip(*map(np.ndarray.tolist, triplets(data, 1, seed)), strict=True)
    ]
    assert set(few) == {(0, 1), (0, 3), (2, 1), (2, 3), (7, 6)}


def test_losses_are_what_the_paper_says() -> None:
    from demur.nets.small.siamese import Siamese

    data = Labelled.of(TRAIN[:5], embedder(made.words()))
    torch.manual_seed(0)  # others may draw a net that gives an answer nothing at all, whose loss is infinite
    net = Siamese(12)
    net.eval()
    scores = net(data.vectors[data.questions], data.vectors[data.answers]).detach().double().numpy()
    labels = data.labels
    expected = -np.mean(np.where(labels, np.log(scores), np.log(1 - scores)))
    everything = slice(None)
    assert Pairs(data).loss(net, everything).item() == pytest.approx(expected, rel=1e-5)
    assert Entropy(data)(net) == pytest.approx(expected, rel=1e-5)
    weighed = np.where(labels, len(labels) / 2 / labels.sum(), len(labels) / 2 / (1 - labels).sum())
    balanced = -np.mean(weighed * np.where(labels, np.log(scores), np.log(1 - scores)))
    assert Pairs(data, balance=True).loss(net, everything).item() == pytest.approx(balanced, rel=1e-5)
    right, wrong = triplets(data)
    missing = np.maximum(0, 0.2 - scores[right] + scores[wrong]).sum()
    assert Triplets(data, 0.2).loss(net, everything).item() == pytest.approx(missing, rel=1e-5)
    assert Margins(data, 0.2, batch=32)(net) == pytest.approx(missing / len(right) * 32, rel=1e-5)


def test_the_exam_by_ranking_is_map() -> None:
    trained = built("siamese", epochs=1).train(TRAIN)
    from demur.nets.small.siamese import Siamese

    net = Siamese(12)
    net.load_state_dict({name: torch.from_numpy(array) for name, array in trained.learnt.weights.items()})
    expected = evaluate(trained, DEV, "MAP").measures["MAP"].mean
    assert 1 - Ranking(Labelled.of(DEV, embedder(made.words())))(net) == pytest.approx(expected, abs=1e-9)


class Figures:
    """An dev_measure that gives these figures, one after the other."""

    def __init__(self, *figures: float) -> None:
        self.left = list(figures)

    def __call__(self, net: Any) -> float:
        return self.left.pop(0)


@pytest.mark.parametrize(
    ("figures", "usable", "epochs", "best"),
    [
        ([9, 5, 4, 3, 4, 4, 4, 4], True, 6, 3),  # three epochs without a gain end it
        (
            [9, 5, 4.5, 4.45, 4.42, 4.41, 4.4],
            True,
            5,
            5,
        ),  # gains that are too small do not count, but are taken
        ([1, 5, 4, 3, 3, 3, 3], True, 6, 0),  # never better than before
        ([1, 5, 4, 3, 3, 3, 3], False, 6, 3),  # as before was chance
        ([9, 8, 7, 6, 5, 4, 3, 2, 1], False, 7, 7),
    ],
)
def test_early_stopping_waits_and_takes_the_best(
    figures: list[float], usable: bool, epochs: int, best: int
) -> None:
    from demur.nets.small.siamese import Siamese

    data = Labelled.of(TRAIN[:4], embedder(made.words()))
    net, seen = Siamese(12), list[Any]()

    def told(facts: dict[str, Any]) -> None:
        seen.append({name: value.clone() for name, value in net.state_dict().items()})

    begun = {name: value.clone() for name, value in net.state_dict().items()}
    schedule = small_loop.Schedule(7, 8, 0.01, seed=0, patience=3, min_delta=0.1, usable=usable)
    dev_measure = Figures(*figures[1 - usable :])
    progress = small_loop.train_net(net, Pairs(data), dev_measure, schedule, None, told)
    assert (progress.epoch, progress.best) == (epochs, best)
    kept = [begun, *seen][best]
    assert all(torch.equal(value, kept[name]) for name, value in net.state_dict().items())


@pytest.mark.parametrize("early", ["loss", "none"])
def test_a_killed_run_ends_like_one_that_was_not(
    early: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(small_loop, "KEEP", 0.0)
    wanted = built("siamese(loss=pairwise)", epochs=6, early=early)
    whole = list[dict[str, Any]]()
    expected = wanted.train(TRAIN, DEV, report=whole.append)

    def killed(facts: dict[str, Any]) -> None:
        if facts["epoch"] == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        wanted.train(TRAIN, DEV, checkpoints=tmp_path, report=killed)
    assert len(list(tmp_path.glob("*.safetensors"))) == 1
    told = list[dict[str, Any]]()
    resumed = wanted.train(TRAIN, DEV, checkpoints=tmp_path, report=told.append)
    assert weights(resumed) == weights(expected)
    assert [line.get("resumed", False) for line in told] == [True] * 3 + [False] * 3
    assert [(line["epoch"], line["loss"]) for line in told] == [
        (line["epoch"], line["loss"]) for line in whole
    ]
    other = dataclasses.replace(wanted, seed=1)
    assert weights(other.train(TRAIN, DEV, checkpoints=tmp_path)) == weights(other.train(TRAIN, DEV))


def test_training_goes_on_from_a_ranker() -> None:
    first = built("siamese(loss=pairwise)", **FAST).train(TRAIN)
    wanted = built("siamese(loss=pairwise)", epochs=1, learning_rate=1e-9)
    again = wanted.train(TRAIN, start=first)
    for name, array in again.learnt.weights.items():
        assert np.allclose(array, first.learnt.weights[name], atol=1e-6)
    with pytest.raises(UsageError, match="a concat net cannot start from siamese"):
        built("concat").train(TRAIN, start=first)
    other = dataclasses.replace(wanted, features=made.words().replace(")", ", stopwords=keep)"))
    with pytest.raises(UsageError, match=r"learnt on words.*; name the same features"):
        other.train(TRAIN, start=first)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("siamese(loss=triplet)", "loss='triplet' is not known; use pointwise or pairwise"),
        ("siamese(early=P@1)", "early='P@1' is not known; use loss or MAP or none"),
        ("concat(init=zero)", "init='zero' is not known; use auto or glorot or identity"),
        ("concat(epochs=0)", "epochs, batch and patience must be 1 or more"),
        ("concat(dropout=1.0)", "dropout must be a share below 1"),
        ("concat(layers=2)", "trainer 'concat' has no setting 'layers'; it takes features, loss"),
    ],
)
def test_wrong_settings_are_one_line(spec: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        trainer(spec)


def test_labels_that_carry_nothing_are_one_line(caplog: pytest.LogCaptureFixture) -> None:
    right = [Pool.of("hen eats", ["corn", "daily corn"], [1, 1])]
    with pytest.raises(DataError, match="2 of 2 judged answers are right, and nothing can be learnt"):
        built("siamese").train(right)
    with pytest.raises(DataError, match="0 of 0 judged"):
        built("siamese").train([Pool.of("hen eats", ["corn"])])
    parted = [*right, Pool.of("fox eats", ["corn"], [0])]
    with pytest.raises(
        DataError, match="no question has both a right and a wrong answer; use loss=pointwise"
    ):
        built("siamese", loss="pairwise").train(parted)
    built("siamese", epochs=1).train(parted)
    told = list[dict[str, Any]]()
    built("siamese", loss="pairwise", epochs=2).train(TRAIN, right, report=told.append)
    assert "no early stopping: no question of the dev set has right and wrong answers" in caplog.text
    assert len(told) == 2 and "dev" not in told[0]


def test_a_rate_that_is_too_high_is_one_line() -> None:
    with pytest.raises(UsageError, match=r"diverged.*lower learning_rate"):
        built("concat", learning_rate=1e30, epochs=3).train(TRAIN)


def test_what_features_are_made_of_is_told() -> None:
    assert built("siamese").depends == embedder(made.words()).fingerprint
