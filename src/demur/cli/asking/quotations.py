"""Passages as they are shown: the quoted words in quotation marks, their sentence, and what stands around."""

from __future__ import annotations

from typing import TYPE_CHECKING

from demur.types import Span

if TYPE_CHECKING:
    from rich.text import Text

    from demur.types import Candidate

_AROUND = 240  # characters shown before and after a quotation
_LONGEST = 640  # characters of a sentence, or of a quotation


def passage(candidate: Candidate) -> Text:
    """The passage with its quotation in quotation marks; of a long passage, what stands around it."""
    from rich.text import Text

    text, span, sentence = candidate.text, *quoted(candidate)
    style = "bold" if span == sentence else "bold green"  # in colour where only a part of it is quoted
    sentence = sentence if len(sentence.text) <= _LONGEST else span
    start, end = max(0, sentence.start - _AROUND), min(len(text), sentence.end + _AROUND)
    if start:
        start = 1 + max(text.find(" ", start, sentence.start), start - 1)
    if end < len(text):
        end = max(text.rfind(" ", sentence.end, end), sentence.end)
    before, after = text[start : sentence.start], text[sentence.end : end]
    return Text.assemble(
        (f"… {before}" if start else before, "dim"),
        text[sentence.start : span.start],
        (f"“{clipped(span.text, _LONGEST)}”", style),
        text[span.end : sentence.end],
        (f"{after} …" if end < len(text) else after, "dim"),
    )


def line(candidate: Candidate, room: int | None = None) -> Text:
    """What would be quoted from a passage, within its sentence, in one line with so much room."""
    from rich.text import Text

    span, sentence = quoted(candidate)
    room = room or _AROUND
    if span == sentence:
        return Text(clipped(_flat(span.text), room))
    before, after = candidate.text[sentence.start : span.start], candidate.text[span.end : sentence.end]
    middle = f"“{clipped(_flat(span.text), room - 2)}”"
    left = room - len(middle)
    start = _flat(before)
    if len(start) > (share := max(left // 2, left - len(_flat(after)))):
        start = "… " + start[len(start) - max(share - 2, 0) :].partition(" ")[2]
    end = clipped(_flat(after), left - len(start)) if left - len(start) > 2 else ""
    return Text.assemble(start, (middle, "bold"), end)


def quoted(candidate: Candidate) -> tuple[Span, Span]:
    """What is quoted, and the sentence it stands in."""
    span: Span = candidate.extra["span"] or Span(0, 0, "")
    return span, candidate.extra["sentence"] or span


def clipped(text: str, length: int) -> str:
    """The text, or as many of its words as there is room for."""
    if len(text) <= length:
        return text
    kept = text[: max(length - 1, 0)]
    return f"{kept[: kept.rfind(' ') if ' ' in kept else -1].rstrip()} …"


def marked(shown: Text, words: list[str], stem: str) -> Text:
    """The text with the words underlined."""
    from demur.asking.quoting import places

    for start, end in places(words, shown.plain, stem):
        shown.stylize("underline", start, end)
    return shown


def _flat(text: str) -> str:
    """The text with one space for each stretch of white space, also at its ends."""
    return " ".join(f"|{text}|".split())[1:-1]
