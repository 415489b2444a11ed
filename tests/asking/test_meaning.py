"""Asking by words and by meaning: what is found, how likely it is, and what is not answered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from demur.asking import Library, Passage, Session, example, library
from demur.asking.meaning import chance, finding
from demur.asking.meaning.finding import find, vectors
from demur.asking.meaning.ranker import by_meaning
from demur.asking.packaged import MEANING
from demur.asking.reading import Look
from demur.embedders.base import Vectors
from demur.kb.base import Passages
from demur.types import Abstention, Answer, SeenPassage, Span

ROWS = [
    Passage(
        "1", "Call the desk and we send a new one.", question="What if my card is gone?", heading="Cards"
    ),
    Passage("2", "Every Friday at six.", question="When do you mend toasters?", heading="Repairs"),
    Passage("3", "Die Werkstatt öffnet um zehn Uhr.", heading="Öffnungszeiten"),
    Passage("4", "Order part XR-7720 for the pump.", heading="Parts"),
]

FIRST = {
    "What should I do when I have lost my membership card?": "A lost card costs 3 pounds",
    "How can I book the cargo bike for next Saturday?": "must be booked by telephone",
    "Is there a reduced price for students?": "reduced fee of 15 pounds",
    "Do I have to wear ear protectors?": "ear protection wherever a machine is running",
    "When is the annual members' meeting?": "second Thursday in March",
}
"""Questions and words of the passage that answers; the first two are those of `make run`."""
NOWHERE = [
    "How high is the deposit for the pressure washer?",
    "Who is the president of France?",
    "Can I pay with bitcoin?",
    "Where is the nearest railway station?",
    "What colour is the front door?",
    "Do you sell second-hand cars?",
]


@pytest.fixture(autouse=True)
def place(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path_factory.getbasetemp() / "meanings"
    monkeypatch.setenv("DEMUR_CACHE", str(folder))
    yield folder


def first(passages: list[Passage], question: str) -> str:
    found = find(Library(passages), question, 5)
    return passages[int(found.places[0])].id


def test_a_library_is_passages() -> None:
    some: Passages = Library(ROWS)
    assert some.passage(1).id == "2" and some.copies(1) == 0 and some.idf("pump") > 0


@pytest.mark.parametrize(
    ("question", "id"),
    [
        ("I lost my membership badge", "1"),  # no word of it stands there
        ("When are broken toasters repaired?", "2"),
        ("öffnungszeiten werkstatt", "3"),
        ("XR-7720", "4"),
    ],
)
def test_found_by_words_or_by_meaning(question: str, id: str) -> None:
    assert first(ROWS, question) == id


@pytest.mark.parametrize("question", ["E5604", "What does e5604 mean?", "the pump shows E5604 again"])
def test_what_has_the_code_of_the_question_comes_first(question: str) -> None:
    parts = ("pump", "door", "fan", "heater", "display")
    texts = [
        f"Error E{5600 + n}: the {parts[n % 5]} has a fault. Clean the {parts[n % 5]}." for n in range(20)
    ]
    ranking = by_meaning(Library([Passage(str(n), text) for n, text in enumerate(texts)])).find(question)
    assert ranking.candidates[0].id == "4" and ranking.scores[0] == max(ranking.scores)


def test_its_own_question_counts_as_much_as_its_text() -> None:
    vector = np.array([1.0, 0.0], np.float32)
    some = Library(ROWS[:2])
    some.__dict__["_meanings"] = np.array([0, 1, 1]), np.array([[0.5, 0], [0.1, 0], [0.9, 0]], np.float32)
    places, cosines = some.by_meaning(vector, 2)
    assert places.tolist() == [1, 0] and np.allclose(cosines, [0.9, 0.5])


def test_passages_with_very_many_vectors_to_make_are_found_by_words_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("DEMUR_CACHE", str(tmp_path))
    rows = [replace(each, text=f"{each.text} Quagga.") for each in ROWS]  # of which no vector is known
    monkeypatch.setattr(library, "MOST", 3)
    found = find(Library(rows), "pump", 5)
    assert [rows[place].id for place in found.places.tolist()] == ["4"]
    assert "by words alone" in caplog.text
    caplog.clear()
    monkeypatch.setattr(library, "MOST", 99)
    monkeypatch.setattr(library, "_SOME", 0)
    assert len(find(Library(rows), "pump", 5).places) > 1 and "are being made" in caplog.text
    caplog.clear()
    monkeypatch.setattr(library, "MOST", 3)  # they are there now, but an answer may not change by that
    assert len(find(Library(rows), "pump", 5).places) == 1 and "by words alone" in caplog.text


def test_vectors_are_kept_as_they_are_made(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"Only this test asks for hook {n}." for n in range(4)]
    monkeypatch.setattr(library, "_PART", 3)
    asked: list[int] = []

    def stopped(texts: list[str]) -> Vectors:
        asked.append(len(texts))
        if len(asked) == 2:
            raise KeyboardInterrupt
        return vectors(texts)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(finding, "vectors", stopped)
        assert Library(texts).has_vectors
    assert finding.lacking(texts) == 1
    known = Library(texts)._meanings
    assert known is not None and np.array_equal(known[1], finding.maker().embed(texts))


def test_vectors_are_kept_for_the_next_call(place: Path) -> None:
    find(Library(ROWS), "pump", 5)
    assert list(place.rglob("*.safetensors"))


def test_nothing_to_look_in() -> None:
    assert not len(by_meaning(Library([])).find("pump"))


def test_ahead_of_the_best_other() -> None:
    assert chance.ahead(np.array([0.5, 0.9, 0.4])).tolist() == pytest.approx([-0.4, 0.4, -0.5])
    assert chance.ahead(np.array([0.9, 0.9])).tolist() == [0, 0]
    assert chance.ahead(np.array([0.9])).tolist() == [0]


def test_signals_stand_out_among_those_of_the_others() -> None:
    stand = chance.among(np.array([[0.1, 0.5], [0.1, 0.7], [0.1, 0.3], [0.1, 0.4]]))
    assert stand[:, 0].tolist() == pytest.approx([0, 0, 0, 0]) and stand[:, 1].argmax() == 1
    assert stand.sum(axis=0) == pytest.approx([0, 0]) and chance.among(np.zeros((0, 2))).shape == (0, 2)


def test_what_is_found_with_few_others_stands_out_as_much_as_among_more() -> None:
    near, far = [0.5, 0.7], [0.02, 0.25]
    alone, of_three, of_five = (chance.among(np.array([near, *[far] * many]))[0] for many in (0, 2, 4))
    assert np.abs(alone - of_three).max() < 0.2 and (of_five > of_three).all()


def test_the_network_decides_but_where_it_takes_all_for_alike() -> None:
    found = np.array([[0.5, 0.8, 0.8], [0.5, 0.4, 0.4], [0.5, 0.4, 0.4]])
    ranks = chance.load().read.ranks
    sure = chance.read_signals(found, np.array([-4.0, 4.0, -4.0]), np.full(3, 0.5))
    assert ranks(sure).argmax() == 1
    alike = chance.read_signals(found, np.array([-1.0, -0.9, -1.0]), np.full(3, 0.5))
    assert ranks(alike).argmax() == 0


def test_no_weight_is_negative() -> None:
    known = chance.load()
    for weights in (known.found, known.read, known.own):
        assert (weights.rank >= 0).all() and weights.lead >= 0 and (weights.level >= 0).all()


def test_a_score_is_a_chance_and_its_parts_add_up_to_it() -> None:
    ranking = by_meaning(Library(ROWS), read=1).find("When do you mend toasters?")
    best, score = next(iter(ranking))
    odds = sum(best.extra["adds"].values())
    assert best.id == "2" and score == pytest.approx(1 / (1 + np.exp(-odds)))
    assert sum("look" in each.extra for each in ranking.candidates) == 1, "what the network has read"


@pytest.fixture(scope="module")
def handbook() -> Session:
    return Session.open(example.passages(), MEANING)


@pytest.mark.parametrize("question", FIRST)
def test_the_right_passage_of_the_handbook_stands_first(handbook: Session, question: str) -> None:
    assert FIRST[question] in handbook.ask(question).ranking.candidates[0].text


@pytest.mark.parametrize("question", NOWHERE)
def test_what_the_handbook_does_not_say_is_not_answered(handbook: Session, question: str) -> None:
    assert not isinstance(handbook.ask(question), Answer)


def test_a_wrong_passage_that_stands_first_is_no_answer(handbook: Session) -> None:
    result = handbook.ask("how long may I keep a drill?")  # a passage about unfinished work comes nearest
    right = "Powered tools are lent for one week." in result.ranking.candidates[0].text
    assert right or not isinstance(result, Answer)


def test_confidence_is_the_chance(handbook: Session) -> None:
    result = handbook.ask("how long may I keep a drill?")
    assert result.confidence == pytest.approx(result.ranking.scores[0])


def test_a_question_without_words_to_look_for_is_found_by_meaning() -> None:
    answer = Session.open(Library(ROWS), "meaning").ask("what about it?")
    assert answer.ranking.candidates[0].extra["coverage"] == 0


@pytest.mark.parametrize("question", ["", "  ", "?!"])
def test_a_question_of_nothing_has_no_answer(question: str) -> None:
    answer = Session.open(Library(ROWS), "meaning").ask(question)
    assert isinstance(answer, Abstention) and not len(answer.ranking)
    assert answer.reason == "the question has no words to look for"


class Last:
    """A reader that quotes the last word of what it is given."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def look(self, question: str, passages: Sequence[str]) -> Sequence[SeenPassage]:
        self.seen += passages
        ends = [(text.rstrip(".").rindex(" ") + 1, len(text) - 1, text) for text in passages]
        return [Look(0.0, Span(start, end, text[start:end]), 0.5) for start, end, text in ends]


TEXT = [Passage("1", "The desk opens at nine. Nobody is there on Sundays.", heading="Hours")]


def test_another_reader_quotes_what_was_found_by_meaning() -> None:
    question, reader = "When does the desk open?", Last()
    usual = Session.open(Library(TEXT), MEANING).ask(question)
    other = Session.open(Library(TEXT), MEANING, reader=reader).ask(question)
    assert isinstance(usual, Answer) and isinstance(other, Answer)
    assert usual.span is not None and usual.span.text == "nine" and reader.seen
    assert other.span is not None and other.span.text == "Sundays"
    assert (usual.confidence, usual.score) == (other.confidence, other.score), "who quotes ranks nothing"


def test_without_a_reader_what_was_found_by_meaning_is_quoted_by_sentences() -> None:
    found = Session.open(Library(TEXT), MEANING, reader="none").ask("When does the desk open?")
    assert isinstance(found, Answer) and found.span and found.span == found.candidate.extra["sentence"]
    assert found.span.text == "The desk opens at nine."
    assert "look" not in found.candidate.extra
