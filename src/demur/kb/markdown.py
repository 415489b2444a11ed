"""Markdown as passages: paragraphs, lists with what leads into them, blocks of code, rows of tables."""

from __future__ import annotations

import gc
import html
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from demur.kb.passages import LONG, Paragraph, Passage, unwrapped

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token
    from markdown_it.tree import SyntaxTreeNode

_LONGEST_HEADING = 200  # characters: it is kept with each passage below it
_LONGEST_INLINE = 20_000  # characters: beyond, the time for finding links would grow with its square
_DEEPEST = 100  # lists and quotations within each other; deeper ones are left out
_MARKED = re.compile(r"[*_`\[<\\&]")
_BREAK = re.compile(r"<br\s*/?>", re.I)
_UNSEEN = re.compile(r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)|</?[a-z][^<>]*>", re.S | re.I)
_LISTS = "bullet_list", "ordered_list"
_CODE = "fence", "code_block"
_TEXTS = "paragraph", "html_block", "heading"


def passages_of_markdown(lines: Sequence[str], source: str) -> Iterator[Passage]:
    """The passages of a Markdown text, each with the headings above it, such as ``Loans > Renewals``."""
    return _Page(lines, source).passages()


def plain(text: str, links: dict[str, Any] | None = None) -> str:
    """The text as it is shown: without emphasis, link targets and tags; what stands in backticks is kept."""
    if not _MARKED.search(text) or len(text) > _LONGEST_INLINE:
        return text.strip()
    parser = _parser()
    found: list[Token] = []
    parser.inline.parse(text, parser, {} if links is None else links, found)
    return _shown(found).strip()


class _Page:
    """A Markdown text, parsed into blocks; the marks within lines are taken away when a block is shown."""

    def __init__(self, lines: Sequence[str], source: str) -> None:
        from markdown_it.tree import SyntaxTreeNode

        begin = _after_front_matter(lines)
        text = "\n" * begin + "\n".join(line.replace("\r", " ") for line in lines[begin:])
        self.source = source
        self.heading = ""
        self.links: dict[str, Any] = {}
        with _uncollected():
            self.root = SyntaxTreeNode(_parser().parse(text, self.links))

    def passages(self) -> Iterator[Passage]:
        """The passages, in order; a paragraph that leads into a list or code comes with it."""
        trail: dict[int, str] = {}
        lead: SyntaxTreeNode | None = None
        for block in _blocks(self.root):
            joins = lead is not None and self._leads(lead, block)
            if lead and not joins:
                yield from self._paragraph(lead)
            above, lead = lead if joins else None, None
            if block.type == "heading" and not block.level:  # in a quotation it heads nothing
                level = int(block.tag[1:])
                title = self._shown(block.children[0].content.replace("\n", " ")[:_LONGEST_HEADING])
                trail = {upper: trail[upper] for upper in trail if upper < level} | {level: title}
                self.heading = " > ".join(title for title in trail.values() if title)
            elif block.type in _TEXTS:
                lead = block
            elif block.type in _LISTS:
                yield from self._list(block, above)
            elif block.type in _CODE:
                yield from self._code(block, above)
            elif block.type == "table":
                for start, row in self._rows(block):
                    yield from self._parts([row], start)
        if lead:
            yield from self._paragraph(lead)

    def _leads(self, lead: SyntaxTreeNode, block: SyntaxTreeNode) -> bool:
        """Whether a paragraph leads into the list or code below: they touch, or it ends with a colon."""
        if block.type not in (*_LISTS, *_CODE):
            return False
        text = self._text(lead)
        touching = _lines(lead)[1] == _lines(block)[0] and block.type in _LISTS
        return len(text) < LONG // 2 and (touching or text.endswith(":"))

    def _parts(self, lines: Sequence[str], start: int) -> Iterator[Passage]:
        """The passages of some lines, the first of which has this number, counted from 0."""
        if any(lines):
            yield from Paragraph(lines, start + 1).passages(self.source, self.heading)

    def _paragraph(self, block: SyntaxTreeNode) -> Iterator[Passage]:
        lines = self._wrapped(block)
        seen = [at for at, line in enumerate(lines) if line]  # a comment, say, shows nothing
        if seen:
            yield from self._parts(lines[seen[0] : seen[-1] + 1], _lines(block)[0] + seen[0])

    def _list(self, block: SyntaxTreeNode, lead: SyntaxTreeNode | None) -> Iterator[Passage]:
        """The list as one passage or, where it is long, as several with the same lead-in."""
        above = [self._text(lead)] if lead else []
        first = _lines(lead or block)[0]
        group = list(above)
        for start, item in self._items(block):
            if len(group) > len(above) and len("\n".join([*group, item])) > LONG:
                yield from self._parts(["\n".join(group)], first)
                group, first = list(above), start
            group.append(item)
        yield from self._parts(["\n".join(group)], first)

    def _items(self, block: SyntaxTreeNode) -> Iterator[tuple[int, str]]:
        """Each item of a list and of the lists in it, with its mark, and the line where it starts."""
        for item in block.children:
            mark = f"{item.info}{item.markup}"
            start, said = _lines(item)[0], mark
            for inside in _blocks(item):
                if inside.type in _LISTS:
                    if said not in ("", mark):
                        yield start, said
                    yield from self._items(inside)
                    said = ""
                    continue
                start = start if said else _lines(inside)[0]
                if inside.type in _CODE:
                    said = f"{said}\n{_typed(inside)}"
                elif inside.type == "table":
                    said = "\n".join([said, *(row for _, row in self._rows(inside))])
                elif inside.type in _TEXTS:
                    said = f"{said} {self._text(inside)}"
                said = said.strip()
            if said not in ("", mark):
                yield start, said

    def _code(self, block: SyntaxTreeNode, lead: SyntaxTreeNode | None) -> Iterator[Passage]:
        """A block of code with its lead-in, however long, as it was typed."""
        if text := "\n".join(part for part in (self._text(lead) if lead else "", _typed(block)) if part):
            line = _lines(lead or block)[0] + 1
            yield Passage(f"{self.source}:{line}", text, self.source, line, self.heading)

    def _rows(self, table: SyntaxTreeNode) -> Iterator[tuple[int, str]]:
        """Each row of a table with the names of its columns, ``Tool: ladder; Days: 3``, and its line."""
        names, *rows = [row for part in table.children for row in part.children]
        columns = self._cells(names)
        for row in rows:
            told = zip(columns, self._cells(row), strict=True)
            yield (
                _lines(row)[0],
                "; ".join(f"{column}: {cell}" if column else cell for column, cell in told if cell),
            )

    def _cells(self, row: SyntaxTreeNode) -> list[str]:
        return [self._shown(cell.children[0].content) for cell in row.children]

    def _wrapped(self, block: SyntaxTreeNode) -> list[str]:
        """The lines of a paragraph or heading as they are shown."""
        if block.type == "html_block":
            text = html.unescape(_UNSEEN.sub(_breaks, block.content))
        else:
            text = self._shown(block.children[0].content)
        return [line.strip() for line in text.split("\n")]

    def _text(self, block: SyntaxTreeNode) -> str:
        return unwrapped(self._wrapped(block)).strip()

    def _shown(self, text: str) -> str:
        return plain(text, self.links)


