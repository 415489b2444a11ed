"""Plain text as passages: paragraphs, and rows of an FAQ where lines begin with ``Q:`` and ``A:``."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from demur.kb.formats.faq_headings import ANSWERS, ASKS, joined
from demur.kb.passages import Paragraph, Passage, unwrapped

_LONGEST_WRAPPED = 120
_log = logging.getLogger(__name__)


@dataclass
class _Row:
    """A question as it stands there, and what stands below it up to the next."""

    asks: Paragraph
    answer: list[Paragraph] = field(default_factory=list)
    begun: bool = False
    """Whether ``A:`` stands below it, be it alone on its line."""

    def passages(self, source: str) -> Iterator[Passage]:
        """The answer with its question; running text where there is no answer."""
        if not self.answer:
            yield from self.asks.passages(source)
            return
        question = ASKS.sub("", unwrapped(self.asks.lines), count=1)
        found = (passage for each in self.answer for passage in each.passages(source, question, "", question))
        yield from joined(found)


def passages_of_text(lines: Iterable[tuple[int, str]], source: str) -> Iterator[Passage]:
    """The paragraphs of a plain text, and the rows of an FAQ in it.

    A row is a line that begins with ``Q:``, and right below it one that begins with ``A:``; its answer ends
    where the next row begins. A question without an answer is running text, and a warning says so.
    """
    row: _Row | None = None
    lost: list[int] = []
    for paragraph in _paragraphs(lines):
        asks, answers = (bool(each.match(paragraph.lines[0])) for each in (ASKS, ANSWERS))
        if row is not None and (asks or not (answers or row.begun)):
            lost += [] if row.answer else [row.asks.line]
            yield from row.passages(source)
            row = None
        if asks:
            row = _Row(paragraph)
        elif row is None:
            yield from paragraph.passages(source)
        else:
            row.begun = True
            row.answer += _bare(paragraph) if answers else [paragraph]
    if row is not None:
        lost += [] if row.answer else [row.asks.line]
        yield from row.passages(source)
    if lost:
        what = "a question (Q:) without an answer (A:) below it is read as running text"
        if others := len(lost) - 1:
            what += f"; so are {others:,} others" if others > 1 else "; so is 1 other"
        _log.warning("%s:%d: %s; write A: before its answer", source, lost[0], what)


def _bare(answer: Paragraph) -> list[Paragraph]:
    """An answer without the mark before it; nothing if nothing else stands there."""
    said = ANSWERS.sub("", answer.lines[0], count=1)
    if said:
        return [Paragraph([said, *answer.lines[1:]], answer.line)]
    return [Paragraph(answer.lines[1:], answer.line + 1)] if answer.lines[1:] else []


def _paragraphs(lines: Iterable[tuple[int, str]]) -> Iterator[Paragraph]:
    """The paragraphs: empty lines part them, and so do lines that ask, and below these lines that answer.

    A line too long to have been wrapped by hand is a paragraph of its own.
    """
    held: list[str] = []
    first = 1
    of_faq = False
    for number, line in lines:
        line = line.strip()
        alone = len(line) > _LONGEST_WRAPPED
        asks = bool(ASKS.match(line))
        of_faq = of_faq or asks
        if held and (alone or asks or not line or (of_faq and ANSWERS.match(line))):
            yield Paragraph(held, first)
            held = []
        if alone:
            yield Paragraph([line], number)
        elif line:
            if not held:
                first = number
            held.append(line)
    if held:
        yield Paragraph(held, first)
