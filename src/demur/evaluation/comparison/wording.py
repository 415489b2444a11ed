"""What a text says, as far as rules can see it: its words, and which of them are numbers and names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from demur.text import STOPWORDS, stemmer, token_spans
from demur.types import Pool, Span

NEGATIONS = frozenset(("no", "not", "never", "none", "neither", "nor", "cannot", "without", "t"))
"""Words that turn what is said into its opposite; t is that of isn't."""
_NUMBERS = """
two three four five six seven eight nine ten eleven twelve dozen twenty thirty forty fifty sixty seventy
eighty ninety hundred thousand million billion
"""
_NUMBER_WORDS = frozenset(_NUMBERS.split())
_ENDS = frozenset(".!?:\n")


@dataclass(frozen=True)
class Wording:
    """The words of a text as they are compared; `stems` are of its content words, without endings."""

    words: frozenset[str]
    stems: frozenset[str]
    numbers: frozenset[str]
    capitals: frozenset[str]
    """Words with a capital letter inside a sentence; none where everything is in capitals."""
    smalls: frozenset[str]
    """Words written in small letters somewhere."""


@lru_cache(maxsize=1 << 16)
def wording(text: str) -> Wording:
    """What a text says."""
    stem, shouts = stemmer("english"), text.isupper()
    words: set[str] = set()
    capitals: set[str] = set()
    smalls: set[str] = set()
    last = 0
    for word, start, end in token_spans(text):
        begins = not words or not _ENDS.isdisjoint(text[last:start])
        last = end
        words.add(word)
        if not text[start].isupper():
            smalls.add(word)
        elif not begins and not shouts:
            capitals.add(word)
    return Wording(
        words=frozenset(words),
        stems=frozenset(stem(word) for word in words - STOPWORDS),
        numbers=frozenset(word for word in words if word in _NUMBER_WORDS or any(map(str.isdigit, word))),
        capitals=frozenset(capitals - STOPWORDS),
        smalls=frozenset(smalls),
    )


def names_in(pool: Pool) -> frozenset[str]:
    """The words of a pool that are names: capital inside a sentence, and small in no candidate.

    Questions are often typed in small letters, so theirs count for nothing.
    """
    texts = [wording(text) for text in pool.answers]
    capitals = _union(text.capitals for text in (wording(pool.question), *texts))
    return capitals - _union(text.smalls for text in texts)


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*sets)


def shared_words(question: str, answer: str) -> tuple[Span, ...]:
    """Where the answer has content words of the question, whatever their endings."""
    stem, asked = stemmer("english"), wording(question).stems
    return tuple(
        Span(start, end, answer[start:end])
        for word, start, end in token_spans(answer)
        if word not in STOPWORDS and stem(word) in asked
    )
