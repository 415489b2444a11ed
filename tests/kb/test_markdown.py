from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demur.kb.files.documents import read_documents
from demur.kb.formats.markdown import passages_of_markdown, plain
from demur.kb.passages import LONG, Passage
from demur.text import tokenize


def read(text: str) -> list[Passage]:
    return list(passages_of_markdown(text.split("\n"), "a.md"))


def told(text: str) -> list[tuple[int | None, str, str]]:
    return [(passage.line, passage.heading, passage.text) for passage in read(text)]


def test_headings_make_a_trail() -> None:
    text = "# Loans\nOne.\n\n### Deep ###\nTwo.\n## Renewals\nThree.\n\n# Fees\nFour."
    assert told(text) == [
        (2, "Loans", "One."),
        (5, "Loans > Deep", "Two."),
        (7, "Loans > Renewals", "Three."),
        (10, "Fees", "Four."),
    ]


def test_underlined_headings() -> None:
    assert told("Loans\nand more\n===\nOne.\n\nRenewals\n---\nTwo.\n\n---\nThree.") == [
        (4, "Loans and more", "One."),
        (8, "Loans and more > Renewals", "Two."),
        (11, "Loans and more > Renewals", "Three."),
    ]


def test_wrapped_lines_are_joined_and_empty_lines_part() -> None:
    assert told("\n\nOne\ntwo\n three.\n\n\nFour.\n") == [(3, "", "One two three."), (8, "", "Four.")]


@pytest.mark.parametrize("gap", ["", "\n"])
def test_a_list_comes_with_its_lead_in(gap: str) -> None:
    assert told(f"Bring:\n{gap}- a saw\n  that cuts\n- a drill\n\nBye.") == [
        (1, "", "Bring:\n- a saw that cuts\n- a drill"),
        (6 + len(gap), "", "Bye."),
    ]


def test_a_list_after_a_finished_paragraph_stands_alone() -> None:
    assert told("We are open.\n\n1. Ring.\n2. Wait.") == [
        (1, "", "We are open."),
        (3, "", "1. Ring.\n2. Wait."),
    ]


def test_a_list_goes_on_over_empty_lines_and_indented_paragraphs() -> None:
    assert [passage.text for passage in read("- one\n\n- two\n\n  more of two\n\nEnd.")] == [
        "- one\n- two more of two",
        "End.",
    ]


def test_a_long_list_is_parted_between_items_under_the_same_lead_in() -> None:
    items = [f"- tool number {n} is kept on the shelf with the number {n}" for n in range(40)]
    found = read("On the shelves:\n\n" + "\n".join(items))
    assert len(found) > 1
    assert all(passage.text.startswith("On the shelves:\n- tool") for passage in found)
    assert all(len(passage.text) <= LONG for passage in found)
    assert [line for passage in found for line in passage.text.split("\n")[1:]] == items
    assert found[1].line is not None
    assert items[found[1].line - 3] == found[1].text.split("\n")[1]


def test_a_year_at_the_start_of_a_line_is_no_list() -> None:
    assert told("It was founded in\n1987. We like it.") == [(1, "", "It was founded in 1987. We like it.")]


def test_code_is_kept_whole_with_its_lead_in() -> None:
    text = "Run this:\n\n```bash\nls  *\n\n# no heading\n```\n\nThen go.\n~~~\n```\n~~~"
    assert told(text) == [(1, "", "Run this:\nls  *\n\n# no heading"), (9, "", "Then go."), (10, "", "```")]


def test_code_that_is_never_closed_runs_to_the_end() -> None:
    assert told("```\na\n\nb") == [(1, "", "a\n\nb")]
    assert told("```") == []


def test_tables_are_read_by_rows() -> None:
    text = "Our prices\n\n| Tool | Days |\n|:--|--:|\n| saw | 21 |\n| a \\| b | |\n| x | 1 | extra |\n\nEnd."
    assert told(text) == [
        (1, "", "Our prices"),
        (5, "", "Tool: saw; Days: 21"),
        (6, "", "Tool: a | b"),
        (7, "", "Tool: x; Days: 1"),  # a cell without a column is not shown
        (9, "", "End."),
    ]


def test_an_item_comes_with_all_that_stands_in_it() -> None:
    code = "1. Run this:\n   ```\n   ls  *\n\n   cd\n   ```\n"
    text = f"{code}2) Then\n   - go\n\n     home\n\n   at once.\n- - deep\n-\n"
    assert told(text) == [
        (1, "", "1. Run this:\nls  *\n\ncd"),
        (7, "", "2) Then\n- go home\nat once."),
        (13, "", "- deep"),
    ]


def test_text_that_stands_far_to_the_right_is_code() -> None:
    assert told("Write:\n\n    a = 1\n    b  = 2\n\nBye.") == [
        (1, "", "Write:\na = 1\nb  = 2"),
        (6, "", "Bye."),
    ]


