"""Rows of an FAQ and other passages in one list."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from demur.asking import Library, Passage, Session, packaged
from demur.asking.meaning import ranker
from demur.asking.meaning.finding import find
from demur.asking.meaning.ranker import UNLIKELY
from demur.risk import Gate
from demur.types import Abstention

ROWS = [
    Passage("norway", "Yes, within five days.", question="Do you ship to Norway?"),
    Passage("pay", "By card or bank transfer.", question="How do I pay?"),
]
DESK = Passage("desk", "The support desk is staffed from 8 to 18.")
JAPAN = "Do you ship to Japan?"


@pytest.fixture(autouse=True)
def place(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEMUR_CACHE", str(tmp_path_factory.getbasetemp() / "mixed"))


def others(many: int) -> list[Passage]:
    return [Passage(str(n), f"Part {n} is cleaned with cloth {n}.") for n in range(many)]


def test_what_is_near_comes_before_what_is_unlike_though_it_lacks_a_name() -> None:
    ranking = Library([*ROWS, DESK, *others(3)]).search("meaning").find(JAPAN)
    assert ranking.candidates[0].id == "norway" and max(ranking.scores) < UNLIKELY
    assert list(ranking.scores) == sorted(ranking.scores, reverse=True)
    result = Session.open([*ROWS, DESK]).ask(JAPAN)
    assert isinstance(result, Abstention) and result.ranking.candidates[0].id == "norway"


def test_no_gate_that_comes_with_demur_answers_what_is_unlikely() -> None:
    gates = [Gate.load(path) for path in packaged.MEANING_GATES.glob("**/gate*.json")]
    assert len(gates) > 4
    assert all(gate.plain_threshold is None or gate.plain_threshold > UNLIKELY for gate in gates)


def test_a_row_that_lacks_a_name_is_kept_among_many_others() -> None:
    workshop = [Passage(str(n), f"Do not ship part {n} to the workshop.") for n in range(60)]
    found = find(Library([*ROWS, *workshop]), JAPAN, 50)
    assert 0 in found.places and found.chances.argmin() == found.places.tolist().index(0)


def test_what_is_likely_comes_first_whatever_its_kind() -> None:
    session = Session.open([*ROWS, DESK])
    for question, id in {
        "When is the support desk staffed?": "desk",
        "Do you ship to Norway?": "norway",
    }.items():
        assert session.search.find(question).candidates[0].id == id


@pytest.mark.parametrize("rows", [[], ROWS])
def test_a_code_that_all_passages_have_but_those_that_are_cut_off_is_no_error(rows: list[Passage]) -> None:
    named = [Passage(f"x{n}", f"The X200 part {n} is cleaned with cloth {n}.") for n in range(60)]
    library = Library([*named, DESK, *rows])
    found = find(library, "How do I clean the X200?", 50)
    assert found.named.all() and np.array_equal(found.with_the_named_first(found.chances), found.chances)
    assert len(library.search("meaning").find("How do I clean the X200?").scores) == 50


@pytest.mark.parametrize(("likeliest", "first"), [(0.9 * UNLIKELY, "norway"), (1.1 * UNLIKELY, "desk")])
def test_the_nearest_comes_first_only_where_nothing_is_likely(
    likeliest: float, first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = Library([*ROWS, DESK])
    found = find(library, JAPAN, 50)
    ids = [library.passage(place).id for place in found.places.tolist()]
    chances = np.array([{"norway": 0.001, "pay": 0.0, "desk": likeliest}[id] for id in ids])
    near = np.array([{"norway": 0.6, "pay": 0.0, "desk": likeliest}[id] for id in ids])
    monkeypatch.setattr(ranker, "find", lambda *given: replace(found, chances=chances, near=near))
    ranking = ranker.ByMeaning(library).find(JAPAN)
    assert ranking.candidates[0].id == first
    assert list(ranking.scores) == sorted(ranking.scores, reverse=True)
