"""Markdown as a tree of blocks, by markdown-it-py; plain paragraphs and headings are taken at a glance."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from demur.kb.formats.faq_headings import ANSWERS, ASKS, LINE, asking

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

_DEEPEST = 100  # lists and quotations within each other; deeper ones are left out

_ASKS_SOMEWHERE = re.compile(rf"^(?:{ASKS.pattern}|(?:\*\*|__)\S[^\n]*[?？؟])", re.I | re.M)
_LINE = r"[^\s#>`~*_+\-\[<=|:0-9][^\n]*"  # begins with nothing that could be a mark of Markdown
_PLAIN = re.compile(
    rf"{_LINE}(?:\n{_LINE})*+(?=\n[ \t]*+(?:\n|\Z)|\Z)"  # such lines up to an empty one: a paragraph
    r"|(?P<marks>\#{1,6})[ \t]++(?P<title>[^\s\#][^\n\#]*)(?=\n|\Z)"  # or a heading
)


@dataclass(slots=True)
class Block:
    """A paragraph, list, item, table, cell and so on, with the blocks in it."""

    type: str
    tag: str = ""
    level: int = 0
    lines: tuple[int, int] = (0, 0)
    """From the first to before the last, counted from 0."""
    content: str = ""
    """The text, with the marks within lines."""
    mark: str = ""
    """What an item of a list begins with."""
    children: list[Block] = field(default_factory=list)


def tree(text: str, links: dict[str, Any], quick: bool = True) -> Block:
    """The blocks of a text; link targets are put into `links`."""
    root = Block("root")
    above = [root]
    for token in parser(quick).parse(text, links):
        if token.type == "inline":
            above[-1].content = token.content
        elif token.nesting < 0:
            above.pop()
        else:
            start, end = token.map or (0, 0)
            block = Block(
                token.type.removesuffix("_open"),
                token.tag,
                token.level,
                (start, end),
                token.content,
                f"{token.info}{token.markup}",
            )
            above[-1].children.append(block)
            if token.nesting:
                above.append(block)
    return root


@cache
def parser(quick: bool = True) -> MarkdownIt:
    """CommonMark with tables; the marks within lines are left in place."""
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import reference

    def target(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        """Whether a link's target begins here; a footnote looks like one."""
        return not state.src.startswith("[^", state.bMarks[start] + state.tShift[start]) and reference(
            state, start, end, silent
        )

    made = MarkdownIt("commonmark", {"maxNesting": _DEEPEST}).enable("table")
    made.block.ruler.at("reference", target)
    made.core.ruler.disable("inline")
    if quick:
        from markdown_it.token import Token

        made.block.ruler.before(
            "table", "plain", lambda state, start, end, silent: _plain(state, start, Token)
        )
    return made


def _plain(state: StateBlock, start: int, made: type[Token]) -> bool:
    """Whether a plain paragraph or heading begins here, outside of lists and quotations."""
    if state.level or state.tShift[start]:
        return False
    found = _PLAIN.match(state.src, state.bMarks[start])
    if not found:
        return False
    if marks := found["marks"]:
        token = made("heading", f"h{len(marks)}", 0, content=found["title"].strip(), markup=marks)
        state.line = start + 1
    else:
        text = found[0]
        token = made("paragraph", "p", 0, content=text.strip())
        state.line = start + 1 + text.count("\n")
    token.map = [start, state.line]
    state.tokens.append(token)
    return True


@contextmanager
def uncollected() -> Iterator[None]:
    """A block in which nothing looks for garbage: of a large file's many parts there is none yet."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


BOLD = re.compile(r"(\*\*|__)(?P<said>(?!\s)[^\n]+?)\1(?=[\s:]|\Z):?[ \t]*")
"""What a line that asks may begin with, where it is bold."""


def faq_lines(found: Iterable[Block]) -> Iterator[Block]:
    """The blocks, paragraphs cut before each line that asks: one of an FAQ begins with ``Q:``, or is bold.

    Below a line with ``Q:`` they are cut before ``A:``, too.
    """
    of_faq = False
    for block in found:
        if block.type != "paragraph" or not (of_faq or _ASKS_SOMEWHERE.search(block.content)):
            yield block
            continue
        lines, begin, first = block.content.split("\n"), 0, block.lines[0]
        for at, line in enumerate(lines):
            of_faq = of_faq or bool(ASKS.match(line))
            bold = BOLD.match(line)
            asks = ASKS.match(line) or (bold and asking(bold["said"], LINE))
            if at > begin and (asks or (of_faq and ANSWERS.match(line))):
                yield replace(block, content="\n".join(lines[begin:at]), lines=(first + begin, first + at))
                begin = at
        yield replace(block, content="\n".join(lines[begin:]), lines=(first + begin, block.lines[1]))


def bare_answer(block: Block) -> Block:
    """A paragraph without the ``A:`` that it may begin with."""
    mark = ANSWERS.match(block.content) if block.type == "paragraph" else None
    if mark is None:
        return block
    start = block.lines[0] + mark[0].count("\n")
    return replace(block, content=block.content[mark.end() :], lines=(start, block.lines[1]))


def after_front_matter(lines: Sequence[str]) -> int:
    """The first line after front matter; 0 where there is none."""
    mark = lines[0].rstrip() if lines else ""
    if mark in ("---", "+++"):
        for at in range(1, len(lines)):
            if lines[at].rstrip() in (mark, "..."):
                return at + 1
    return 0
