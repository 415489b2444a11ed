"""What is quoted from a passage: its sentence that says most of what the question asks about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from demur.kb.formats.faq_headings import asking
from demur.kb.passages import MARKER
from demur.sentences import sentences
from demur.text import content, said, stemmer, token_spans, tokenize
from demur.types import Candidate, Span

_ASKS = 3
"""Words: fewer name a topic, and are no question."""
_BELOW = re.compile(r" > (?!\W{0,2}\d)| > (?=\d+[.):]\s)")
"""What parts a heading from the one above; before an amount it is a sign of the heading's own."""
_PART = re.compile(r"\+\d+$")
"""What the id of a passage ends with that is a further part of a long one."""


def asked(question: str, stem: str = "none") -> list[str]:
    """The words of a question that carry meaning, each once (whatever its endings), in order."""
    cut = stemmer(stem)
    first: dict[str, str] = {}
    for word in content(tokenize(question)):
        first.setdefault(cut(word), word)
    return list(first.values())


def same(question: str, heading: str) -> bool:
    """Whether a passage stands right under what is asked: three words or more, the same in the same order."""
    words, under = _words_of(question), [heading, *(heading[at.end() :] for at in _BELOW.finditer(heading))]
    under += [asking(each) for each in under]  # without the number that a list of questions has
    return len(tokenize(question)) >= _ASKS and any(words == _words_of(each) for each in under)


def also_answers(best: Candidate, other: Candidate) -> bool:
    """Whether another row answers the very question that the best passage does, and otherwise than that."""
    if not best.extra["question"] or _row(other) == _row(best):
        return False
    alike = _words_of(best.extra["question"]) == _words_of(other.extra["question"])
    return alike and tokenize(best.text) != tokenize(other.text)


def _row(part: Candidate) -> tuple[str, str]:
    """Where a row of an FAQ stands: its file, as others may have the same ids, and its id without a part."""
    return part.extra["source"], _PART.sub("", part.id)


@lru_cache(maxsize=1 << 10)
def _words_of(question: str) -> tuple[str, ...]:
    """The words of a question, and its signs that mean something."""
    return said(question)


def quote(text: str, weights: Mapping[str, float], stem: str = "none") -> Span | None:
    """The sentence with the weightiest words, the first of several; None if there is no sentence."""
    best: Span | None = None
    most = -1.0
    for sentence in sentences(text):
        weight = sum(weights[word] for word in found(weights, sentence.text, stem))
        if weight > most:
            best, most = sentence, weight
    return best and _without_marker(best)


def around(text: str, span: Span) -> Span:
    """The sentence that a span stands in, without the marker of a list; several if it crosses their ends."""
    touched = [each for each in sentences(text) if each.start < span.end and span.start < each.end]
    if not touched:
        return span
    whole = Span(touched[0].start, touched[-1].end, text[touched[0].start : touched[-1].end])
    bare = _without_marker(whole)
    return bare if bare.start <= span.start else whole


def found(words: Iterable[str], text: str, stem: str = "none") -> tuple[str, ...]:
    """Those of the words that stand in the text, with whatever ending if a language to stem is named."""
    cut = stemmer(stem)
    there = {cut(word) for word in tokenize(text)}
    return tuple(word for word in words if cut(word) in there)


def places(words: Iterable[str], text: str, stem: str = "none") -> list[tuple[int, int]]:
    """Where in the text the words stand, from start to end."""
    cut = stemmer(stem)
    wanted = {cut(word) for word in words}
    return [(start, end) for word, start, end in token_spans(text) if cut(word) in wanted]


def _without_marker(sentence: Span) -> Span:
    marker = MARKER.match(sentence.text)
    if not marker or marker.end() == len(sentence.text):
        return sentence
    return Span(sentence.start + marker.end(), sentence.end, sentence.text[marker.end() :])
