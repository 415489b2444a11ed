"""When two answers say the same, as SQuAD's evaluators have it."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")


def normalise(text: str) -> str:
    """The text in lower case, without ASCII punctuation and English articles, with single spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact(answer: str, golds: Iterable[str]) -> bool:
    """Whether an answer equals one of the golds; no golds mean that there is no answer."""
    said = normalise(answer)
    return said in (set(map(normalise, golds)) - {""} or {""})


def overlap(one: str, other: str) -> float:
    """F1 of the words that two answers share; two that say nothing agree, one that does agrees with none."""
    words, others = normalise(one).split(), normalise(other).split()
    if not words or not others:
        return float(words == others)
    shared = sum((Counter(words) & Counter(others)).values())
    return 2 * shared / (len(words) + len(others))
