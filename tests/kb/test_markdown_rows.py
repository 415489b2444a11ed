"""Lines of a Markdown text that begin with Q: and A: are rows of an FAQ, with and without emphasis."""

from __future__ import annotations

import pytest

from demur.kb.formats.markdown import passages_of_markdown


def rows(text: str) -> list[tuple[int | None, str, str]]:
    found = passages_of_markdown(text.split("\n"), "faq.md")
    return [(each.line, each.question, each.text) for each in found]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Q: How?\nA: A week.\nQ: Where?\nA: Here.", [(2, "How?", "A week."), (4, "Where?", "Here.")]),
        ("**Q:** How?\n\n**A:** A *week*.\n\nMore.", [(3, "How?", "A week.\n\nMore.")]),
        ("**Q1**: How\nlong?\n\n__A1:__ A\nweek.", [(4, "How long?", "A week.")]),
        ("**Q: How long is it?**\nA: A week.", [(2, "How long is it?", "A week.")]),
        ("Q: The fee\n\nA:\n\n- one\n- two", [(5, "The fee", "- one\n- two")]),
        ("Q: How long?\n\nA week.", [(3, "How long?", "A week.")]),
        ("## How?\n\nA: A week.\n\n## Fees\n\nA: none", [(3, "How?", "A week."), (7, "", "A: none")]),
        ("Q: How?\nA: 1\nA: 2\n\n# More\n\nDesk.", [(2, "How?", "1\n\n2"), (7, "", "Desk.")]),
        ("> Q: How?\n> A: So.\n\nDesk.", [(2, "How?", "So.\n\nDesk.")]),
        ("Sizes\nA: 5, B: 7\nQ. Jones", [(1, "", "Sizes A: 5, B: 7 Q. Jones")]),
        ("Q: One?\n\n# Two\n\nIt rains.", [(1, "", "Q: One?"), (5, "", "It rains.")]),
        ("Q: How?\nA: So.\n\nQ: fever\n\nNo.", [(2, "How?", "So."), (4, "", "Q: fever"), (6, "", "No.")]),
    ],
)  # fmt: skip
def test_a_row_has_both(text: str, found: list[tuple[int, str, str]]) -> None:
    assert rows(text) == found
