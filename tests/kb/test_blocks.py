from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demur.kb.formats import markdown_blocks as blocks
from demur.kb.formats.markdown_blocks import Block, tree

PIECES = [
    *("# ", "## Two", "###### Six #", "- ", "1. ", "> ", "|", "|--|--|", "```", "~~~", "---", "===", "<!--"),
    *("-->", "<div>", "[a]: /b", "a | b", "\n", "\n", "\n\n", " ", "    ", "\t", "word", "*it*", "é."),
    *("\\", "\xa0", "\x0c"),
]


def stripped(block: Block) -> Block:
    return replace(
        block, content=block.content.strip(), children=[stripped(child) for child in block.children]
    )


def same(text: str) -> None:
    quick: dict[str, object] = {}
    full: dict[str, object] = {}
    assert stripped(tree(text, quick)) == stripped(tree(text, full, quick=False))
    assert quick == full


@settings(max_examples=400)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=30).map("".join))
def test_plain_blocks_are_the_same_with_and_without_the_short_cut(text: str) -> None:
    same(text)


@settings(max_examples=100)
@given(
    st.lists(st.sampled_from(["One two.", "three", "# H", "- a", "| b", "  c", "", "", "--"]), max_size=20)
)
def test_lines_in_any_order_are_the_same_too(lines: list[str]) -> None:
    same("\n".join(lines))


def test_pages_are_the_same_too() -> None:
    for path in sorted((Path(__file__).parents[2] / "docs").rglob("*.md")):
        same(path.read_text("utf-8"))


def test_a_plain_page_asks_no_other_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asking all rules of each line is what makes large pages slow."""
    from markdown_it.rules_block import StateBlock

    asked: list[int] = []

    def is_code(state: StateBlock, line: int) -> bool:
        asked.append(line)
        return state.sCount[line] > 3

    monkeypatch.setattr(StateBlock, "is_code_block", is_code)
    text = "\n\n".join(f"## Part {n}\n\nOne line,\nand *another* `line`." for n in range(100))
    assert len(tree(text, {}).children) == 200
    assert not asked
    blocks.tree(text, {}, quick=False)
    assert asked
