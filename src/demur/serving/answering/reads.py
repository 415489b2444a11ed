"""What a reader quotes from given texts, whichever reader it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from demur.asking.quoting import asked, found, quote
from demur.asking.reading import Look, looks
from demur.reading import Reader, Reading
from demur.reading.one_pass import OnePassReader
from demur.types import Span


@dataclass(frozen=True)
class Read:
    """What was read in one text: the best quotes with their scores, and whether the answer is there."""

    quotes: tuple[tuple[Span, float], ...]
    answers: bool
    confidence: float
    """How sure it is that the answer is there and the best quote is right."""
    nothing: float
    """How likely it is that no answer is there."""

    def apart(
        self, most: int | None = None, least: float | None = None, words: int | None = None
    ) -> list[tuple[Span, float]]:
        """So many of the quotes, none over another, each with the score or more, and of so few words."""
        kept: list[tuple[Span, float]] = []
        for span, score in self.quotes:
            over = any(span.start < other.end and other.start < span.end for other, _ in kept)
            short = words is None or len(span.text.split()) <= words
            if short and not over and (least is None or score >= least):
                kept.append((span, score))
        return kept[:most]


def read_texts(
    reader: object | None, question: str, texts: Sequence[str], stem: str = "english"
) -> list[Read]:
    """What the reader quotes from each text; without a reader, the sentence with most of the words."""
    if not texts:
        return []
    if reader is None:
        return [_sentence(question, text, stem) for text in texts]
    if isinstance(reader, OnePassReader):
        return [_by(look.reading, look.confidence) for look in reader.look(question, texts)]
    if isinstance(reader, Reader):
        readings = reader.read_all((question, text) for text in texts)
        return [_by(reading, reading.confidence) for reading in readings]
    return [_seen(look) for look in looks(reader, question, texts)]


def _by(reading: Reading, confidence: float) -> Read:
    quotes = tuple((each.span, each.probability) for each in reading.quotes)
    return Read(quotes, reading.span is not None, confidence, reading.null_probability)


def _seen(look: Look) -> Read:
    quotes = () if look.span is None else ((look.span, look.confidence),)
    return Read(quotes, look.span is not None, look.confidence, 1 - look.confidence)


def _sentence(question: str, text: str, stem: str) -> Read:
    words = asked(question, stem)
    span = quote(text, dict.fromkeys(words, 1.0), stem)
    if span is None:
        return Read((), False, 0.0, 1.0)
    share = len(found(words, span.text, stem)) / max(1, len(words))
    return Read(((span, share),), share > 0, share, 1 - share)
