from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from demur.advice import labelling, methods
from demur.advice.labelling import covering, suggest, weights
from demur.rankers import Ranker, ranker
from demur.types import Candidate, Pool


@pytest.fixture(autouse=True)
def without_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labelling, "installed", lambda extra: False)
    monkeypatch.setattr(methods, "installed", lambda extra: False)


def unlabelled(*rows: tuple[str, list[str]]) -> list[Pool]:
    return [Pool.of(question, answers, id=f"{n}") for n, (question, answers) in enumerate(rows)]


POOLS = unlabelled(
    ("red boat harbour?", ["the red boat is in the harbour", "nothing", "other"]),
    ("red boat harbour now?", ["the red boat is in the harbour now", "nothing", "else"]),
    ("green train station?", ["train", "station", "green"]),
    ("who baked bread?", ["none of it", "neither", "no"]),
)


def test_groups_are_covered_before_one_is_asked_about_twice() -> None:
    draws = np.random.default_rng(0)
    centres = np.eye(6)
    rows = np.repeat(centres, 5, axis=0) + draws.normal(scale=0.01, size=(30, 6))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    assert sorted(place // 5 for place in covering(rows, np.ones(30), 6)) == list(range(6))
    heavy = np.repeat([1.0, 9, 1, 1, 1, 1], 5)
    assert covering(rows, heavy, 1)[0] // 5 == 1


def test_what_is_labelled_is_covered() -> None:
    asked = ("red boat harbour?", "the red boat, harbour?", "red boat in harbour?", "a red boat harbour?")
    labelled = [Pool.of("red boat, harbour?", ["the boat", "no"], [1, 0], id="l")]
    bare = unlabelled(
        *((question, ["the red boat", "nothing"]) for question in asked),
        ("green train station?", ["a train", "nothing"]),
    )
    assert suggest([*labelled, *bare], 1)[0].question == "green train station?"
    assert suggest(bare, 1)[0].question != "green train station?"


def test_greedy_covers_no_less_than_any_other_first_choice() -> None:
    draws = np.random.default_rng(1)
    rows = draws.normal(size=(20, 4))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    heavy = draws.random(20)
    alike = np.maximum(rows @ rows.T, 0)
    best = int(np.argmax(alike @ heavy))
    taken = covering(rows, heavy, 5)
    assert taken[0] == best and len(set(taken)) == 5
    assert len(covering(rows, heavy, 50)) == 20


def test_a_close_race_and_disagreement_make_unsure() -> None:
    doubts, chances = weights(POOLS)
    assert doubts[2] > doubts[0]  # three candidates with one word each
    assert chances[3] == min(chances)  # no word of the question stands anywhere
    assert ((doubts >= 0) & (doubts <= 1) & (chances >= 0) & (chances <= 1)).all()


def test_what_is_suggested() -> None:
    found = suggest(POOLS, 2)
    assert len(found) == 2 and found[0].id in "012"
    assert {each.id for each in found} != {"0", "1"}, "two of a kind"
    assert [each.id for each in suggest(POOLS[::-1], 2)] == [each.id for each in found]


def test_labelled_and_lone_and_repeated_ones_are_not_asked_about() -> None:
    known = dataclasses.replace(POOLS[0], candidates=(Candidate("a", "x", 1), Candidate("b", "y")))
    lone = Pool.of("only one?", ["one"], id="lone")
    again = dataclasses.replace(POOLS[2], id="again")
    assert {each.id for each in suggest([known, lone, *POOLS[1:], again], 9)} == {"1", "2", "3"}
    assert suggest([known, lone], 3) == [] and suggest([], 3) == []


def test_disagreement_is_between_nothing_and_all() -> None:
    up, down = np.array([0.0, 1, 2]), np.array([2.0, 1, 0])
    assert labelling._disagreement([up, up]) == 0
    assert labelling._disagreement([up, down]) == 1
    assert labelling._disagreement([up, np.zeros(3)]) == 0


def test_the_last_ranker_is_the_encoder_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[list[str]] = [[each.name for each in labelling._rankers()]]
    monkeypatch.setattr(labelling, "installed", lambda extra: True)
    monkeypatch.setattr(
        labelling, "ranker", lambda spec: ranker("length") if spec == "encoder" else ranker(spec)
    )
    found: list[Ranker] = labelling._rankers()
    assert [*names, [each.name for each in found]] == [["bm25", "overlap"], ["bm25", "length"]]
