"""What a question has that the likeliest row of an FAQ lacks: one thing for another, a condition, names.

A near miss, such as "Do you ship to Brazil?" where the row says Switzerland, is near in meaning, and often
far ahead of the next row. Without the two countries both questions are one. A paraphrase too has words that
the row lacks, but no pair of them is all that differs.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Callable, Sequence

import numpy as np

from demur.asking.quoting import asked, found, places
from demur.embedders.base import Vectors
from demur.kb.base import Passages
from demur.text import STOPWORDS, bare, token_spans
from demur.types import FloatArray

LACKS = "odd pair", "names", "added"
"""What is known of the first row; none is above 0.

- odd pair: how much of what is between the two questions goes when each loses what the other lacks: one to
  three neighbouring words. It is the gain in cosine, squared, as a share of what the cosine is below 1; times
  the square of the share of passages that have not the row's words, since what all have is no difference.
  For one number in place of another it is the share that goes, squared, if that is more
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
_NUMBER = re.compile(r"\d{1,3}(?:[ '’]\d{3})+(?:[.,]\d\d?)?(?!\d)|\d+(?:[.,:]\d+)*")
_GROUPED = re.compile(r"(\d{1,3}([ '’.,])\d{3}(?:\2\d{3})*|\d{1,2}(?:,\d\d)+,\d{3})([.,]\d\d?)?")
_HOUR = re.compile(r"(?<=\d)\s?(?:h|uhr)\s?(?=\d\d\b)", re.I)
_COUNTED = re.compile(r"^\s*(?:(?:q|question|frage)\s*)?\d+[.):]\s", re.I)  # as a list counts questions
_TELEPHONE = 6  # digits: shorter ones may be 1.10 and 110
_SPELT, _SHORT = 0.8, 5
"""Words of so many letters that have so much in common are one, misspelt."""


def lacks(
    question: str, own: str, text: str, library: Passages, embed: Callable[[Sequence[str]], Vectors]
) -> FloatArray:
    """The values of `LACKS` for a row with a question of its own, and with this text in all."""
    stem = library.stem
    words = lacking(question, text, stem)
    other = odd_number(question, own, text, stem, embed)
    if not words:
        return np.array([0.0 - other, *np.zeros(len(LACKS) - 1)])
    named = set(asked(" ".join(names(question)), stem)) & set(words)
    share = len(named) / len(asked(question, stem))
    pair, added = odd_phrases(question, words, own, library, embed)
    return 0.0 - np.array([max(pair, other), share, added])


def odd_number(
    question: str, own: str, text: str, stem: str, embed: Callable[[Sequence[str]], Vectors]
) -> float:
    """How far numbers are all that differs, where each question has one that the other lacks.

    It is the share of what is between them that goes without their numbers, squared: what is left of a near
    miss, such as another version, is nothing, and of another question nearly all.
    """
    asks, has = numbers(question), numbers(own)
    if not (set(asks) - {*has, *numbers(text)} and set(has) - set(asks)):
        return 0.0
    digits, others = ("".join(each).replace(".", "") for each in (asks, has))
    if digits == others and len(digits) >= _TELEPHONE:  # one number, or a date, parted in other ways
        return 0.0
    plain = [" ".join(_NUMBER.sub(" ", each).split()) for each in (question, own)]
    one, other = (sorted(asked(each, stem)) or [bare(each)] for each in plain)
    if one == other:  # but for words such as *is* and *the*
        return 1.0
    cosines = np.einsum(
        "nd,nd->n", *embed([question, plain[0], own, plain[1]]).astype(np.float64).reshape(2, 2, -1)
    )
    return float(max(cosines[1] - cosines[0], 0) / max(1 - cosines[0], 1e-6)) ** 2


def numbers(text: str) -> list[str]:
    """The numbers of a text, however they are written: 1.1 and 1.10 are two; 10:30 and 10.30 are one.

    So are 1,000, 1.000, 1 000 and 1000, 5.00 and 5, 09 and 9, 2019 and 19, and digits of other scripts.
    """
    text = _COUNTED.sub("", unicodedata.normalize("NFKC", text))
    text = _HOUR.sub(":", "".join(str(unicodedata.digit(each, each)) for each in text))
    return [_plain(each) for each in _NUMBER.findall(text)]


def _plain(number: str) -> str:
    if grouped := _GROUPED.fullmatch(number):
        number = re.sub(r"\D", "", grouped[1]) + (grouped[3] or "")
    parts = re.split(r"\D", re.sub(r"(?:[.,:]0{1,2})+$", "", number))
    return ".".join(re.sub(r"^20(?=\d\d$)", "", each).lstrip("0") for each in parts)


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
