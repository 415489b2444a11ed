"""Headings and bold lines that ask become entries as the rows of an FAQ are."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("selectolax")

from demur.asking import Library, Passage
from demur.asking.meaning import finding
from demur.kb.files.documents import read_documents
from demur.kb.formats.faq_headings import LONGEST, asking, joined
from demur.kb.formats.markdown import passages_of_markdown
from demur.kb.formats.webpage import passages_of_markup
from demur.kb.passages import LONG

ENTRIES = [("How do I renew a loan?", "Ring the desk."), ("Can I return at night?", "Yes.\n\nUse the hatch.")]


def page(html: str) -> list[tuple[str, str]]:
    return [(each.question, each.text) for each in passages_of_markup(html, "a.html")]


def text(markdown: str) -> list[tuple[int | None, str, str]]:
    found = passages_of_markdown(markdown.split("\n"), "a.md")
    return [(each.line, each.question, each.text) for each in found]


@pytest.mark.parametrize(
    ("title", "question"),
    [
        ("How long?", "How long?"),
        ("1. How long?", "How long?"),
        ("2.3 How long?", "How long?"),
        ("Q: How long?", "How long?"),
        ("Q12. How long?", "How long?"),
        ("24 hours, every day?", "24 hours, every day?"),
        ("Is it “open”?”", "Is it “open”?”"),
        ("営業時間は何時ですか？", "営業時間は何時ですか？"),
        ("How long", ""),
        ("What? No.", ""),
        ("?", ""),
        ("", ""),
    ],
)
def test_what_asks(title: str, question: str) -> None:
    assert asking(title) == question


def test_few_words_of_a_line_ask_nothing() -> None:
    assert not asking("Why not?", 3) and asking("Why is that?", 3)


@pytest.mark.parametrize(
    "html",
    [
        "<h1>Help</h1><h3>{0}</h3><p>{1}</p><h3>{2}</h3><p>{3}</p><p>{4}</p><h3>Contact</h3>Desk.",
        "<p><b>{0}</b></p><p>{1}</p><p><strong>{2}</strong></p><p>{3}</p><p>{4}</p><h2>Contact</h2>Desk.",
        "<p><b>{0}</b><br>{1}</p><p><span><b>{2}</b></span> {3}</p><p>{4}</p><p><b>Contact</b></p>"
        "<h2>x</h2>Desk.",
        "<dl><dt>{0}<dd>{1}<dt>{2}<dd>{3}<dd>{4}</dl>Desk.",
        "<details><summary>{0}</summary>{1}</details><details><summary>{2}</summary>{3}<p>{4}</details>Desk.",
        "<ol><li><b>{0}</b> {1}<li><b>{2}</b><br>{3}<p>{4}</ol><h2>x</h2>Desk.",
        "<ul><li><b>{0}</b> {1}<li><b>{2}</b> {3}<br><br>{4}</ul><h2>x</h2>Desk.",
        "<section><h3>{0}</h3>{1}</section><section><h3>{2}</h3><p>{3}<p>{4}</section>Desk.",
        "<div><h4>Q1: {0}</h4><div>{1}</div></div><div>"
        "<h4>Q2: {2}</h4><p>{3}<p>{4}</div><footer>Desk.</footer>",
    ],
)
def test_a_page_of_questions(html: str) -> None:
    (first, one), (second, two) = ENTRIES
    found = page(html.format(first, one, second, *two.split("\n\n")))
    answers = {question: " ".join(text.split()) for question, text in found if question}
    assert answers == {question: " ".join(text.split()) for question, text in ENTRIES}
    assert [text for question, text in found if not question][-1] == "Desk."


@pytest.mark.parametrize(
    "lines",
    [
        "# Help\n\n### {0}\n{1}\n\n### {2}\n\n{3}\n\n{4}\n\n### Contact\nDesk.",
        "**{0}**\n\n{1}\n\n__{2}__\n{3}\n\n{4}\n\n# Contact\n\nDesk.",
        "**{0}** {1}\n\n**{2}**: {3}\n\n{4}\n\n**Contact**\n\nDesk.",
        "<details><summary>{0}</summary>\n\n{1}\n\n</details>\n\n<details>\n<summary><b>{2}</b></summary>\n"
        "<p>{3}</p>\n\n{4}\n\n</details>\n\nDesk.",
        "<details><summary>{0}</summary>\n\n{1}\n\n</details>\n\n<details><summary>{2}</summary>\n\n"
        "<p>{3}</p>\n\n{4}\n\n</details>\n\nDesk.",
        "1. **{0}** {1}\n2. **{2}**\n   {3}\n\n   {4}\n\nDesk.",
    ],
)
def test_a_text_of_questions(lines: str) -> None:
    (first, one), (second, two) = ENTRIES
    found = text(lines.format(first, one, second, *two.split("\n\n")))
    answers = {question: " ".join(text.split()) for _, question, text in found if question}
    assert answers == {question: " ".join(text.split()) for question, text in ENTRIES}
    assert [text for _, question, text in found if not question][-1] == "Desk."


def test_lines_are_those_of_the_answers() -> None:
    found = text(
        "**How long is it?**\nA week.\n\n**Where is it?**\n\nHere.\n\n- **Who is it?** Me.\n- **Why?** So."
    )
    assert found == [
        (2, "How long is it?", "A week."),
        (6, "Where is it?", "Here.\n\n- Who is it? Me.\n- Why? So."),  # a list that does not ask
    ]


def test_a_line_that_asks_and_is_not_answered_is_not_lost() -> None:
    assert page("<p><b>Is it really so?</b></p><h2>More</h2><p>One.") == [
        ("", "Is it really so?"),
        ("", "One."),
    ]
    assert page("<p>One.<p><b>Is it really so?</b>") == [("", "One."), ("", "Is it really so?")]
    assert text("One.\n\n**Is it really so?**") == [(1, "", "One."), (3, "", "Is it really so?")]
    assert text("**Is it really so?**\n\n# More\n\nOne.") == [(1, "", "Is it really so?"), (5, "", "One.")]


def test_what_is_no_line_of_its_own_asks_nothing() -> None:
    assert page("<p>He said: <b>is it really so?</b> Then he left.") == [
        ("", "He said: is it really so? Then he left.")
    ]
    assert text("He said: **is it really so?** Then.") == [(1, "", "He said: is it really so? Then.")]


def test_headings_below_a_question_say_under_what_they_stand() -> None:
    html = "<h2>What may I borrow?</h2><p>Tools.<h3>Saws</h3><p>One week."
    found = [(each.heading, each.question, each.text) for each in passages_of_markup(html, "a.html")]
    assert found == [
        ("What may I borrow?", "What may I borrow?", "Tools."),
        ("What may I borrow? > Saws", "", "One week."),
    ]


def test_an_answer_is_cut_where_a_passage_is_full_and_a_chapter_is_none() -> None:
    def parts(count: int) -> list[Passage]:
        return [Passage(str(n), "x" * 300, "a", n, "Why?", "Why?") for n in range(count)]

    some = list(joined(parts(5)))
    assert [(each.id, len(each.text)) for each in some] == [("0", 602), ("2", 602), ("4", 300)]
    assert all(each.question and len(each.text) <= LONG for each in some)
    chapter = parts(LONGEST // 300 + 1)
    assert not any(each.question for each in joined(chapter))
    assert all(each.question for each in joined(chapter, {"Why?"})), "the page's data says that it is one"


def test_an_faq_is_met_by_its_questions_in_any_format(tmp_path: Path) -> None:
    rows = {"When do you mend toasters?": "Every Friday at six.", "What if my card is gone?": "Ring us."}
    (tmp_path / "a.csv").write_text(
        "question,answer\n" + "\n".join(f"{q},{a}" for q, a in rows.items()), "utf-8"
    )
    (tmp_path / "b.md").write_text("\n\n".join(f"## {q}\n\n{a}" for q, a in rows.items()), "utf-8")
    (tmp_path / "c.html").write_text("".join(f"<h2>{q}</h2><p>{a}" for q, a in rows.items()), "utf-8")
    found = []
    for name in ("a.csv", "b.md", "c.html"):
        passages = list(read_documents(tmp_path / name))
        seen = finding.find(Library(passages), "I lost my membership badge", 5)
        best = passages[int(seen.places[0])]
        found.append((best.question, best.text, round(float(seen.chances[0]), 6), bool(seen.own[0])))
    assert found[0][:2] == ("What if my card is gone?", "Ring us.") and found[0][3]
    assert found == [found[0]] * 3


def test_parts_of_one_answer_are_no_rivals() -> None:
    parts = [
        Passage(str(n), f"Part {n}. " * 30, heading="Is it open?", question="Is it open?") for n in range(3)
    ]
    other = Passage("x", "Ring us.", heading="Who mends toasters?", question="Who mends toasters?")
    whole = finding.find(Library([parts[0], other]), "Is it open today?", 5)
    cut = finding.find(Library([*parts, other]), "Is it open today?", 5)
    assert cut.chances[0] >= whole.chances[0] - 1e-6, "the nearest part may be nearer than the first"


def test_bold_questions_need_no_empty_line_between_them() -> None:
    asked = [
        "**How do I renew a loan?**",
        "Ring the desk.",
        "Ask for Ada.",
        "**Can I return at night?** Yes.",
    ]
    assert text("\n".join(["# FAQ", "", *asked, "**Why?** Ask.", "**Not** a question, is it?"])) == [
        (4, "How do I renew a loan?", "Ring the desk. Ask for Ada."),
        (6, "Can I return at night?", "Yes. Why? Ask. Not a question, is it?"),
    ]
    lines = (
        "<b>How do I renew a loan?</b><br>Ring the desk.<br/><strong>Can I return at night?</strong><br>Yes."
    )
    assert page(f"<p>{lines} <b>Why?</b> No.</p>") == [
        ("How do I renew a loan?", "Ring the desk."),
        ("Can I return at night?", "Yes. Why? No."),
    ]
    assert page("<p>Ring the desk, <b>can I return at night?</b> they ask.</p>")[0][0] == ""
