"""Committees of seeds and of snapshots, by any trainer, and of mixed families."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import demur
from demur.errors import DemurError
from demur.evaluation import evaluate
from demur.rankers.ensembles.committee import Committee
from demur.rankers.opening import ranker, save
from demur.training import trainer
from demur.training.committees.ensemble import APART, Ensemble
from demur.training.committees.members import Members
from laws import toys
from training import made

TRAIN, DEV = made.pools(24), made.pools(12, seed=1)
NET = f'match-pyramid(vectors="{made.words().removeprefix("words(vectors=").removesuffix(")")}", epochs=1)'


def taught(report: Any = None, **settings: Any) -> demur.rankers.Ranker:
    said: list[dict[str, Any]] = []
    return Ensemble(**{"by": NET, **settings}).train(TRAIN, DEV, report=report or said.append)


def same(one: demur.rankers.Ranker, other: demur.rankers.Ranker) -> bool:
    return all((a == b).all() for a, b in zip(one.score_pools(DEV), other.score_pools(DEV), strict=True))


def test_seeds_are_what_the_trainer_makes_of_each() -> None:
    found = taught(count=2, seed=3)
    assert isinstance(found, Committee) and found.taken == [1, 2]
    for number, member in enumerate(found.members):
        assert same(member, trainer(NET, seed=3 + APART * number).train(TRAIN, DEV))
    figures = [next(iter(evaluate(each, DEV, "MAP").measures.values())).mean for each in found.members]
    assert found.figures == pytest.approx(figures)


def test_snapshots_go_on_from_each_other() -> None:
    log: list[dict[str, Any]] = []
    found = taught(log.append, of="snapshots", count=3)
    assert isinstance(found, Committee)
    first = trainer(NET, seed=0).train(TRAIN, DEV)
    assert same(found.members[0], first)
    assert same(found.members[1], trainer(NET, seed=APART).train(TRAIN, DEV, start=first))
    whole = [facts for facts in log if "member" not in facts]
    assert [facts["epoch"] for facts in whole] == [1, 2, 3]
    assert [facts["dev"] for facts in whole] == found.figures
    last = taught(of="snapshots", count=3, take="last")
    assert same(last, found.members[2])


def test_members_are_taken_and_saved(tmp_path: Path) -> None:
    every = taught(count=3, take="all")
    assert isinstance(every, Committee)
    best = Members("best", every=1).train(TRAIN, DEV, start=every)
    assert same(best, every.members[int(np.argmax(every.figures))])
    save(every, tmp_path / "model")
    assert same(demur.open(tmp_path / "model"), every)


def test_cross_encoders_vote_and_teach_a_student(tmp_path: Path) -> None:
    by = f'cross-encoder(base="{toys.bert()}", precision=fp32, max_length=32)'
    few = made.pools(6)
    found = Ensemble(by=by, of="snapshots", count=2).train(few, few)
    assert isinstance(found, Committee) and not same(*found.members)
    save(found, tmp_path / "voting")
    mixed = ranker(
        "committee", rankers=f"{tmp_path / 'voting'}; {toys.match('multihop')}; bm25", how="zscore"
    )
    assert all(np.isfinite(each).all() for each in mixed.prepare(few).score_pools(few))
    save(mixed, tmp_path / "mixed")
    again = demur.open(tmp_path / "mixed")
    assert [member.name for member in again.members] == ["committee", "multihop", "bm25"]  # type: ignore[attr-defined]
    student = trainer("distilled", teacher=str(tmp_path / "mixed"), base=toys.bert(), precision="fp32")
    assert student.train(few).name == "cross-encoder"


def test_what_nobody_could_take_is_said_at_once() -> None:
    by, few = f'cross-encoder(base="{toys.bert()}", precision=fp32, max_length=32)', made.pools(4)
    said: list[dict[str, Any]] = []
    for take in ("best", "greedy"):
        with pytest.raises(DemurError, match="dev set"):
            Ensemble(by=NET, take=take).train(few, report=said.append)
        with pytest.raises(DemurError, match="dev set"):
            Ensemble(by=NET, take=take).check(few)
    with pytest.raises(DemurError, match="weights with a mean"):
        Ensemble(by=by, take="average").train(few, report=said.append)
    assert not [facts for facts in said if "epochs" in facts and "loss" not in facts], "no member was done"


def test_what_it_hangs_on_is_what_its_members_hang_on() -> None:
    assert Ensemble(by=NET).depends == f"1 {trainer(NET).depends}"
    assert Ensemble(by=NET).sees(TRAIN[0]) == trainer(NET).sees(TRAIN[0])


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"of": "sheds"}, "sheds"),
        ({"count": 0}, "count must be 1 or more"),
        ({"take": "some"}, "some"),
        ({"measure": "nope"}, "nope"),
        ({"count": 2, "weights": "1, 2, 3"}, "2 members but 3 weights"),
        ({"by": "bidaf"}, "makes readers, and those do not vote on candidates"),
    ],
)
def test_mistakes_are_one_line(settings: dict[str, Any], why: str) -> None:
    with pytest.raises(DemurError, match=why) as found:
        Ensemble(**{"by": NET, **settings})
    assert "\n" not in str(found.value)
