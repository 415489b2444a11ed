"""The passages that questions are asked of, each with the place it was read from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from demur.sentences import sentences

LONG = 800
"""Characters, about 120 words: a longer paragraph is cut at the ends of sentences."""

MARKER = re.compile(r"(?:[-*+•]|\d{1,3}[.)])\s+")
"""What an item of a list begins with."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A short text, and where it stands: file, first line, and the headings above it."""

    id: str
    text: str
    source: str = ""
    line: int | None = None
    heading: str = ""
    question: str = ""
    """The question that the text answers, where it stands beside it, as in a row of an FAQ."""

    @property
    def searched(self) -> str:
        """What is searched: the headings and the text."""
        return searched(self.heading, self.text)


def searched(heading: str, text: str) -> str:
    """What is searched of a passage: the headings and the text."""
    return f"{heading}\n{text}" if heading else text


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Stripped lines that belong together, and the number of the first."""

    lines: Sequence[str]
    line: int

    def passages(self, source: str, heading: str = "", id: str = "", question: str = "") -> Iterator[Passage]:
        """One passage, or several where the paragraph is long; each has the line where it begins."""
        id = id or f"{source}:{self.line}"
        text = unwrapped(self.lines)
        if len(text) <= LONG:
            yield Passage(id, text, source, self.line, heading, question)
            return
        end_of_line = len(self.lines[0])
        line = 0
        for number, (start, end) in enumerate(cuts(text)):
            while start > end_of_line:
                line += 1
                end_of_line += 1 + len(self.lines[line])
            name = f"{id}+{number}" if number else id
            yield Passage(name, text[start:end], source, self.line + line, heading, question)


def unwrapped(lines: Sequence[str]) -> str:
    """The lines as one text; only items of lists keep lines of their own."""
    if len(lines) == 1:
        return lines[0]
    return lines[0] + "".join(f"\n{line}" if MARKER.match(line) else f" {line}" for line in lines[1:])


def cuts(text: str) -> Iterator[tuple[int, int]]:
    """The starts and ends of about equally long parts of a long text, cut at the ends of sentences."""
    aim = len(text) / -(-len(text) // LONG)
    start = None
    end = 0
    for sentence_start, sentence_end in _stretches(text):
        if start is None:
            start = sentence_start
        end = sentence_end
        if end - start >= aim:
            yield start, end
            start = None
    if start is not None:
        yield start, end


def _stretches(text: str) -> Iterator[tuple[int, int]]:
    """The sentences of a text; one that is longer than a passage is cut at spaces, or else anywhere."""
    for sentence in sentences(text):
        start = sentence.start
        while sentence.end - start > LONG:
            space = text.rfind(" ", start + 1, start + LONG)
            end = space if space > 0 else start + LONG
            yield start, end
            start = end + (space > 0)
        if start < sentence.end:
            yield start, sentence.end
