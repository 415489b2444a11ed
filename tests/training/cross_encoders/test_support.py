"""A ranker that asks other answers for support, and its training."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import demur
from demur.errors import DataError, UsageError
from demur.nets.transformers.support import NONE, largest
from demur.rankers.cross_encoders.cross_encoder import CrossEncoder as Ranker
from demur.rankers.cross_encoders.support import Support as SupportRanker
from demur.rankers.opening import save
from demur.training import trainer
from demur.training.cross_encoders.cross_encoder import CrossEncoder
from demur.training.cross_encoders.support import Groups, Support
from demur.training.objectives.base import ScoredPairs
from demur.training.objectives.pool_losses import Loss
from demur.training.objectives.support import CLASSES, UNKNOWN, Supporting, class_of
from demur.types import Pool
from laws import toys

BEATS = [("the ship", "may"), ("may", "cape"), ("cape", "the ship")]  # so none is right by itself
POOLS = [
    Pool.of("quest?", [a, b] if n % 2 else [b, a], [1, 0] if n % 2 else [0, 1], id=f"{n}")
    for n, (a, b) in enumerate(BEATS * 8)
]
SEVERAL = [
    Pool.of(
        f"quest{n}?", ["the ship", f"sailed {n}", "cape", "nothing", "may"], [0, 0, 1, None, 1], id=f"{n}"
    )
    for n in range(6)
]
SMALL: dict[str, Any] = {"tokens": 300, "learning_rate": 0.02, "freeze_words": False, "precision": "fp32"}


def support(**settings: Any) -> Support:
    made = {"base": toys.bert(), "first": "length", "max_length": 16, "epochs": 2, **SMALL, **settings}
    return Support(**made)


def still(folder: Path) -> str:
    """The toys' BERT without dropout."""
    made = Path(shutil.copytree(toys.bert(), folder / "still"))
    config = json.loads((made / "config.json").read_text("utf-8"))
    none = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (made / "config.json").write_text(json.dumps(config | none), "utf-8")
    return str(made)


def groups(by: Support, pools: list[Pool]) -> tuple[SupportRanker, torch.nn.Module, Groups]:
    begun = by._begun(None)
    assert isinstance(begun, SupportRanker)
    network, tokenizer = begun.fresh()
    taught = by._taught(pools, None, None, lambda facts: None)
    made = by._tokens(begun, network, tokenizer, pools, taught)
    return begun.holding(network, tokenizer), network.eval(), made


@pytest.mark.parametrize("by", ["question", "pair"])
def test_it_learns_what_hangs_on_the_other_answers(by: str, tmp_path: Path) -> None:
    base = still(tmp_path)
    alone = CrossEncoder(base=base, max_length=16, epochs=30, **SMALL).train(POOLS)
    assert demur.evaluate(alone, POOLS, ["P@1"]).measures["P@1"].mean < 0.7
    taught = support(base=base, by=by, learning_rate=0.003, epochs=60, accumulate=1).train(POOLS)
    assert demur.evaluate(taught, POOLS, ["P@1"]).measures["P@1"].mean > 0.95


def test_an_answer_and_a_support_are_of_four_classes() -> None:
    known = {(True, True): 0, (True, False): 1, (False, True): 2, (False, False): 3}
    assert {pair: class_of(*pair) for pair in known} == known
    assert [CLASSES[n] for n in known.values()] == [
        *("both right", "the answer alone", "the support alone", "neither")
    ]
    assert class_of(True, None) == class_of(False, None) == UNKNOWN


def test_each_row_is_of_its_class_and_the_unlabelled_are_of_none() -> None:
    made = groups(support(), SEVERAL[:1])[2]
    # by length: sailed 0, the ship, nothing, cape, may; of the taught: cape, may, the ship, sailed 0
    assert made.first.tolist() == [0, 5, 10, 15, 20]
    assert made.classes.reshape(4, 5)[:, 0].tolist() == [UNKNOWN] * 4, "of each answer alone"
    assert made.classes.reshape(4, 5)[:, 1:].tolist() == [
        [1, 1, UNKNOWN, 0],  # cape beside sailed 0, the ship, nothing, may
        [1, 1, UNKNOWN, 0],
        [3, UNKNOWN, 2, 2],  # the ship beside sailed 0, nothing, cape, may
        [3, UNKNOWN, 2, 2],
    ]


