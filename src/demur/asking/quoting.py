"""What is quoted from a passage: its sentence that says most of what the question asks about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from demur.asking.passages import MARKER
from demur.sentences import sentences
from demur.text import content, token_spans, tokenize
from demur.types import Span


def asked(question: str) -> list[str]:
    """The words of a question that carry meaning, each once, in order."""
    return list(dict.fromkeys(content(tokenize(question))))


def quote(text: str, weights: Mapping[str, float]) -> Span | None:
    """The sentence with the weightiest words, the first of several; None if there is no sentence."""
    best: Span | None = None
    most = -1.0
    for sentence in sentences(text):
        words = set(tokenize(sentence.text))
        weight = sum(weight for word, weight in weights.items() if word in words)
        if weight > most:
            best, most = sentence, weight
    return best and _without_marker(best)


def found(words: Iterable[str], text: str) -> tuple[str, ...]:
    """Those of the words that stand in the text."""
    there = set(tokenize(text))
    return tuple(word for word in words if word in there)


def places(words: Iterable[str], text: str) -> list[tuple[int, int]]:
    """Where in the text the words stand, from start to end."""
    wanted = set(words)
    return [(start, end) for word, start, end in token_spans(text) if word in wanted]


def _without_marker(sentence: Span) -> Span:
    marker = MARKER.match(sentence.text)
    if not marker or marker.end() == len(sentence.text):
        return sentence
    return Span(sentence.start + marker.end(), sentence.end, sentence.text[marker.end() :])
