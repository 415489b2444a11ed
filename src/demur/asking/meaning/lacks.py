"""What a question has that the likeliest row of an FAQ lacks: one thing for another, a condition, names.

A near miss, such as "Do you ship to Brazil?" where the row says Switzerland, is near in meaning, and often
far ahead of the next row. Without the two countries both questions are one. A paraphrase too has words that
the row lacks, but no pair of them is all that differs.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence

import numpy as np

from demur.asking.meaning.numbers import differ, reordered, without_numbers, written
from demur.asking.meaning.opposites import opposed, turned, without_opposites
from demur.asking.quoting import asked, found, places
from demur.embedders.base import Vectors
from demur.kb.base import Passages
from demur.text import STOPWORDS, bare, token_spans, tokenize
from demur.types import FloatArray

LACKS = "odd pair", "names", "added"
"""What is known of the first row; none is above 0.

- odd pair: how much of what is between the two questions goes when each loses what the other lacks: one to
  three neighbouring words. It is the gain in cosine, squared, as a share of what the cosine is below 1; times
  the square of the share of passages that have not the row's words, since what all have is no difference.
  For one number in place of another, or *in* in place of *out*, it is the share that goes, squared, if
  that is more
- names: the share of the question's words that are names or numbers which the row lacks
- added: how much of what is between the two questions goes when the asked one loses a phrase that the row
  lacks, such as a condition; as for the odd pair, but the row's own stays whole