def test_what_html_shows_is_read() -> None:
    text = (
        "<details>\n<summary>How &amp; why?</summary>\n\nSo.<br>And <kbd>so</kbd> <!-- not\nthis --> \nfar."
        "\n\n</details>\n<style>p { color: red }</style>\n\n| a | b |\n|---|---|\n| one<br/>two | &lt;3 |"
    )
    assert told(text) == [
        (4, "How & why?", "So. And so  far."),
        (13, "", "a: one two; b: <3"),
    ]


def test_a_heading_in_a_quotation_heads_nothing_after_it() -> None:
    assert told("# A\n> ## B\n> One.\n\nTwo.") == [(2, "A", "B"), (3, "A", "One."), (5, "A", "Two.")]


def test_signs_stay_where_they_mean_something_else() -> None:
    assert told("Debian >= 12 & <https://a.b>, `<split>`\n> 3 < 4") == [
        (1, "", "Debian >= 12 & https://a.b, <split>"),
        (2, "", "3 < 4"),
    ]


def test_lines_and_words_of_a_folder_are_those_of_its_files() -> None:
    docs = Path(__file__).parents[2] / "docs"
    found = list(read_documents(docs))
    assert len(found) > 500
    for passage in found:
        line = Path(passage.source).read_text("utf-8").split("\n")[(passage.line or 0) - 1]
        assert line.startswith("```") or set(tokenize(passage.text)) & set(tokenize(line)), (passage, line)


def test_what_no_reader_sees_is_left_out() -> None:
    text = (
        "---\ntitle: x\n---\nOne.\n\n<!-- two\n\nthree -->\n[a]: http://x.y\n\n***\nFour. [^1]\n\n[^1]: Five."
    )
    assert [passage.text for passage in read(text)] == ["One.", "Four. [^1]", "[^1]: Five."]


def test_a_rule_at_the_top_is_no_front_matter_unless_it_is_closed() -> None:
    assert told("---\nOne.") == [(2, "", "One.")]


def test_quotations_lose_their_signs() -> None:
    assert told("> One\n> two.\n>\n> > Three.") == [(1, "", "One two."), (4, "", "Three.")]


@pytest.mark.parametrize(
    ("marked", "shown"),
    [
        ("**Never** *ever* __do__ _it_", "Never ever do it"),
        ('see [the desk](desk.md), [it][r] and ![a map](map.png "Map")', "see the desk, [it][r] and a map"),
        ("<b>bold</b> <https://a.b/c_d_e>", "bold https://a.b/c_d_e"),
        ("`**kept**` and ``a`b``", "**kept** and a`b"),
        ("2 * 3 * 4 < 5, snake_case_name, \\*no\\*", "2 * 3 * 4 < 5, snake_case_name, *no*"),
        ("[[`f`](x.md)] and [`g()`][g] `[h](i)`", "[f] and [g()][g] [h](i)"),
        ("**a** b **c** and a***b", "a b c and a***b"),
    ],
)
def test_marks_within_a_line(marked: str, shown: str) -> None:
    assert plain(marked) == shown


def test_headings_of_any_length_do_no_harm() -> None:
    (passage,) = read(f"# {'[**`' * 50_000}\n\nOne.")
    assert len(passage.heading) <= 200


PIECES = [
    "# ",
    "- ",
    "1. ",
    "> ",
    "|",
    "|--|--|",
    "```",
    "---",
    "===",
    "<!--",
    "-->",
    "\n",
    "\n\n",
    " ",
    "word ",
    "é.",
]


@settings(max_examples=200)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=40).map("".join))
def test_any_text_is_read_in_order_and_nothing_is_made_up(text: str) -> None:
    found = read(text)
    numbers = [passage.line or 0 for passage in found]
    assert numbers == sorted(numbers)
    assert all(1 <= number <= text.count("\n") + 1 for number in numbers)
    assert all(passage.text.strip() for passage in found)
    added = set("\n; :>\ufffd")  # between lines, cells and headings; and for what is no character
    assert {letter for passage in found for letter in passage.searched} <= {*text, *added}


@settings(max_examples=50)
@given(st.lists(st.lists(st.sampled_from(["alpha", "beta", "gamma"]), min_size=1, max_size=9), max_size=9))
def test_no_word_of_a_paragraph_is_lost(paragraphs: list[list[str]]) -> None:
    text = "\n\n".join("\n".join(words) for words in paragraphs)
    assert [passage.text for passage in read(text)] == [" ".join(words) for words in paragraphs]


def test_long_lines_of_spaces_take_linear_time() -> None:
    """A quadratic rule would take hours, and meet the suite's limit."""
    for text in (
        "# a" + " " * 2_000_000 + "b",
        "a | b\n" + " " * 2_000_000 + "x|",
        "# a" + " #" * 1_000_000 + " b",
    ):
        assert read(f"{text}\n\nEnd.")
