"""A reader quotes: within its sentence, in places of the passage, and in one pass where it ranks too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pytest

import demur
from asking.toys import NUMBER, SPEC, Toy
from demur import registry
from demur.asking import Library, Passage, Session, Verdict, as_plain, packaged
from demur.asking.quoting import around
from demur.asking.reading import within
from demur.errors import DataError, UsageError
from demur.rankers import Ranker
from demur.reading import Quote, Reader, Reading, View
from demur.reading.base import Pair
from demur.reading.spans import Through
from demur.types import Abstention, Answer, Ranking, Span

TEXTS = [
    "Ask at the desk. Saws are lent for three weeks. Late saws cost a pound.",
    "Saws are sharp, and nobody has lent them more than once to a friend.",
    "Ladders go out for days.",
]
QUESTION = "For how long are saws lent?"


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[int]]:
    """How many passages the toy has looked at, each time."""
    monkeypatch.setitem(registry.OURS["ranker"], "mini", SPEC)
    monkeypatch.setattr(packaged, "FOLDER", tmp_path / "mini")  # whose gate is not the toy's
    Toy.calls.clear()
    yield Toy.calls
    Toy.calls.clear()


def answer(**settings: Any) -> Answer:
    result = demur.ask(QUESTION, TEXTS, **settings)
    assert isinstance(result, Answer)
    return result


def test_a_ranker_that_reads_quotes_in_the_same_pass(toy: list[int]) -> None:
    result = answer(ranker="mini")
    assert toy == [2], "two passages share a word with the question, and each is seen once"
    assert result.span is not None and result.span.text == "three weeks"
    assert result.candidate.text[result.span.start : result.span.end] == "three weeks"
    assert result.candidate.extra["sentence"].text == "Saws are lent for three weeks."
    assert result.confidence == 0.9
    assert answer(ranker="mini", reader="mini").span == result.span
    assert answer(ranker="mini", reader=Toy()).span == result.span
    assert toy == [2, 2, 2]


def test_another_reader_reads_what_is_shown(toy: list[int]) -> None:
    result = answer(ranker="length", reader="mini", top=1)
    assert toy == [1]
    assert result.candidate.text == TEXTS[0] and result.span == answer(ranker="mini").span


def test_without_a_reader_a_sentence_is_quoted(toy: list[int]) -> None:
    for settings in ({"ranker": "bm25"}, {"ranker": "mini", "reader": "none"}):
        result = answer(**settings)
        assert result.span == result.candidate.extra["sentence"]
        assert result.span is not None and result.span.text == "Saws are lent for three weeks."
        assert result.confidence is None and "look" not in result.candidate.extra
    assert toy == [2], "only as a ranker"


def test_scores_are_the_same_whether_or_not_it_reads() -> None:
    assert answer(ranker="mini").ranking.scores == answer(ranker="mini", reader="none").ranking.scores


def test_no_answer_in_the_best_passage_is_an_abstention() -> None:
    result = demur.ask("Are saws sharp, friend?", TEXTS, ranker="mini")
    assert isinstance(result, Abstention)
    assert result.reason == "the reader finds no answer in the passage that came nearest"
    assert result.confidence == 0.2
    assert result.ranking.candidates[0].text == TEXTS[1]
    told = as_plain(result)
    assert told["nearest"]["text"] == TEXTS[1] and told["answer"] is None
    assert told["nearest"]["read"] == {"answers": False, "confidence": 0.2}


def test_a_heading_is_read_too_but_places_are_those_of_the_text() -> None:
    under = Passage("a.md:3", "Saws are lent for three weeks.", "a.md", 3, "Loans > one saw")
    result = demur.ask(QUESTION, [under], ranker="mini")
    assert isinstance(result, Answer) and result.span is not None
    assert result.span.text == under.text, "what was found stands in the heading, so the sentence is quoted"
    other = Passage("a.md:3", "Saws are lent for three weeks.", "a.md", 3, "Loans")
    found = demur.ask(QUESTION, [other], ranker="mini")
    assert isinstance(found, Answer) and found.span == Span(18, 29, "three weeks")


def test_what_is_quoted_lies_within_the_text() -> None:
    assert within(None, 3, "abc") is None
    assert within(Span(0, 3, "x"), 3, "abc") is None
    assert within(Span(0, 4, "x"), 3, " abc") is None
    assert within(Span(1, 5, "x"), 3, " abc") == Span(1, 2, "a")
    assert within(Span(4, 5, "x"), 3, " abc") == Span(1, 2, "a")


@pytest.mark.parametrize(
    ("text", "quoted", "sentence"),
    [
        ("One. Two three. Four.", "three", "Two three."),
        ("One. Two three. Four.", "three. Four", "Two three. Four."),
        ("Bring:\n- a saw\n- a drill", "saw", "a saw"),
        ("- a saw", "- a", "- a saw"),
    ],
)
def test_the_sentence_around_a_span(text: str, quoted: str, sentence: str) -> None:
    start = text.index(quoted)
    assert around(text, Span(start, start + len(quoted), quoted)).text == sentence


@dataclass(frozen=True)
class Finder(Reader):
    """A reader of another kind: it finds the same numbers, by `read_all`."""

    name: ClassVar[str] = "finder"
    longest: int = 5
    n_best: int = 1
    threshold: float = 0.0

    def views(self, pairs: Sequence[Pair], states: bool = False, through: Through = ()) -> Iterator[View]:
        raise NotImplementedError

    def read_all(self, pairs: Any) -> list[Reading]:
        found = (NUMBER.search(text) for _, text in pairs)
        spans = [hit and Span(hit.start(), hit.end(), hit[0]) for hit in found]
        return [Reading(span, (Quote(span, 2.0, 0.7),) if span else (), 0.5, 0.1) for span in spans]


def test_any_reader_ranks_and_quotes() -> None:
    for settings in ({"reader": Finder()}, {"ranker": Finder()}):
        result = answer(**settings)
        assert result.span is not None and result.span.text == "three weeks"
        assert result.confidence == 0.7
    assert answer(ranker=Finder()).score == 1.5


def test_what_does_not_read_is_refused() -> None:
    with pytest.raises(UsageError, match=r"bm25\(.*\) ranks and does not read; name mini"):
        answer(reader="bm25")
    with pytest.raises(UsageError, match=r"there is no reader 'nobody'; name mini, .* or none"):
        answer(reader="nobody")
    with pytest.raises(UsageError, match="int ranks and does not read"):
        answer(reader=3)
    with pytest.raises(DataError, match="no such folder"):
        answer(reader="./nowhere")


@dataclass
class Gate:
    refusal: str = ""
    certificate: Mapping[str, Any] = field(default_factory=lambda: {"ranker": "mini"})
    known: list[Ranker] = field(default_factory=list)
    judged: list[str] = field(default_factory=list)

    def check_ranker(self, ranker: Ranker) -> None:
        self.known.append(ranker)

    def judge(self, ranking: Ranking) -> Verdict:
        self.judged.append(ranking.candidates[0].text)
        return Verdict(0.4, self.refusal)


def test_a_gate_decides_whatever_the_reader_says() -> None:
    result = demur.ask("Are saws sharp, friend?", TEXTS, ranker="mini", gate=Gate())
    assert isinstance(result, Answer) and result.span is not None
    assert result.span.text == TEXTS[1] and result.confidence == 0.4
    refused = demur.ask(QUESTION, TEXTS, ranker="mini", gate=Gate("too close"))
    assert isinstance(refused, Abstention)
    assert refused.ranking.candidates[0].extra["span"].text == "three weeks"


def test_a_gate_knows_the_search_or_its_ranker() -> None:
    library, toy = Library([Passage("a", "Saws are lent.", heading="Loans")]), Toy()
    for spec, known in (("mini", "mini"), ("library(passages=1, ranker=mini)", "library"), ("", "library")):
        gate = Gate(certificate={"ranker": spec})
        Session.open(library, toy, gate).ask(QUESTION)
        assert [ranker.name for ranker in gate.known] == [known]
        assert gate.judged == ["Loans\nSaws are lent." if known == "mini" else "Saws are lent."]
    gate = Gate()
    Session.open(library, "bm25", gate).ask(QUESTION)
    assert [ranker.name for ranker in gate.known] == ["library"], "nobody scores again"
