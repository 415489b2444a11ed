"""Markdown as blocks: which lines are a heading, a paragraph, a list, code or a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

HEADING = re.compile(r" {0,3}(#{1,6})(?=\s|$)(.*)$")
_QUOTE = re.compile(r" {0,3}(?:> ?)+")
ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)\s*$")
_RULE = re.compile(r" {0,3}([-*_])\s*(?:\1\s*){2,}$")
FENCE = re.compile(r"\s*(```+|~~~+)")
_DASHES = re.compile(r":?-+:?")
_LINK_TARGET = re.compile(r" {0,3}\[[^\]^][^\]]*\]:\s*\S+")
_FIRST_ITEM = re.compile(r"\s*(?:[-*+•]|1[.)])\s+\S")  # "1987. " at the start of a line is no item
_INTERRUPTING = (HEADING, FENCE, _RULE, _FIRST_ITEM)
_PROSE = re.compile(r"[^\W\d_][^|]*$")  # no line that starts like this needs a closer look


class Block(NamedTuple):
    """A kind, and the lines it takes up, counted from 0: from the start to before the end."""

    kind: Literal["heading", "paragraph", "list", "code", "table", "nothing"]
    start: int
    end: int


def blocks(lines: Sequence[str]) -> Iterator[Block]:
    """The blocks of a Markdown text; front matter, comments, rules and link targets are none."""
    at = _after_front_matter(lines)
    while at < len(lines):
        block = _block(lines, at)
        if block.kind != "nothing":
            yield block
        at = block.end


def unquoted(line: str) -> str:
    """The line without the signs of a quotation before it."""
    return _QUOTE.sub("", line, count=1) if ">" in line else line


def _block(lines: Sequence[str], at: int) -> Block:
    line = lines[at]
    if _PROSE.match(line):
        return _paragraph(lines, at)
    if _empty(line) or _RULE.match(line) or _LINK_TARGET.match(line):
        return Block("nothing", at, at + 1)
    if line.lstrip().startswith("<!--"):
        return Block("nothing", at, _find(lines, at, lambda line: "-->" in line) + 1)
    if fence := FENCE.match(line):
        return Block("code", at, _find(lines, at + 1, _closing(fence[1])) + 1)
    if HEADING.match(line):
        return Block("heading", at, at + 1)
    if _starts_table(lines, at):
        return Block("table", at, _find(lines, at, lambda line: "|" not in line))
    if ITEM.match(line):
        return Block("list", at, _end_of_list(lines, at))
    return _paragraph(lines, at)


def _paragraph(lines: Sequence[str], at: int) -> Block:
    """A paragraph, or a heading if it turns out to be underlined."""
    for end in range(at + 1, len(lines)):
        line = lines[end]
        if _PROSE.match(line):
            continue
        if _UNDERLINE.match(line):
            return Block("heading", at, end + 1)
        if _empty(line) or _starts_table(lines, end) or any(sign.match(line) for sign in _INTERRUPTING):
            return Block("paragraph", at, end)
    return Block("paragraph", at, len(lines))


def _end_of_list(lines: Sequence[str], at: int) -> int:
    """Where a list ends: at another block, or at an empty line that no item or indented line follows."""
    for end in range(at + 1, len(lines)):
        line = lines[end]
        if any(sign.match(line) for sign in (HEADING, FENCE, _RULE)):
            return end
        if _empty(lines[end - 1]) and not _empty(line) and not ITEM.match(line) and not line[0].isspace():
            return end
    return len(lines)


def _starts_table(lines: Sequence[str], at: int) -> bool:
    if "|" not in lines[at] or at + 1 == len(lines):
        return False
    cells = lines[at + 1].strip().removeprefix("|").removesuffix("|").split("|")
    return "|" in lines[at + 1] and all(_DASHES.fullmatch(cell.strip()) for cell in cells)


def _after_front_matter(lines: Sequence[str]) -> int:
    """The first line after front matter; 0 where there is none."""
    mark = lines[0].rstrip() if lines else ""
    if mark not in ("---", "+++"):
        return 0
    ends = (mark, "...")
    end = _find(lines, 1, lambda line: line.rstrip() in ends)
    return end + 1 if end < len(lines) else 0


def _closing(mark: str) -> Callable[[str], bool]:
    """Whether a line closes the code that this mark opened."""
    return lambda line: line.strip().startswith(mark) and not line.strip().strip(mark[0])


def _empty(line: str) -> bool:
    return not line or not unquoted(line).strip()


def _find(lines: Sequence[str], start: int, wanted: Callable[[str], bool]) -> int:
    """The first line from `start` on that is wanted, or else the end of all lines."""
    return next((at for at in range(start, len(lines)) if wanted(lines[at])), len(lines))
