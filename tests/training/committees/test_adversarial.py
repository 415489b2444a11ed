"""IRGAN: its gradient is the exact one, presets differ where they should, and the loop is an honest one."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
import torch

import demur
from demur.errors import DataError, UsageError
from demur.evaluation import evaluate
from demur.rankers.ensembles.committee import Committee
from demur.rankers.match_nets.match_nets import Match
from demur.rankers.opening import save
from demur.training import trainer
from demur.training.committees import adversarial_loop
from demur.training.committees.adversarial import ADVERSARIES, COLDEST, Adversarial
from demur.training.committees.irgan import chances, drawn, hinge, reinforce, reward
from demur.training.committees.irgan_rules import PRESETS
from demur.training.small_nets.negatives import Negatives
from demur.types import Pool
from training import made
from training.small_nets.test_match_nets import built

TRAIN, DEV = made.pools(24), made.pools(12, seed=1)
FAST: dict[str, Any] = {"pool": 8, "shown": 3, "epochs": 4, "batch": 12}


@pytest.fixture(scope="module")
def start() -> Match:
    return built("match-pyramid", epochs=2).train(TRAIN)


def taught(start: Match, said: list[dict[str, Any]] | None = None, **settings: Any) -> demur.rankers.Ranker:
    wanted = Adversarial(**{**FAST, "take": "all", **settings})
    facts: list[dict[str, Any]] = [] if said is None else said
    return wanted.train(TRAIN, DEV, start=start, report=facts.append)


# The gradient


def gradient(scores: torch.Tensor, gains: torch.Tensor, count: int, baseline: bool) -> torch.Tensor:
    """The mean gradient of many draws of `count` answers, with replacement."""
    torch.manual_seed(0)
    leaf = scores.clone().requires_grad_()
    pools = leaf.expand(100_000, -1)
    log_chances = chances(pools, torch.ones_like(pools, dtype=torch.bool), heat=0.7)
    places, shown = drawn(log_chances.detach(), count, again=True)
    loss = reinforce(log_chances.gather(1, places), gains[places], shown, baseline)
    loss.backward()  # type: ignore[no-untyped-call]
    assert leaf.grad is not None
    return leaf.grad


@pytest.mark.parametrize("baseline", [True, False])
def test_the_gradient_is_that_of_the_enumerated_expectation(baseline: bool) -> None:
    scores = torch.tensor([0.3, -0.2, 1.0, 0.1, -0.6])
    gains = torch.tensor([0.8, -0.4, 0.1, -0.9, 0.5])
    leaf = scores.clone().requires_grad_()
    expected = ((leaf / 0.7).softmax(0) * gains).sum()  # over all five
    (-expected).backward()  # type: ignore[no-untyped-call]
    assert leaf.grad is not None
    found = gradient(scores, gains, 5, baseline)
    assert torch.allclose(found, leaf.grad, atol=0.004)
    assert leaf.grad.abs().max() > 0.05, "so that the test could fail"


def test_a_constant_reward_teaches_nothing() -> None:
    scores, gains = torch.tensor([0.3, -0.2, 1.0, 0.1, -0.6]), torch.full((5,), 0.7)
    assert torch.allclose(gradient(scores, gains, 5, baseline=True), torch.zeros(5), atol=1e-7)
    assert torch.allclose(gradient(scores, gains, 5, baseline=False), torch.zeros(5), atol=0.004)


def test_two_temperatures_give_another_gradient() -> None:
    """As in the released code: what is drawn at one temperature is scored at another."""
    scores, gains = torch.tensor([[0.3, -0.2, 1.0, 0.1, -0.6]]), torch.tensor([0.8, -0.4, 0.1, -0.9, 0.5])
    there = torch.ones(1, 5, dtype=torch.bool)
    found = []
    for likelihood in (0.05, 1.0):
        leaf = scores.clone().requires_grad_()
        log_chance = chances(leaf, there, likelihood)
        expected = (chances(scores, there, 0.05).exp() * gains * log_chance).sum()
        expected.backward()  # type: ignore[no-untyped-call]
        assert leaf.grad is not None
        found.append(leaf.grad / leaf.grad.norm())
    assert (found[0] * found[1]).sum() < 0.99


def test_rewards_of_the_paper_are_clipped_and_those_of_the_code_signed() -> None:
    right, shown = torch.tensor([[1.0]]), torch.tensor([[0.0, 0.97, 1.5]])
    clipped, signed = (reward(right, shown, 0.05, kind) for kind in (False, True))
    assert clipped[0, 0] == 0 and signed[0, 0] < 0
    assert torch.equal(clipped[0, 1:], signed[0, 1:]) and (signed[0, 1:] > 0).all()
    assert clipped[0, 2].item() == pytest.approx(2 * (1 / (1 + 2.718281828 ** -(0.05 + 0.5)) - 0.5))


def test_none_is_drawn_twice_and_nothing_that_is_not_there() -> None:
    there = torch.tensor([[True, True, False, True], [True, False, False, False]])
    log_chances = chances(torch.randn(2, 4), there, 1.0)
    places, shown = drawn(log_chances, 3, again=False)
    assert sorted(places[0].tolist()) == [0, 1, 3] and shown[0].all()
    assert places[1, 0] == 0 and shown[1].tolist() == [True, False, False]
    again, _ = drawn(log_chances, 3, again=True)
    assert again[1].tolist() == [0, 0, 0] and 2 not in again[0].tolist()


def test_the_hinge_is_summed_or_a_mean() -> None:
    right, shown = torch.tensor([[1.0], [2.0]]), torch.tensor([[0.5, 1.2], [0.0, 9.0]])
    there = torch.tensor([[True, True], [True, False]])
    assert hinge(right, shown, there, 1.0, summed=True).item() == pytest.approx(0.5 + 1.2)
    assert hinge(right, shown, there, 1.0, summed=False).item() == pytest.approx((0.5 + 1.2) / 3)


def test_presets_are_those_of_the_specification() -> None:
    code, paper, fixed = (PRESETS[name] for name in ("code", "paper", "fixed"))
    assert code.signed and code.with_right and not (paper.signed or paper.with_right or fixed.with_right)
    assert code.likelihood != code.sampling and fixed.likelihood == fixed.sampling
    assert (code.baseline, paper.baseline, fixed.baseline) == (False, False, True)
    assert (code.margin, code.pool, code.seconds, code.second, code.summed) == (0.05, 100, 3, 1 / 30, True)
    assert (code.clip, code.discriminator_rate, code.generator_rate) == (1.0, 0.05, 0.005)


# The loop


@pytest.mark.parametrize("adversary", ADVERSARIES)
def test_every_adversary_plays_and_tells(adversary: str, start: Match) -> None:
    said: list[dict[str, Any]] = []
    state = torch.get_rng_state()
    found = taught(start, said, adversary=adversary)
    assert isinstance(found, Committee) and {0, 3, 4} <= set(found.taken)
    assert torch.equal(torch.get_rng_state(), state), "the caller's random numbers are left alone"
    assert [facts["epoch"] for facts in said] == [0, 1, 2, 3, 4] and all("dev" in facts for facts in said)
    names = {"loss", "hardness"} | ({"reward", "entropy"} if adversary == "irgan" else set())
    assert all(names <= set(facts) and 0 <= facts["hardness"] <= 1 for facts in said[1:])
    first = [scores.tolist() for scores in found.members[0].score_pools(DEV)]
    assert first == [scores.tolist() for scores in start.score_pools(DEV)], "epoch 0 is the start"
    dev = [evaluate(member, DEV, "MAP").measures["MAP"].mean for member in found.members]
    assert dev == pytest.approx(found.figures)


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_plays(preset: str, start: Match) -> None:
    said: list[dict[str, Any]] = []
    taught(start, said, preset=preset, epochs=2)
    if preset == "paper":
        assert all(facts["reward"] >= 0 for facts in said[1:])


def test_the_generator_learns_to_be_rewarded(start: Match) -> None:
    said: list[dict[str, Any]] = []
    taught(start, said, learning_rate=1e-12, generator_rate=0.02, epochs=8, shown=5)
    assert said[-1]["reward"] > said[1]["reward"] + 0.02
    assert said[-1]["entropy"] < said[1]["entropy"]


def test_strangers_come_in_the_place_of_the_questions_own(
    start: Match, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: set[bool] = set()
    drawn_before = Negatives.drawn

    def drawing(negatives: Any, example: int, size: int, draws: Any, own: bool = True) -> Any:
        asked.add(own)
        return drawn_before(negatives, example, size, draws, own)

    monkeypatch.setattr(Negatives, "drawn", drawing)
    taught(start, epochs=1)
    assert asked == {True}
    asked.clear()
    taught(start, epochs=1, strangers=True)
    assert asked == {False}


def test_mined_answers_are_harder_than_any(start: Match) -> None:
    hard = {}
    for adversary in ("mined", "none"):
        said: list[dict[str, Any]] = []
        taught(start, said, adversary=adversary, epochs=1, learning_rate=1e-12)
        hard[adversary] = said[-1]["hardness"]
    assert hard["mined"] > hard["none"]


def test_seeds_and_kills(start: Match, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = taught(start)
    assert taught(start).fingerprint == whole.fingerprint
    assert taught(start, seed=1).fingerprint != whole.fingerprint
    monkeypatch.setattr(adversarial_loop, "_KEEP", -1.0)
    wanted = Adversarial(**{**FAST, "take": "all"})

    class Killed(Exception):
        pass

    def report(facts: dict[str, Any]) -> None:
        if facts["epoch"] == 3:
            raise Killed

    with pytest.raises(Killed):
        wanted.train(TRAIN, DEV, start=start, checkpoints=tmp_path, report=report)
    other = dataclasses.replace(wanted, take="last")  # the same state, so it goes on from there
    said: list[dict[str, Any]] = []
    last = other.train(TRAIN, DEV, start=start, checkpoints=tmp_path, report=said.append)
    assert isinstance(whole, Committee) and last.fingerprint == whole.members[-1].fingerprint
    assert [facts["epoch"] for facts in said] == [0, 1, 2, 3, 4]
    assert wanted.train(TRAIN, DEV, start=start, checkpoints=tmp_path).fingerprint == whole.fingerprint


def test_what_is_taken_and_early_stopping(start: Match, tmp_path: Path) -> None:
    made_ = taught(start, take="committee")
    assert isinstance(made_, Committee) and made_.taken == [0, 3, 4]
    save(made_, tmp_path / "model")
    assert demur.open(tmp_path / "model").fingerprint == made_.fingerprint
    every = taught(start)
    assert isinstance(every, Committee)
    assert (
        taught(start, take="best").fingerprint
        == max(
            zip(every.figures, [-epoch for epoch in every.taken], every.members, strict=True),
            key=lambda each: each[:2],
        )[2].fingerprint
    )
    said: list[dict[str, Any]] = []
    taught(start, said, learning_rate=1e-12, patience=2, epochs=9)
    assert len(said) == 3, "nothing is gained, so two epochs are enough"


def test_tuned_vectors_and_vectors_in_context_play_too() -> None:
    tuned = built("match-pyramid", epochs=1, tuned=True).train(TRAIN)
    found = taught(tuned, epochs=2, every=1)
    assert isinstance(found, Committee)
    words = {m.trained.words.fingerprint for m in found.members if isinstance(m, Match)}
    assert len(words) == 3, "each member has vectors of its own"


@pytest.mark.parametrize("preset", PRESETS)
def test_a_question_without_any_wrong_answer_is_no_game(preset: str, start: Match) -> None:
    """The released code shows right answers too; of them alone nothing can be learnt."""
    lone = [Pool.of("goat eats", ["likes grass", "daily grass"], [1, 1])]
    for adversary in ADVERSARIES:
        with pytest.raises(DataError, match="no wrong answers"):
            Adversarial(**{**FAST, "adversary": adversary, "preset": preset}).train(lone, DEV, start=start)


@pytest.mark.parametrize("rate", ["learning_rate", "generator_rate"])
def test_nets_that_go_astray_are_one_line(rate: str, start: Match) -> None:
    with pytest.raises(UsageError, match=r"diverged.*lower learning_rate") as found:
        Adversarial(**{**FAST, rate: 1e30}).train(TRAIN, start=start)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("take", ["best", "greedy"])
def test_what_nobody_could_take_is_said_before_the_game(take: str, start: Match) -> None:
    said: list[dict[str, Any]] = []
    with pytest.raises(UsageError, match="dev set"):
        Adversarial(**{**FAST, "take": take}).train(TRAIN, start=start, report=said.append)
    tuned = built("match-pyramid", epochs=1, tuned=True).train(TRAIN[:4])
    with pytest.raises(UsageError, match="were tuned"):
        Adversarial(**{**FAST, "take": "average"}).train(TRAIN, DEV, start=tuned, report=said.append)
    for wanted in (Adversarial(**{**FAST, "take": take}), trainer("members", take="greedy")):
        with pytest.raises(UsageError, match="dev set"):
            wanted.check(TRAIN)  # before the stages that come first
        wanted.check(TRAIN, DEV)
    with pytest.raises(UsageError, match="or no early"):
        Adversarial(early="", take="best").check(TRAIN, DEV)
    with pytest.raises(UsageError, match="must be numbers"):
        Adversarial(weights="heavy")
    with pytest.raises(UsageError, match="3 members but 2 weights"):
        Adversarial(epochs=4, weights="1, 2")
    assert not said


def test_weights_by_hand_are_those_of_the_members_taken(start: Match) -> None:
    """Also where another epoch, the best, is kept beside them."""
    rates = iter([0.1, 0.9, 0.2, 0.3, 0.3])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("demur.training.committees.adversarial.on_dev", lambda *_: next(rates))
        found = taught(start, take="committee", weights="1, 2, 1")
    assert isinstance(found, Committee) and found.taken == [0, 3, 4]
    assert found.shares().tolist() == [0.25, 0.5, 0.25]


def test_mistakes_are_one_clear_line(start: Match) -> None:
    with pytest.raises(UsageError, match="show 2 or more"):
        trainer("adversarial(shown=1)")
    trainer("adversarial(shown=1, adversary=mined)")
    trainer("adversarial(shown=1, preset=paper)")
    with pytest.raises(UsageError, match="nothing to start from"):
        trainer("adversarial").train(TRAIN)
    with pytest.raises(UsageError, match="cannot start from bm25"):
        trainer("adversarial").train(TRAIN, start=demur.ranker("bm25"))
    with pytest.raises(demur.DemurError, match="unknown adversary"):
        trainer("adversarial(adversary=irgn)")
    with pytest.raises(UsageError, match=r"temperature of 1e-42.*take 1e-06 or more"):
        trainer("adversarial(temperature=1e-42)")
    Adversarial(**{**FAST, "temperature": COLDEST}).train(TRAIN, start=start)  # draws, and does not go astray
    assert PRESETS.keys() == {"fixed", "paper", "code"}