"""
_MOST = 8  # words from which phrases are made: the rarest
_LENGTH = 160  # over the words of a long text: so many of them, as each phrase is one more text to embed
_LONG = 3  # words of a phrase
_TITLED = 0.7  # where more words than that are written as names are, it is a title, and case says nothing
_FEW = 3  # words in which that cannot be seen
_ENDS = ".!?:"
_SPELT, _SHORT = 0.8, 5
"""Words of so many letters that have so much in common are one, misspelt."""


def lacks(
    question: str, own: str, text: str, library: Passages, embed: Callable[[Sequence[str]], Vectors]
) -> FloatArray:
    """The values of `LACKS` for a row with a question of its own, and with this text in all."""
    stem = library.stem
    words = lacking(question, text, stem)
    other = odd_one(question, own, stem, embed)
    if not words:
        return np.array([0.0 - other, *np.zeros(len(LACKS) - 1)])
    named = set(asked(" ".join(names(question)), stem)) & set(words)
    share = len(named) / len(asked(question, stem))
    pair, added = odd_phrases(question, words, own, library, embed)
    return 0.0 - np.array([max(pair, other), share, added])


def odd_one(question: str, own: str, stem: str, embed: Callable[[Sequence[str]], Vectors]) -> float:
    """How far numbers, or words such as *in* and *out*, are all that differs.

    Each question has one that the other lacks. It is the share of what is between them that goes without
    these, squared: what is left of a near miss, such as another version, is nothing, and of another question
    nearly all. It is 1 for the same numbers in another order, if all other words are the same and in order,
    and for *Word to PDF* in place of *PDF to Word*.
    """

    def words(text: str) -> list[str]:
        return asked(text, stem) or [bare(text)]

    if turned(question, own):
        return 1.0
    against = opposed(question, own)
    texts = [without_opposites(each) for each in (question, own)] if against else [question, own]
    asks, has = (written(each) for each in texts)
    one, other = (without_numbers(each) for each in (asks, has))
    if not differ(asks, has):
        if not against:
            return float(reordered(asks, has) and tokenize(one) == tokenize(other))
        one, other = asks, has
    if sorted(words(one)) == sorted(words(other)):  # but for words such as *is* and *the*
        return 1.0
    vectors = embed([question, one, own, other]).astype(np.float64).reshape(2, 2, -1)
    cosines = np.einsum("nd,nd->n", *vectors)
    return float(max(cosines[1] - cosines[0], 0) / max(1 - cosines[0], 1e-6)) ** 2


def odd_phrases(
    question: str,
    words: Sequence[str],
    own: str,
    library: Passages,
    embed: Callable[[Sequence[str]], Vectors],
) -> tuple[float, float]:
    """How far phrases that the other lacks are all that differs: one of each, or one of the first alone."""
    stem = library.stem

    def phrases_of(text: str, lacked: Sequence[str]) -> list[tuple[int, int]]:
        most = min(_MOST, max(2, _LENGTH // (len(text.split()) or 1)))
        rarest = sorted(lacked, key=library.idf, reverse=True)[:most]
        return phrases(text, rarest, stem)[: most * _LONG]  # a word may stand in a text again and again

    lacked = lacking(own, question, stem)
    theirs, ours = phrases_of(question, words), phrases_of(own, lacked)
    if not theirs:
        return 0.0, 0.0
    asks = [question, *(without(question, *each) for each in theirs)]
    vectors = embed([*asks, own, *(without(own, *each) for each in ours)]).astype(np.float64)
    cosines = vectors[: len(asks)] @ vectors[len(asks) :].T

    def lack(text: str, some: Sequence[tuple[int, int]]) -> FloatArray:
        """About the share of passages that lack the rarest word of each phrase."""
        rarest = [max(map(library.idf, asked(text[slice(*each)], stem)), default=0.0) for each in some]
        return np.asarray(1 - np.exp(-np.array(rarest)), np.float64)

    gains = np.maximum(cosines[1:] - cosines[0, 0], 0) ** 2 / max(1 - cosines[0, 0], 1e-6)
    two = np.array(
        [[not spelt_alike(question[slice(*one)], own[slice(*other)]) for other in ours] for one in theirs]
    ).reshape(len(theirs), len(ours))
    pairs = gains[:, 1:] * two * lack(own, ours) ** 2
    return float(pairs.max(initial=0)), float((gains[:, 0] * lack(question, theirs) ** 2).max())


def lacking(question: str, text: str, stem: str) -> list[str]:
    """The words of a question that carry meaning, and that a text lacks, whatever their endings."""
    words = asked(question, stem)
    there = set(found(words, text, stem))
    return [word for word in words if word not in there]


def phrases(text: str, words: Sequence[str], stem: str) -> list[tuple[int, int]]:
    """Where these words stand, alone and up to three of them side by side, from start to end."""
    spans = places(words, text, stem)
    return [
        (start, spans[last][1])
        for first, (start, _) in enumerate(spans)
        for last in range(first, min(first + _LONG, len(spans)))
        if all(spans[at + 1][0] - spans[at][1] == 1 for at in range(first, last))
    ]


def without(text: str, start: int, end: int) -> str:
    """The text but for what stands there."""
    return " ".join((text[:start] + text[end:]).split())


def spelt_alike(one: str, other: str) -> bool:
    """Whether two words are one, but for a letter or two that are neither digits nor the first."""
    one, other = one.lower(), other.lower()
    if min(len(one), len(other)) < _SHORT or one[0] != other[0] or any(map(str.isdigit, one + other)):
        return False
    return difflib.SequenceMatcher(None, one, other).ratio() >= _SPELT


def names(question: str) -> list[str]:
    """The words with a digit, and those with capital letters that do not come from where they stand."""
    spans = list(token_spans(question))
    gaps = zip([0, *(end for _, _, end in spans)], [start for _, start, _ in spans], strict=False)
    begins = [at == 0 or bool(set(_ENDS) & set(question[slice(*gap)])) for at, gap in enumerate(gaps)]
    raw = [question[start:end] for _, start, end in spans]
    inside = [
        each[0].isupper()
        for each, (word, *_), first in zip(raw, spans, begins, strict=True)
        if not first and word not in STOPWORDS
    ]
    by_case = not question.isupper() and (len(inside) <= _FEW or np.mean(inside) <= _TITLED)
    kept = []
    for each, (word, *_), first in zip(raw, spans, begins, strict=True):
        capital = by_case and word not in STOPWORDS and any(map(str.isupper, each[first:]))
        if capital or any(map(str.isdigit, each)):
            kept.append(word)
    return kept
