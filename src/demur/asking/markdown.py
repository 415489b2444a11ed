"""Markdown as passages: paragraphs, lists with what leads into them, blocks of code, rows of tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from demur.asking.blocks import FENCE, HEADING, ITEM, Block, blocks, unquoted
from demur.asking.inline import plain
from demur.asking.passages import LONG, Paragraph, Passage, unwrapped

_LONGEST_HEADING = 200  # characters: it is kept with each passage below it
_BAR = re.compile(r"(?<!\\)\|")


def passages_of_markdown(lines: Sequence[str], source: str) -> Iterator[Passage]:
    """The passages of a Markdown text, each with the headings above it, such as ``Loans > Renewals``."""
    trail: dict[int, str] = {}
    for lead, block in _with_leads(lines):
        if block.kind == "heading":
            level, title = _heading(lines[block.start : block.end])
            trail = {upper: trail[upper] for upper in trail if upper < level} | {level: title}
            continue
        heading = " > ".join(title for title in trail.values() if title)
        if block.kind == "paragraph":
            found = _paragraph(lines, block).passages(source, heading)
        elif block.kind == "list":
            found = _list(lines, lead, block, source, heading)
        elif block.kind == "table":
            found = _rows(lines, block, source, heading)
        else:
            yield from _code(lines, lead, block, source, heading)
            continue
        for passage in found:
            shown = plain(passage.text)
            if shown:
                yield passage if shown == passage.text else replace(passage, text=shown)


def _with_leads(lines: Sequence[str]) -> Iterator[tuple[Block | None, Block]]:
    """All blocks; a paragraph that leads into a list or code comes with it and not by itself."""
    lead: Block | None = None
    for block in blocks(lines):
        joins = lead is not None and block.kind in ("list", "code") and _leads(lines, lead, block)
        if lead and not joins:
            yield None, lead
        if block.kind == "paragraph":
            lead = block
            continue
        yield lead if joins else None, block
        lead = None
    if lead:
        yield None, lead


def _leads(lines: Sequence[str], lead: Block, block: Block) -> bool:
    """Whether a paragraph leads into the block below: no line is between them, or it ends with a colon."""
    text = unwrapped(_paragraph(lines, lead).lines)
    touching = lead.end == block.start and block.kind == "list"
    return len(text) < LONG // 2 and (touching or text.rstrip("*_ ").endswith(":"))


def _heading(lines: Sequence[str]) -> tuple[int, str]:
    """The level and the words of a heading, whether marked by ``#`` or underlined."""
    if marked := HEADING.match(lines[0]):
        return len(marked[1]), plain(_without_closing(marked[2].strip())[:_LONGEST_HEADING])
    title = " ".join(line.strip() for line in lines[:-1])
    return 1 if "=" in lines[-1] else 2, plain(title[:_LONGEST_HEADING])


def _paragraph(lines: Sequence[str], block: Block) -> Paragraph:
    inside = lines[block.start : block.end]
    return Paragraph([unquoted(line).strip() for line in inside], block.start + 1)


def _list(
    lines: Sequence[str], lead: Block | None, block: Block, source: str, heading: str
) -> Iterator[Passage]:
    """The list as one passage or, where it is long, as several with the same lead-in."""
    above = unwrapped(_paragraph(lines, lead).lines) if lead else ""
    first = (lead or block).start
    group = [above] if above else []
    for start, item in _items(lines, block):
        if len(group) > bool(above) and len("\n".join([*group, item])) > LONG:
            yield from Paragraph(["\n".join(group)], first + 1).passages(source, heading)
            group, first = [above] if above else [], start
        group.append(item)
    yield from Paragraph(["\n".join(group)], first + 1).passages(source, heading)


def _items(lines: Sequence[str], block: Block) -> Iterator[tuple[int, str]]:
    """Each item of a list in one line, and where it starts."""
    item: list[str] = []
    start = block.start
    for at in range(block.start, block.end):
        line = lines[at]
        if item and ITEM.match(line):
            yield start, " ".join(item)
            item, start = [], at
        if line.strip():
            item.append(line.strip())
    yield start, " ".join(item)


def _code(
    lines: Sequence[str], lead: Block | None, block: Block, source: str, heading: str
) -> Iterator[Passage]:
    """A block of code with its lead-in, however long, as it was typed."""
    inside = lines[block.start + 1 : block.end]
    if inside and FENCE.match(inside[-1]):
        inside = inside[:-1]
    code = "\n".join(line.rstrip() for line in inside).strip("\n")
    above = plain(unwrapped(_paragraph(lines, lead).lines)) if lead else ""
    if text := "\n".join(part for part in (above, code) if part):
        line = (lead or block).start + 1
        yield Passage(f"{source}:{line}", text, source, line, heading)


def _rows(lines: Sequence[str], block: Block, source: str, heading: str) -> Iterator[Passage]:
    """Each row of a table with the names of its columns: ``Tool: ladder; Days: 3``."""
    columns = _cells(lines[block.start])
    for at in range(block.start + 2, block.end):
        cells = _cells(lines[at])
        named = columns + [""] * (len(cells) - len(columns))
        told = [
            f"{column}: {cell}" if column else cell
            for column, cell in zip(named, cells, strict=False)
            if cell
        ]
        yield from Paragraph(["; ".join(told)], at + 1).passages(source, heading)


def _cells(line: str) -> list[str]:
    inside = line.strip().removeprefix("|")
    inside = inside[:-1] if inside.endswith("|") and not inside.endswith("\\|") else inside
    return [cell.replace("\\|", "|").strip() for cell in _BAR.split(inside)]


def _without_closing(title: str) -> str:
    """A heading's text without the number signs that may close it."""
    bare = title.rstrip("#")
    return bare.rstrip() if not bare or bare[-1].isspace() else title
