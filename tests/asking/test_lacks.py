"""Near misses: what a question has that the likeliest row of an FAQ lacks makes that row less likely."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from asking import faq
from demur.asking import Library, Passage
from demur.asking.meaning import chance
from demur.asking.meaning.finding import find
from demur.asking.meaning.lacks import LACKS, Row, lacks, names, without
from demur.asking.meaning.ranker import by_meaning
from demur.embedders.base import Vectors
from demur.types import FloatArray

SOME = {
    "Do you ship to Switzerland?": "Yes, parcels take a week.",
    "How do I reset my password?": "Click on 'Forgot password' and follow the mail.",
    "What does a licence for 5 computers cost?": "Forty pounds a year.",
}


@pytest.fixture(autouse=True)
def place(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path_factory.getbasetemp() / "meanings"
    monkeypatch.setenv("DEMUR_CACHE", str(folder))
    yield folder


def rows() -> list[Passage]:
    mine = [Passage(asks, answer, heading=asks, question=asks) for asks, answer in SOME.items()]
    return [*mine, *faq.rows()[:20]]


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("Do you ship to Brazil?", ["brazil"]),
        ("Brazil?", []),
        ("Thank you. Where can I stay?", []),
        ("Does it run on my iPhone 12, and on EVs?", ["iphone", "12", "evs"]),
        ("What The Second Floor Of Our House Has To Offer", []),
        ("IS THE DESK OPEN IN ROOM 7?", ["7"]),
        ("May I bring Anna?", ["anna"]),
    ],
)
def test_names_and_numbers(question: str, named: list[str]) -> None:
    assert names(question) == named


def test_a_question_without_a_word() -> None:
    assert without("Do parcels go by parcel post?", "parcel", "english") == "Do go by post?"
    assert without("Do parcels go by parcel post?", "parcel", "none") == "Do parcels go by post?"


WORDS = "wifi", "password", "switzerland", "brazil", "ship"


def embed(texts: Sequence[str]) -> Vectors:
    """A vector of length one, with as much for each of the words that stand in the text."""
    found = np.array([[float(word in text.lower()) for word in WORDS] for text in texts], np.float32)
    return np.asarray(found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1), np.float32)


def known(question: str, own: str, near: dict[str, float], answer: str = "") -> Any:
    def nearness(vectors: Vectors) -> FloatArray:
        return np.array([[near[word] for word in WORDS] @ (each > 0) for each in vectors])

    row = Row(own, f"{own}\n{answer}", nearness)
    return lacks(question, row, Library([]), embed).tolist()


NEAR = {"wifi": -0.2, "password": 0.5, "switzerland": 0.3, "brazil": 0.1, "ship": 0.2}


def test_a_row_that_has_all_words_lacks_nothing() -> None:
    assert known("Are passwords shipped?", "How do I ship?", NEAR, "With a password.") == [0, 0, 0]


def test_an_odd_word_holds_a_question_off() -> None:
    assert known("Which password has the wifi?", "How do I reset my password?", NEAR)[0] == pytest.approx(
        -0.2
    )
    assert known("Do you ship to Brazil?", "Do you ship to Switzerland?", NEAR)[0] == 0, "it brings it nearer"


def test_the_share_of_names_that_are_lacked() -> None:
    assert known("Do you ship to Brazil?", "Do you ship to Switzerland?", NEAR)[2] == -0.5
    assert known("Do you ship to Brazil?", "Where do you ship to?", NEAR, "To Brazil.")[2] == 0


def test_the_odd_pair_is_one_word_of_each() -> None:
    assert known("Do you ship to Brazil?", "Do you ship to Switzerland?", NEAR)[1] == pytest.approx(-0.25)
    assert known("Do you ship to Brazil?", "Do you ship?", NEAR)[1] == 0, "the row has no other word"


@pytest.mark.parametrize(
    ("near", "there"),
    [
        ("Do you send parcels to Brazil?", "Do you send parcels to Switzerland?"),
        ("How much do I pay for 20 computers?", "How much do I pay for 5 computers?"),
        ("How do I reset my router?", "I want to reset my password"),
    ],
)
def test_a_near_miss_is_less_likely(near: str, there: str) -> None:
    library = Library(rows())
    missed, known = find(library, near, 5), find(library, there, 5)
    assert missed.places[0] == known.places[0] < len(SOME)
    assert missed.lacks[0].sum() < known.lacks[0].sum() <= 0
    assert missed.chances[0] < known.chances[0]


def test_what_is_lacked_never_speaks_for_a_row_and_never_ranks() -> None:
    own = chance.load().own
    at = [chance.OWN.index(name) for name in LACKS]
    assert (own.level[at] > 0).all() and (own.rank[at] == 0).all()


def test_the_parts_of_an_answer_are_one() -> None:
    asks = "Where do you ship to?"
    parts = [
        Passage("1", "Parcels go to Switzerland.", heading=asks, question=asks),
        Passage("2", "They also go to Brazil.", heading=asks, question=asks),
    ]
    assert find(Library([*parts, *faq.rows()]), "Do you ship parcels to Brazil?", 5).lacks[0, 1] == 0


def test_it_is_told_of_the_first_row() -> None:
    best = by_meaning(Library(rows())).find("Do you send parcels to Brazil?").candidates[0]
    assert best.extra["signals"]["names"] == pytest.approx(-1 / 3)
    assert best.extra["adds"]["first's names"] < 0
