"""Lines of a plain text that begin with Q: and A: are rows of an FAQ."""

from __future__ import annotations

import pytest

from demur.kb.formats.faq_headings import LONGEST
from demur.kb.formats.plain_text import passages_of_text


def rows(text: str) -> list[tuple[int | None, str, str]]:
    found = passages_of_text(enumerate(text.split("\n"), 1), "faq.txt")
    return [(each.line, each.question, each.text) for each in found]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Q: How?\nA: A week.\nQ: Where?\nA: Here.", [(2, "How?", "A week."), (4, "Where?", "Here.")]),
        ("q1: How\nlong?\n\na1: A\nweek.\n\nMore.\n\nAnd:", [(4, "How long?", "A week.\n\nMore.\n\nAnd:")]),
        ("Q: How?\nA:\n\nA week.\nQ: Where?\nA: Here.", [(4, "How?", "A week."), (6, "Where?", "Here.")]),
        ("Question: How long?\nAnswer:\nA week.", [(3, "How long?", "A week.")]),
        ("Frage 7: Wie lange?\nAntwort 7: Eine Woche.", [(2, "Wie lange?", "Eine Woche.")]),
        ("Help\n\nQ: How long?\nA: 1\nA: 2", [(1, "", "Help"), (4, "How long?", "1\n\n2")]),
        ("Sizes\nA: 5, B: 7\nQ. Jones\na) one", [(1, "", "Sizes A: 5, B: 7 Q. Jones a) one")]),
    ],
)  # fmt: skip
def test_a_row_has_both(
    text: str, found: list[tuple[int, str, str]], caplog: pytest.LogCaptureFixture
) -> None:
    assert rows(text) == found and not caplog.text


def test_a_row_is_searched_as_one_of_a_table_is() -> None:
    (row,) = passages_of_text([(1, "Q: How long?"), (2, "A: A week.")], "faq.txt")
    assert (row.id, row.heading, row.searched) == ("faq.txt:2", "How long?", "How long?\nA week.")


def test_an_answer_as_long_as_a_chapter_is_searched_as_one() -> None:
    found = rows("Q: How?\n" + f"A: {'So it is. ' * (LONGEST // 10 + 9)}\nQ: When?\nA: Now.")
    assert {question for _, question, _ in found[:-1]} == {""} and found[-1][1] == "When?"


def test_questions_without_an_answer_are_running_text_and_that_is_said_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert rows("Q: One?\n\nIt rains.\nQ: Two?\nA: 2\nQ: Three?\nQ: Four?\nA:") == [
        (1, "", "Q: One?"),
        (3, "", "It rains."),
        (5, "Two?", "2"),
        (6, "", "Q: Three?"),
        (7, "", "Q: Four?"),
    ]
    (said,) = caplog.messages
    assert said.startswith(
        "faq.txt:1: a question (Q:) without an answer (A:) below it is read as running text"
    )
    assert "; so are 2 others; write A: before" in said
