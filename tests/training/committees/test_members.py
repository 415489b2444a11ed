"""What is taken of a committee: by this dev set, at these epochs, and after trainers that make one."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch

import demur
from demur.errors import Astray, UsageError
from demur.evaluation import evaluate
from demur.rankers.ensembles.committee import Committee
from demur.training import SEEDS, Trainer, trainer
from demur.training.base import sound
from demur.training.committees.members import Members
from demur.training.dev_set import FALLING
from demur.training.recipes.search import Search
from demur.training.recipes.stages import Recipe, Stage, run
from demur.training.small_nets.vector_nets import Siamese
from laws import toys
from training import made

DEV = made.pools(12, seed=1)
NET = f'match-pyramid(vectors="{made.words().removeprefix("words(vectors=").removesuffix(")")}", epochs=1)'


def voting(epochs: tuple[int, ...] = (0, 3, 6), figures: tuple[float, ...] = ()) -> Committee:
    """Rankers that need no training, as a committee of several epochs."""
    rankers = [demur.ranker(spec) for spec in ("length", "overlap", "bm25", "random")][: len(epochs)]
    return Committee.of(rankers, weights="uniform", dev=figures, epochs=epochs)


# By which dev set


def test_a_dev_set_that_is_given_says_which_is_best() -> None:
    reached = [evaluate(each, DEV, "P@1").measures["P@1"].mean for each in voting().members]
    best = int(np.argmax(reached))
    wrong = [0.0 if place == best else 1.0 for place in range(3)]  # what another dev set had said
    start = voting(figures=(wrong[0], wrong[1], wrong[2]))
    taken = Members("best", measure="P@1").train((), DEV, start=start)
    assert taken.spec == start.members[best].spec
    assert Members("best").train((), start=start).spec == start.members[int(np.argmax(wrong))].spec
    weighed = Members(every=3, measure="P@1").train((), DEV, start=voting())
    assert isinstance(weighed, Committee) and weighed.figures == pytest.approx(reached)


@pytest.mark.parametrize("measure", sorted(FALLING))
def test_what_should_be_low_is_not_taken_for_the_best_where_high(measure: str) -> None:
    name = "Risk@0.5" if measure == "Risk" else measure
    for spec in (f"members(measure='{name}')", f"ensemble(by=siamese, measure='{name}')"):
        with pytest.raises(UsageError, match=r"the less the better.*; go by MAP"):
            trainer(spec)
    with pytest.raises(UsageError, match="the less the better"):
        trainer(f"adversarial(early='{name}')")
    with pytest.raises(UsageError, match=r"search.measure=.*the less the better"):
        Search({"epochs": [1, 2]}, measure=name)


# At which epochs


@pytest.mark.parametrize(
    ("epochs", "every", "kept"),
    [((0, 3, 5, 6), 3, [0, 3, 6]), ((1, 2, 3), 3, [1, 3]), ((1, 2, 3), 2, [1, 3]), ((0, 3, 4), 3, [0, 3, 4])],
)
def test_the_first_and_the_last_are_members(epochs: tuple[int, ...], every: int, kept: list[int]) -> None:
    taken = Members(every=every).train((), start=voting(epochs))
    assert isinstance(taken, Committee) and taken.taken == kept


def test_no_member_is_left_out_because_of_another_spacing() -> None:
    with pytest.raises(UsageError, match=r"epochs 0, 4, 8, 10, so none of 3, 6, 9; say every=4, or take=all"):
        Members(every=3).train((), start=voting((0, 4, 8, 10)))
    taken = Members(every=4).train((), start=voting((0, 4, 8, 10)))
    assert isinstance(taken, Committee) and taken.taken == [0, 4, 8, 10]


# After what


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        (("siamese", "adversarial"), "cannot start from siamese"),
        (("adversarial",), "nothing to start from; first train a matching net"),
        ((NET, "adversarial(take=all)", "adversarial"), r"cannot start from adversarial\("),
        (
            (NET, "adversarial(take=last)", "members"),
            r"taken of a committee.*adversarial.* makes",
        ),
        (("members",), "the first stage makes none"),
        (("ensemble(by=siamese, take=best)", "members"), "members are taken of a committee"),
        ((NET.replace("epochs", "tuned=true, epochs"), "adversarial(take=average)"), "each their own, so no"),
        ((NET, "adversarial(take=all, every=4)", "members"), "so none of 3, 6, 9; say every=4, or take=all"),
        ((NET, "ensemble(by=adversarial, of=snapshots)"), "cannot start from adversarial"),
        (("siamese", NET), "match-pyramid cannot start from what siamese makes"),
    ],
)
def test_stages_that_cannot_follow_are_told_before_the_first(
    stages: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("demur.training.recipes.stages.pools_of", lambda *_: made.pools(6))

    def trained(*_: object, **__: object) -> None:
        raise AssertionError("a stage was run")

    for kind in {type(trainer(spec)) for spec in stages}:
        monkeypatch.setattr(kind, "train", trained)
    recipe = Recipe("siamese", [Stage("these", "those", trainer=spec) for spec in stages])
    with pytest.raises(UsageError, match=message):
        run(recipe)


@pytest.mark.parametrize(
    "stages",
    [
        (NET, "adversarial(take=all)", "members(take=all)", "members(take=best)", "adversarial", "members"),
        (NET, "adversarial(take=average)", NET),
        ("siamese", "ensemble(by=siamese)", "members"),
        (f"confident(student='{NET}')", "adversarial"),
        (f"ensemble(by='{NET}', take=best)", "adversarial"),
        (f"confident(student='{NET}')", NET),
        ("confident(student='ensemble(by=siamese)')", "members"),
        (NET, "adversarial(take=all, every=4)", "members(every=4)", "members(every=3, take=best)"),
    ],
)
def test_stages_that_can_follow_are_let(stages: tuple[str, ...]) -> None:
    before: Trainer | None = None
    for by in map(trainer, stages):
        by.follows(before)
        before = by


def test_of_a_trainer_from_elsewhere_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("demur.training.recipes.stages.pools_of", lambda *_: made.pools(6))
    monkeypatch.setattr(Siamese, "__module__", "elsewhere.trainers")
    monkeypatch.setattr(Siamese, "train", lambda *_, **__: demur.open(toys.match("match-pyramid")))
    recipe = Recipe("siamese", [Stage("t", "d"), Stage("t", "d", trainer="adversarial(epochs=1)")])
    found, _ = run(recipe)
    assert isinstance(found, Committee)


# Numbers that are none


def test_settings_no_library_can_count_with_are_one_line() -> None:
    assert f"seed={SEEDS - 1}" in trainer("siamese", seed=SEEDS - 1).spec
    for wrong in (f"siamese(seed={SEEDS})", "match-pyramid(seed=999999999999999999)"):
        with pytest.raises(UsageError, match="must be 0 or more, and below 4294967296"):
            trainer(wrong)
    with pytest.raises(UsageError, match=r"generator_rate=1e\+39 must be above 0, and at most 1e\+30"):
        trainer("adversarial(generator_rate=1e39)")
    with pytest.raises(UsageError, match="the right answer is one of the pool, so with pool=1 it is all"):
        trainer("adversarial(preset=code, pool=1)")


def test_a_last_step_that_ruins_a_net_is_told() -> None:
    sound([torch.ones(3), torch.zeros(2, 2)])
    with pytest.raises(Astray, match="one of its weights is not a finite number"):
        sound([torch.ones(3), torch.tensor([1.0, torch.nan])])
    ruinous = {"weight_decay": 1e36, "learning_rate": 1000.0, "batch": 1000}
    with pytest.raises(Astray, match="one of its weights"):
        trainer(NET, **ruinous).train(made.pools(6))
    start = demur.open(toys.match("match-pyramid"))
    with pytest.raises(Astray, match="its loss is not"):
        trainer("adversarial(margin=1e300, epochs=1, take=last)").train(made.pools(6), start=start)


def test_a_game_whose_last_step_ruins_the_net_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def ruin(optimiser: torch.optim.Adam) -> None:
        for weight in optimiser.param_groups[0]["params"]:
            weight.data.fill_(torch.nan)

    monkeypatch.setattr(torch.optim.Adam, "step", ruin)
    playing = trainer("adversarial(adversary=none, epochs=1, batch=1000, take=last)")
    with pytest.raises(Astray, match="one of its weights"):
        playing.train(made.pools(6), start=demur.open(toys.match("match-pyramid")))


def test_none_is_no_early_stopping_for_any_net() -> None:
    pools = made.pools(8)
    by, none = trainer(NET), trainer(NET, early="none")
    assert none.train(pools, DEV).fingerprint == by.train(pools).fingerprint
    for name in ("cross-encoder", "span-reader", "bidaf", "multihop", "adversarial"):
        assert "early=none" in trainer(name, early="none").spec


def test_trainers_are_built_without_torch() -> None:
    said = "import sys; sys.modules['torch'] = None; from demur.training import trainer; "
    for name in ("adversarial", "adversarial(shown=2, preset=paper)", "members", "ensemble", "match-pyramid"):
        said += f"trainer('{name}'); "
    subprocess.run([sys.executable, "-c", said], check=True)
