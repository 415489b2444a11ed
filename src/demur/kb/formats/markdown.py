"""Markdown as passages: paragraphs, lists with what leads into them, blocks of code, rows of tables."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from demur.kb.formats import markdown_blocks as blocks
from demur.kb.formats.faq_headings import ANSWERS, ASKS, LINE, asking, joined
from demur.kb.formats.markdown_blocks import BOLD, Block
from demur.kb.passages import LONG, Paragraph, Passage, unwrapped

if TYPE_CHECKING:
    from markdown_it.token import Token

_LONGEST_HEADING = 200  # characters: it is kept with each passage below it
_LONGEST_INLINE = 20_000  # characters: beyond, the time for finding links would grow with its square
_MARKED = re.compile(r"[*_`\[<\\&]")
_BREAK = re.compile(r"<br\s*/?>", re.I)
_UNSEEN = re.compile(r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)|</?[a-z][^<>]*>", re.S | re.I)
_SUMMARY = re.compile(r"<summary\b[^>]*>(?P<said>.*?)</summary\s*>", re.S | re.I)
_UNFOLDED = re.compile(r"</details\b", re.I)
_LISTS = "bullet_list", "ordered_list"
_CODE = "fence", "code_block"
_TEXTS = "paragraph", "html_block", "heading"


def passages_of_markdown(lines: Sequence[str], source: str) -> Iterator[Passage]:
    """The passages of a Markdown text, each with the headings above it, such as ``Loans > Renewals``.

    Headings, bold lines and summaries that ask are questions, with what stands below.
    """
    with blocks.uncollected():
        found = list(joined(_Page(lines, source).passages()))
    yield from found


def plain(text: str, links: dict[str, Any] | None = None) -> str:
    """The text as it is shown: without emphasis, link targets and tags; what stands in backticks is kept."""
    if not _MARKED.search(text) or len(text) > _LONGEST_INLINE:
        return text.strip()
    parser = blocks.parser()
    found: list[Token] = []
    parser.inline.parse(text, parser, {} if links is None else links, found)
    return _shown(found).strip()


class _Page:
    """A Markdown text, parsed into blocks; the marks within lines are removed when a block is shown."""

    def __init__(self, lines: Sequence[str], source: str) -> None:
        begin = blocks.after_front_matter(lines)
        text = "\n" * begin + "\n".join(line.replace("\r", " ") for line in lines[begin:])
        self.source = source
        self.trail: dict[int, str] = {}
        self.question = ""
        self.topic = ""  # the question as it stands there, where it is no heading
        self.waits: Block | None = None  # a line that asks, until there is something below it
        self.fresh = False  # whether nothing is below the question yet
        self.links: dict[str, Any] = {}
        self.root = blocks.tree(text, self.links)

    def passages(self) -> Iterator[Passage]:
        """The passages, in order; a paragraph that leads into a list or code comes with it."""
        lead: Block | None = None
        found = [*blocks.faq_lines(_blocks(self.root))]
        for block, below in zip(found, [*found[1:], None], strict=False):
            joins = lead is not None and self._leads(lead, block)
            if lead and not joins:
                yield from self._paragraph(lead)
            above, lead = lead if joins else None, None
            if block.type == "heading" and not block.level:  # in a quotation it heads nothing
                level = int(block.tag[1:])
                title = self._shown(block.content.replace("\n", " ")[:_LONGEST_HEADING])
                yield from self._asks("")
                upper = {above: text for above, text in self.trail.items() if above < level}
                self.trail, self.question = upper | {level: title}, asking(title)
                self.fresh = True
            elif block.type in _TEXTS:
                rest, ends = yield from self._asked(block, below)
                if ends and rest is not None:
                    yield from self._paragraph(rest)
                elif rest is not None:
                    lead = rest
                if ends:
                    yield from self._asks("")
            elif block.type in _LISTS and _questions(block, self._shown):
                yield from self._answers(block)
            elif block.type in _LISTS:
                yield from self._list(block, above)
            elif block.type in _CODE:
                yield from self._code(block, above)
            elif block.type == "table":
                for start, row in self._rows(block):
                    yield from self._parts([row], start)
        if lead:
            yield from self._paragraph(lead)
        yield from self._asks("")

    @property
    def heading(self) -> str:
        """What stands above, the outermost first."""
        return " > ".join(title for title in (*self.trail.values(), self.topic) if title)

    def _asks(self, question: str, topic: str = "", line: Block | None = None) -> Iterator[Passage]:
        """From here on a question is answered; a line that asked before and got no answer is a passage."""
        waits, self.waits = self.waits, None
        if waits is not None:
            self.question = self.topic = ""
            yield from self._paragraph(waits)
        if question or self.topic:
            self.question, self.topic = question, topic
        self.waits, self.fresh = line, bool(question)

    def _asked(
        self, block: Block, below: Block | None = None
    ) -> Generator[Passage, None, tuple[Block | None, bool]]:
        """What is left of a text once a question is taken from its beginning, and whether an answer ends."""
        if block.type == "paragraph" and (mark := ASKS.match(block.content)):
            said = unwrapped(self._shown(block.content[mark.end() :]).split("\n"))
            if asking(said) or (below and below.type == "paragraph" and ANSWERS.match(below.content)):
                yield from self._asks(said, said, block)
                return None, False
            yield from self._asks("")
        elif self.question and (self.fresh or self.topic):
            block = blocks.bare_answer(block)
        if not block.content:
            return None, False
        ends = block.type == "html_block" and bool(self.topic and _UNFOLDED.search(block.content))
        found = BOLD.match(block.content) if block.type == "paragraph" else _SUMMARY.search(block.content)
        if found is None or block.type not in ("paragraph", "html_block"):
            return block, ends
        said = self._shown(found["said"]) if block.type == "paragraph" else _bare(found["said"])
        question = asking(said, LINE if block.type == "paragraph" else 1)
        rest = block.content[found.end() :]
        if not question:
            if block.type == "paragraph" and not rest.strip():
                yield from self._asks("")
            return block, ends
        yield from self._asks(question, said, block)
        ends = block.type == "html_block" and bool(_UNFOLDED.search(rest))
        start = block.lines[0] + block.content[: found.end()].count("\n")
        start += len(rest[: len(rest) - len(rest.lstrip())].split("\n")) - 1
        if not rest.strip() or (block.type == "html_block" and not _bare(rest)):
            return None, ends
        return blocks.bare_answer(replace(block, content=rest.lstrip(), lines=(start, block.lines[1]))), ends

    def _answers(self, block: Block) -> Iterator[Passage]:
        """The items of a list that each begin with a bold question."""
        for item in block.children:
            rest, _ = yield from self._asked(item.children[0])
            left = ([] if rest is None else [rest]) + item.children[1:]
            if left:
                bare = replace(item, mark="", children=left, lines=left[0].lines)
                texts = [text for _, text in self._items(replace(block, children=[bare]))]
                yield from self._parts(["\n".join(texts)], left[0].lines[0])
        yield from self._asks("")

    def _leads(self, lead: Block, block: Block) -> bool:
        """Whether a paragraph leads into the list or code below: they touch, or it ends with a colon."""
        if block.type not in (*_LISTS, *_CODE):
            return False
        text = self._text(lead)
        touching = lead.lines[1] == block.lines[0] and block.type in _LISTS
        return len(text) < LONG // 2 and (touching or text.endswith(":"))

    def _parts(self, lines: Sequence[str], start: int) -> Iterator[Passage]:
        """The passages of some lines, the first of which has this number, counted from 0."""
        if any(lines):
            self.waits, self.fresh = None, False
            yield from Paragraph(lines, start + 1).passages(self.source, self.heading, question=self.question)

    def _paragraph(self, block: Block) -> Iterator[Passage]:
        lines = self._wrapped(block)
        seen = [at for at, line in enumerate(lines) if line]  # a comment, say, shows nothing
        if seen:
            yield from self._parts(lines[seen[0] : seen[-1] + 1], block.lines[0] + seen[0])

    def _list(self, block: Block, lead: Block | None) -> Iterator[Passage]:
        """The list as one passage or, where it is long, as several with the same lead-in."""
        above = [self._text(lead)] if lead else []
        first = (lead or block).lines[0]
        group = list(above)
        for start, item in self._items(block):
            if len(group) > len(above) and len("\n".join([*group, item])) > LONG:
                yield from self._parts(["\n".join(group)], first)
                group, first = list(above), start
            group.append(item)
        yield from self._parts(["\n".join(group)], first)

    def _items(self, block: Block) -> Iterator[tuple[int, str]]:
        """Each item of a list and of the lists in it, with its mark, and the line where it starts."""
        for item in block.children:
            start, mark = item.lines[0], item.mark
            said = mark
            for inside in _blocks(item):
                if inside.type in _LISTS:
                    if said not in ("", mark):
                        yield start, said
                    yield from self._items(inside)
                    said = ""
                    continue
                start = start if said else inside.lines[0]
                if inside.type in _CODE:
                    said = f"{said}\n{_typed(inside)}"
                elif inside.type == "table":
                    said = "\n".join([said, *(row for _, row in self._rows(inside))])
                elif inside.type in _TEXTS:
                    said = f"{said} {self._text(inside)}"
                said = said.strip()
            if said not in ("", mark):
                yield start, said

    def _code(self, block: Block, lead: Block | None) -> Iterator[Passage]:
        """A block of code with its lead-in, however long, as it was typed."""
        if text := "\n".join(part for part in (self._text(lead) if lead else "", _typed(block)) if part):
            line = (lead or block).lines[0] + 1
            self.waits, self.fresh = None, False
            yield Passage(f"{self.source}:{line}", text, self.source, line, self.heading, self.question)

    def _rows(self, table: Block) -> Iterator[tuple[int, str]]:
        """Each row of a table with the names of its columns, ``Tool: ladder; Days: 3``, and its line."""
        names, *rows = [row for part in table.children for row in part.children]
        columns = self._cells(names)
        for row in rows:
            told = zip(columns, self._cells(row), strict=True)
            yield (
                row.lines[0],
                "; ".join(f"{column}: {cell}" if column else cell for column, cell in told if cell),
            )

    def _cells(self, row: Block) -> list[str]:
        return [self._shown(cell.content) for cell in row.children]

    def _wrapped(self, block: Block) -> list[str]:
        """The lines of a paragraph or heading as they are shown."""
        if block.type == "html_block":
            text = html.unescape(_UNSEEN.sub(_breaks, block.content))
        else:
            text = self._shown(block.content)
        return [line.strip() for line in text.split("\n")]

    def _text(self, block: Block) -> str:
        return unwrapped(self._wrapped(block)).strip()

    def _shown(self, text: str) -> str:
        return plain(text, self.links)


def _blocks(within: Block) -> Iterator[Block]:
    """The blocks in a page or an item, those of quotations among them."""
    for block in within.children:
        if block.type == "blockquote":
            yield from _blocks(block)
        else:
            yield block


def _questions(block: Block, shown: Callable[[str], str]) -> bool:
    """Whether each item of a list begins with a bold question."""
    firsts = [item.children[0] if item.children else Block("") for item in block.children]
    found = [BOLD.match(first.content) if first.type == "paragraph" else None for first in firsts]
    return len(found) > 1 and all(each and asking(shown(each["said"]), LINE) for each in found)


def _bare(markup: str) -> str:
    """What is seen of some HTML, on one line."""
    return " ".join(html.unescape(_UNSEEN.sub(_breaks, markup)).split())


def _typed(code: Block) -> str:
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