def test_the_loss_of_classes_moves_their_head_and_by_its_weight() -> None:
    first, classes = torch.tensor([0, 3, 5]), torch.tensor([UNKNOWN, 1, UNKNOWN, UNKNOWN, 2])
    features = torch.randn(5, 6, generator=torch.Generator().manual_seed(0))
    seen = ScoredPairs(torch.zeros(2), torch.tensor([True, False]), [2], torch.arange(2), features)
    losses = {}
    for weight in (0.0, 1.0, 2.0):
        torch.manual_seed(0)
        made = Supporting(Loss(), 6, first, classes, weight)
        value = made(seen)
        (gradient,) = torch.autograd.grad(value, made.classifier.weight)
        assert bool(gradient.any()) == bool(weight)
        losses[weight] = value.item()
    said = made.classifier(features[[2, 4]])  # the rows alone come first
    by_hand = torch.nn.functional.cross_entropy(said, torch.tensor([1, 2]))
    assert losses[1] - losses[0] == pytest.approx(by_hand.item(), rel=1e-5)
    assert losses[2] - losses[0] == pytest.approx(2 * by_hand.item(), rel=1e-5)
    nothing = Supporting(Loss(), 6, first, torch.full((5,), UNKNOWN))
    assert nothing(seen).item() == pytest.approx(losses[0], rel=1e-6)


def test_the_classes_are_learnt(tmp_path: Path) -> None:
    told: list[dict[str, Any]] = []
    by = support(base=still(tmp_path), epochs=24, learning_rate=0.005, accumulate=1)
    by.train(SEVERAL, report=told.append)
    losses = [facts["loss"] for facts in told if "epoch" in facts]
    assert losses[0] > np.log(4) > 0.5 > losses[-1], "at first they are a guess among four"


def test_the_order_of_supports_changes_nothing_and_none_are_zeros() -> None:
    features = torch.randn(6, 4, generator=torch.Generator().manual_seed(1))
    places = torch.tensor([[0, 3, 5], [2, NONE, NONE], [NONE, NONE, NONE]])
    found = largest(features, places)
    assert torch.equal(found, largest(features, places.flip(1)))
    assert torch.equal(found[0], features[[0, 3, 5]].amax(0)) and torch.equal(found[1], features[2])
    assert not found[2].any()


def test_a_score_does_not_depend_on_the_order_of_the_supports(monkeypatch: pytest.MonkeyPatch) -> None:
    ranker = demur.open(toys.beside("support"))
    assert isinstance(ranker, SupportRanker)
    near = ranker.others(SEVERAL)
    before = ranker.score_pools(SEVERAL)
    turned = [[places[::-1] for places in of_pool] for of_pool in near]
    monkeypatch.setattr(SupportRanker, "others", lambda self, pools: turned)
    after = ranker.score_pools(SEVERAL)
    assert turned != near and all(np.allclose(a, b, atol=1e-6) for a, b in zip(before, after, strict=True))
    monkeypatch.setattr(SupportRanker, "others", lambda self, pools: [[[]] * len(pool) for pool in pools])
    assert not np.allclose(before[0], ranker.score_pools(SEVERAL)[0], atol=1e-3), "but on which they are"


@pytest.mark.parametrize("pad", [1, 8])
def test_what_is_learnt_from_is_what_is_scored_whatever_stands_beside_it(pad: int) -> None:
    ranker, network, made = groups(support(negatives=9, k=2), [SEVERAL[0], POOLS[0], *SEVERAL[1:]])
    torch.nn.init.constant_(getattr(network, "support").weight, 0.5)  # noqa: B009  # a module's
    taught = [SEVERAL[0].answers[n] for n in (2, 4, 0, 1)]  # those that are right come first
    wanted = dict(zip(SEVERAL[0].answers, ranker.score_pools(SEVERAL[:1])[0].tolist(), strict=True))
    for chosen in ([0, 1, 2, 3], [3, 0], [2, 5, 4, 9]):
        with torch.inference_mode():
            found = network(**made.batch(chosen, pad=pad)).logits[:, 0]
        for answer, score in zip(chosen, found.tolist(), strict=True):
            if answer < len(taught):
                assert score == pytest.approx(wanted[taught[answer]], abs=1e-5)


def test_padding_changes_nothing_that_is_learnt(tmp_path: Path) -> None:
    base = still(tmp_path)
    one, eight = (support(base=base, pad=pad).train(SEVERAL).score_pools(SEVERAL)[0] for pad in (1, 8))
    assert eight.tolist() == pytest.approx(one.tolist(), abs=1e-3)


