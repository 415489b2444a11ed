"""A question that somebody has answered already, word for word."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from demur.asking import Library, Passage, Session, as_plain
from demur.asking.gates.calibrating import calibrate
from demur.asking.quoting import also_answers, same
from demur.rankers import Ranker, ranker
from demur.types import Abstention, Answer, Candidate, Pool, Ranking, Verdict

FAQ = [
    Passage("1", "Bring a proof of address to the desk.", heading="Joining > How do I become a member?"),
    Passage("2", "A member may become a helper. How? Ask.", heading="Helping"),
    Passage("3", "Five euros.", heading="Joining > How do I become a member?"),
]


class Refusing:
    """A gate for given candidates that lets nothing pass."""

    certificate: dict[str, Any] = {"ranker": "bm25"}  # noqa: RUF012  # as a gate's

    def check_ranker(self, ranker: Ranker) -> None:
        """Any will do."""

    def judge(self, ranking: Ranking) -> Verdict:
        """A refusal."""
        return Verdict(0.1, "it is not sure enough")


@pytest.mark.parametrize(
    ("question", "heading", "expected"),
    [
        ("how do i become a member", "How do I become a member?", True),
        ("How do I become a member?", "Joining > How do I become a member", True),
        ("How do I become a helper?", "How do I become a member?", False),
        ("become a member how do I", "How do I become a member?", False),
        ("Is 5 > 3 always true?", "Is 5 > 3 always true?", True),
        ("is 5 > 3 always true", "Sums > Is 5 > 3 always true?", True),
        ("3 always true yes", "Sums > Is 5 > 3 always true?", False),
        ("How do I install the C# compiler?", "How do I install the C++ compiler?", False),
        ("how do I install the C++ compiler", "Setup > How do I install the C++ compiler?", True),
        ("What happens below 5 degrees?", "What happens below -5 degrees?", False),
        ("C++?", "C++", False),  # signs are no words
        ("What is the fee for 5 kg ≤ weight?", "What is the fee for 5 kg ≥ weight?", False),
        ("the train Linz ← Graz", "The train Linz → Graz", False),
        ("a setting for 10^3 bar", "A setting for 10^-3 bar", False),
        ("from -5 to 5 degrees", "From 5 to -5 degrees", False),
        ("a pipe of 1 5 m", "A pipe of 1.5 m", False),
        ("a train at 10:30 h", "A train at 10.30 h", False),
        ("What is the NET salary?", "What is the .NET salary?", False),
        ("What does a 5* room cost?", "What does a 5 room cost?", False),
        ("what does a 5* room cost", "What does a 5* room cost?", True),
        ("Is the drop-off open?", "Is the drop off open", True),
        ("is the discount for orders > 50 euros", "Is the discount for orders > 50 euros?", True),
        ("50 euros in Germany", "Discounts for orders > 50 euros in Germany", False),
        ("How long is the warranty?", "FAQ > 1. How long is the warranty?", True),
        ("may I bring my cat", "Q2: May I bring my cat?", True),
        ("opening hours", "Opening hours", False),  # a topic, and no question
        ("", "", False),
    ],
)
def test_the_same_is_word_for_word(question: str, heading: str, expected: bool) -> None:
    assert same(question, heading) is expected


def test_what_is_written_under_the_question_is_the_answer_whatever_a_gate_says() -> None:
    session = Session.open(FAQ, ranker("bm25"), Refusing())
    found = session.ask("How do I become a member")
    assert isinstance(found, Answer)
    assert found.candidate.id in ("1", "3")
    assert found.confidence is None and found.certificate is None
    assert sorted(candidate.id for candidate in found.ranking.candidates) == ["1", "2", "3"]
    assert as_plain(found)["answer"]["same_question"] is True
    other = session.ask("How may a member become a helper?")
    assert isinstance(other, Abstention) and other.confidence == 0.1


def test_of_several_passages_under_it_the_best_one_is_given() -> None:
    session = Session.open(FAQ, ranker("bm25"))
    ranked = session.ask("How do I become a member?")
    under = [each for each, _ in ranked.ranking if each.extra["heading"].startswith("Joining")]
    assert isinstance(ranked, Answer) and ranked.candidate.id == under[0].id
    assert as_plain(session.ask("May a member help?"))["answer"]["same_question"] is False


def test_a_gate_for_these_files_is_asked_as_it_was_calibrated() -> None:
    asked = [f"What does thing {n} cost?" for n in range(40)]
    passages = [Passage(str(n), f"{n} euros.", heading=question) for n, question in enumerate(asked)]
    questions = [
        Pool(str(n), question, (Candidate("a", f"{n} euros.", 1),)) for n, question in enumerate(asked)
    ]
    library = Library(passages)
    gate = calibrate(library, questions, 0.2, ranker="bm25")
    found = Session.open(library, "bm25", gate).ask(asked[7])
    assert isinstance(found, Answer) and found.confidence is not None and found.certificate is not None


def test_rows_are_told_apart_by_their_files_and_whatever_is_in_their_names() -> None:
    def row(id: str, source: str, text: str) -> Candidate:
        return Candidate(id, text, None, {"question": "How long is the warranty?", "source": source})

    two = row("1", "a.csv", "Two years.")
    assert also_answers(two, row("1", "b.csv", "Three years."))
    assert not also_answers(two, row("1+2", "a.csv", "Or more.")), "the same row goes on"
    named = row("faq+old.csv:2", "faq+old.csv", "Two years.")
    assert also_answers(named, row("faq+old.csv:3", "faq+old.csv", "Three years."))
    assert not also_answers(named, row("faq+old.csv:2+1", "faq+old.csv", "Or more."))
    other = replace(
        two, extra={**two.extra, "source": "c.csv", "question": "How long is the warranty of $5?"}
    )
    assert not also_answers(two, other)