@cache
def _parser() -> MarkdownIt:
    """CommonMark with tables; the marks within lines are left for `plain`."""
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import reference

    def target(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        """Whether a link's target begins here; a footnote looks like one."""
        return not state.src.startswith("[^", state.bMarks[start] + state.tShift[start]) and reference(
            state, start, end, silent
        )

    parser = MarkdownIt("commonmark", {"maxNesting": _DEEPEST}).enable("table")
    parser.block.ruler.at("reference", target)
    parser.core.ruler.disable("inline")
    return parser


@contextmanager
def _uncollected() -> Iterator[None]:
    """A block in which nothing looks for garbage: of a large file's many parts there is none yet."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _blocks(within: SyntaxTreeNode) -> Iterator[SyntaxTreeNode]:
    """The blocks in a page or an item, those of quotations among them."""
    for block in within.children:
        if block.type == "blockquote":
            yield from _blocks(block)
        else:
            yield block


def _lines(block: SyntaxTreeNode) -> tuple[int, int]:
    """The lines that a block takes up, counted from 0: from the first to before the last."""
    assert block.map is not None
    return block.map


def _typed(code: SyntaxTreeNode) -> str:
    return "\n".join(line.rstrip() for line in code.content.split("\n")).strip("\n")


def _shown(tokens: Sequence[Token]) -> str:
    """What is seen of the parts of a line."""
    parts = []
    for token in tokens:
        if token.type in ("softbreak", "hardbreak"):
            parts.append("\n")
        elif token.type == "image":
            parts.append(_shown(token.children or ()))
        elif token.type == "html_inline":
            parts.append(_UNSEEN.sub(_breaks, token.content))
        else:
            parts.append(token.content)
    return "".join(parts)


def _breaks(unseen: re.Match[str]) -> str:
    """What is shown in place of a tag or comment: a space for a break; the lines stay as many as they are."""
    return " " if _BREAK.fullmatch(unseen[0]) else "\n" * unseen[0].count("\n")


def _after_front_matter(lines: Sequence[str]) -> int:
    """The first line after front matter; 0 where there is none."""
    mark = lines[0].rstrip() if lines else ""
    if mark in ("---", "+++"):
        for at in range(1, len(lines)):
            if lines[at].rstrip() in (mark, "..."):
                return at + 1
    return 0