def test_equal_answers_are_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A network rounds by place, on some processors, so equal answers would get scores that differ."""
    ranker = demur.open(toys.beside("support"))
    assert isinstance(ranker, SupportRanker)
    judged: list[int] = []
    asked = SupportRanker._judged

    def counting(self: SupportRanker, network: Any, pairs: Any, own: Any, supports: Any) -> Any:
        judged.append(len(own))
        return asked(self, network, pairs, own, supports)

    monkeypatch.setattr(SupportRanker, "_judged", counting)
    scores = ranker.score("quest?", ["the ship", "may", "the ship", "cape", "may"])
    assert judged == [3] and scores[0] == scores[2] and scores[1] == scores[4] and len(set(scores)) == 3


def test_by_pair_an_answer_chooses_its_own_supports() -> None:
    texts = ["ship cape", "may nothing", "cape round", "may sailed"]
    for by in ("question", "pair"):
        ranker = SupportRanker(model=toys.classifier(), first="overlap", k=1, by=by)
        for order in (texts, texts[::-1]):
            (near,) = ranker.others([Pool.of("quest?", order)])
            assert [order[near[order.index(text)][0]] for text in texts] == EXPECTED[by]


EXPECTED = {
    "question": ["cape round", "cape round", "may nothing", "cape round"],  # all alike, so by their letters
    "pair": ["cape round", "may sailed", "ship cape", "may nothing"],
}


def test_one_answer_alone_is_scored_as_a_cross_encoder_would() -> None:
    ranker = demur.open(toys.beside("support"))
    plain = Ranker(model=toys.beside("support"))
    for answers in (["the ship"], ["the ship", "the ship"]):  # an answer with its text is no support
        assert np.allclose(ranker.score("quest?", answers), plain.score("quest?", answers), atol=1e-6)
    two = ["the ship", "may"]
    assert not np.allclose(ranker.score("quest?", two), plain.score("quest?", two), atol=1e-3)
    assert ranker.score("quest?", []).tolist() == [] and ranker.score_pools([]) == []


def test_it_begins_as_the_cross_encoder_that_it_starts_from() -> None:
    begun = CrossEncoder(base=toys.bert(), max_length=16, epochs=1, **SMALL).train(POOLS)
    first = support()._begun(begun)
    network, tokenizer = first.fresh()  # knows one kind of text more
    pools = SEVERAL[:3]
    found = first.holding(network, tokenizer).score_pools(pools)
    assert all(np.allclose(a, b, atol=1e-5) for a, b in zip(found, begun.score_pools(pools), strict=True))
    again = support(epochs=1).train(POOLS, start=support(epochs=1).train(POOLS, start=begun))
    assert isinstance(again, SupportRanker)


def test_saved_and_opened_it_scores_the_same_and_keeps_its_first_ranker(tmp_path: Path) -> None:
    first = tmp_path / "first"
    save(Ranker(model=toys.classifier()), first)
    trained = support(first=str(first), by="pair", k=2).train(SEVERAL)
    save(trained, tmp_path / "model")
    before = trained.score_pools(SEVERAL[:3])
    first.rename(tmp_path / "gone")  # the model has its own copy
    opened = demur.open(tmp_path / "model")
    after = opened.score_pools(SEVERAL[:3])
    assert all(np.allclose(a, b, atol=1e-6) for a, b in zip(before, after, strict=True))
    assert isinstance(opened, SupportRanker) and (opened.k, opened.by) == (2, "pair")
    prints = {dataclasses.replace(opened, **{name: value}).fingerprint for name, value in OTHERWISE}
    assert len({opened.fingerprint, *prints}) == 5
    (tmp_path / "model" / "support.safetensors").write_bytes(b"nothing")
    with pytest.raises(DataError, match=r"support\.safetensors"):
        demur.open(tmp_path / "model")


OTHERWISE: list[tuple[str, Any]] = [("k", 3), ("by", "question"), ("block", 32), ("max_length", 20)]


@pytest.mark.parametrize("by", ["question", "pair"])
def test_it_ends_the_same_after_a_kill(by: str, tmp_path: Path) -> None:
    def killed(facts: dict[str, Any]) -> None:
        if facts.get("epoch") == 2:
            raise KeyboardInterrupt

    taught = support(by=by, epochs=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("demur.training.loop.fitting.Schedule.minutes", 0)
        with pytest.raises(KeyboardInterrupt):
            taught.train(SEVERAL, checkpoints=tmp_path, report=killed)
        resumed = taught.train(SEVERAL, checkpoints=tmp_path)
    assert resumed.fingerprint == taught.train(SEVERAL).fingerprint


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("by=answer", "by='answer' is not known; use by=question or by=pair"),
        ("k=0", "support needs k of 1"),
        ("block=4", "blocks of 8"),
        ("weight=-1", "weight=-1 must not be below 0"),
        ("epochs=0", "epochs"),
    ],
)
def test_settings_that_make_no_sense(settings: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        trainer(f"support({settings})")


def test_what_it_cannot_start_from_or_be_made_of_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot start from bm25"):
        support().train(POOLS, start=demur.ranker("bm25"))
    ranker = SupportRanker(model=toys.classifier(), first="length")
    with pytest.raises(UsageError, match="tells 2 kinds of texts apart, and support needs 3"):
        ranker.score("quest?", ["one", "two"])


def test_answers_that_are_cut_are_counted_once() -> None:
    long = [Pool.of("quest?", [f"may {'cape ' * 20}{n}" for n in range(3)], [1, 0, 0], id="long")]
    made = groups(support(k=2), long)[2]
    assert made.cut == len(made.lengths) == 3
