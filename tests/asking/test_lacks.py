"""Near misses: what a question has that the likeliest row of an FAQ lacks makes that row less likely."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from asking import faq
from demur.asking import Library, Passage
from demur.asking.meaning import chance
from demur.asking.meaning.finding import find, maker
from demur.asking.meaning.lacks import (
    LACKS,
    lacks,
    names,
    odd_one,
    phrases,
    spelt_alike,
    without,
)
from demur.asking.meaning.ranker import by_meaning
from demur.embedders.base import Vectors

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


def test_phrases_are_words_side_by_side() -> None:
    asks = "Do parcels of the big shop go by parcel post?"
    found = phrases(asks, ["parcel", "big", "shop", "post"], "english")
    assert [asks[slice(*each)] for each in found] == [
        *("parcels", "big", "big shop", "shop"),
        *("parcel", "parcel post", "post"),
    ]
    assert without(asks, *found[2]) == "Do parcels of the go by parcel post?"
    assert phrases("one two three four", ["one", "two", "three", "four"], "none")[:4] == [
        *((0, 3), (0, 7), (0, 13)),
        (4, 7),
    ]


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("pasword", "password", True),
        ("Suported", "supported", True),
        ("E1042", "E1043", False),
        ("unsubscribe", "subscribe", False),
        ("import", "export", False),
        ("cat", "cart", False),
    ],
)
def test_words_that_are_spelt_alike(one: str, other: str, alike: bool) -> None:
    assert spelt_alike(one, other) == spelt_alike(other, one) == alike


@pytest.mark.parametrize(
    "asks", ["What is new in version 1.1?", "what's new in the version 1.2?", "new in version 110?"]
)
def test_one_number_for_another_is_all_that_differs(asks: str) -> None:
    own = "What is new in version 1.10?"
    library = Library([Passage("1", "A dark mode.", heading=own, question=own), *rows()])
    found = lacks(asks, own, f"{own} A dark mode.", library, maker().embed)
    assert found[0] == -1
    best = by_meaning(library).find(asks)
    assert best.candidates[0].extra["question"] == own and best.scores[0] < 0.01
    assert by_meaning(library).find("What is in version 1.10 that is new?").scores[0] > 0.9


@pytest.mark.parametrize(
    ("asks", "own", "odd"),
    [
        ("How do I upgrade to 1.9?", "How do I upgrade to 1.10?", True),
        ("Is there a room on the 4th floor?", "Is there a room on the 3rd floor?", True),
        ("May I take three tablets?", "May I take 2 tablets?", True),
        ("How do I upgrade from 5.0 to 4.2?", "How do I upgrade from 4.2 to 5.0?", True),
        ("Is it open at 3 pm on 2 May?", "Is it open on 2 May at 3 pm?", False),
        ("When is check-out?", "When is check-in?", True),
        ("Can I enter with a ticket?", "Can I enter without a ticket?", True),
        ("How do I get from the airport?", "How do I get to the airport?", True),
        ("Is it for people over 30?", "Is it for people under 30?", True),
        ("How do I fill out the form?", "How do I fill in the form?", False),
        ("How do I log out in the app?", "How do I log out?", False),
    ],
)
def test_small_words_and_numbers_that_make_another_question(asks: str, own: str, odd: bool) -> None:
    assert odd_one(asks, own, "english", maker().embed) == odd
    answer = "Upgrade to 1.9 first. It is open from 9 to 17, and takes 3 or 4."
    assert (lacks(asks, own, f"{own} {answer}", Library(rows()), maker().embed)[0] == -1) == odd, "so said"


WORDS = (
    "wifi",
    "password",
    "switzerland",
    "brazil",
    "ship",
    "label",
    "printer",
    "barcode",
    "scanner",
    "pasword",
)


def embed(texts: Sequence[str]) -> Vectors:
    """A vector of length one, with as much for each of the words that stand in the text."""
    found = np.array([[float(word in text.lower()) for word in WORDS] for text in texts], np.float32)
    return np.asarray(found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1), np.float32)


def known(question: str, own: str, answer: str = "", others: Sequence[str] = ()) -> list[float]:
    rows = [Passage(text, text, heading=text, question=text) for text in (own, *others)]
    found: list[float] = lacks(question, own, f"{own}\n{answer}", Library(rows), embed).tolist()
    return found


OTHERS = [f"Room {number}" for number in range(99)]


def test_a_row_that_has_all_words_lacks_nothing() -> None:
    assert known("Are passwords shipped?", "How do I ship?", "With a password.") == [0, 0, 0]


def test_the_share_of_names_that_are_lacked() -> None:
    assert known("Do you ship to Brazil?", "Do you ship to Switzerland?")[1] == -0.5
    assert known("Do you ship to Brazil?", "Where do you ship to?", "To Brazil.")[1] == 0


@pytest.mark.parametrize(
    ("asks", "own", "odd"),
    [
        ("Do you ship to Brazil?", "Do you ship to Switzerland?", 0.5),
        ("May the barcode scanner use wifi?", "May the label printer use wifi?", 2 / 3),  # a phrase of each
        ("Do you ship to Brazil?", "Do you ship?", 0),  # the row has no other word
        ("Do you ship my pasword?", "Do you ship my password?", 0),  # misspelt
    ],
)
def test_the_odd_pair_is_a_phrase_of_each(asks: str, own: str, odd: float) -> None:
    assert known(asks, own, others=OTHERS)[0] == pytest.approx(-odd, rel=0.05)


@pytest.mark.parametrize(
    ("asks", "own", "added"),
    [
        ("Do you ship to Brazil?", "Do you ship?", 1 - 2**-0.5),
        ("Do you ship the label printer?", "Do you ship?", 1 - 3**-0.5),  # a phrase of two words
        (
            "Do you ship to Brazil?",
            "Do you ship to Switzerland?",
            0.08,
        ),  # without Brazil it is no nearer to that
        ("Do you ship?", "Do you ship to Brazil?", 0),  # the row has more, and answers it
    ],
)
def test_what_is_added_is_a_phrase_that_the_row_lacks(asks: str, own: str, added: float) -> None:
    assert known(asks, own, others=OTHERS)[2] == pytest.approx(-added, abs=0.08)


def test_what_all_rows_have_is_no_difference() -> None:
    asks, own = "Do you ship to Brazil?", "Do you ship to Switzerland?"
    everywhere = [f"Switzerland, room {number}" for number in range(99)]
    assert known(asks, own, others=everywhere)[0] == pytest.approx(0, abs=0.001)
    few = known(asks, own, others=[*OTHERS[:70], *everywhere[:30]])[0]
    assert known(asks, own, others=OTHERS)[0] < few < -0.1


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
    assert (own.level[at] >= 0).all() and own.level[at].any() and (own.rank[at] == 0).all()


def test_the_parts_of_an_answer_are_one() -> None:
    asks = "Where do you ship to?"
    parts = [
        Passage("1", "Parcels go to Switzerland.", heading=asks, question=asks),
        Passage("2", "They also go to Brazil.", heading=asks, question=asks),
    ]
    assert find(Library([*parts, *faq.rows()]), "Do you ship parcels to Brazil?", 5).lacks[0, 0] == 0


def test_it_is_told_of_the_first_row() -> None:
    best = by_meaning(Library(rows())).find("Do you send parcels to Brazil?").candidates[0]
    assert best.extra["signals"]["names"] == pytest.approx(-1 / 3)
    assert best.extra["adds"]["first's names"] < 0


def test_words_that_come_again_and_again_are_not_all_tried() -> None:
    library, asked = Library(rows()), list[int]()

    def embed(texts: Sequence[str]) -> Vectors:
        asked.append(len(texts))
        return np.eye(len(texts), 4, dtype=np.float32)

    question = " ".join(["zebra", "quantum", "telegraph"] * 80)
    lacks(question, "Do you ship to Switzerland?", "Yes, parcels take a week.", library, embed)
    assert asked[0] < 20
