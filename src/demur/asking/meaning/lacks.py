"""What a question has that the likeliest row of an FAQ lacks: an odd word, and names and numbers.

A near miss, such as "Do you ship to Brazil?" where the row says Switzerland, is near in meaning, and often
far ahead of the next row. A paraphrase too has words that the row lacks, but each brings it nearer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from demur.asking.quoting import asked, found, places
from demur.embedders.base import Vectors
from demur.kb.base import Passages
from demur.text import STOPWORDS, token_spans
from demur.types import FloatArray

LACKS = "odd word", "odd pair", "names"
"""What is known of the first row; none is above 0.

- odd word: by how much the question would be nearer to it without one of the words that it lacks
- odd pair: by how much the two questions would be nearer without such a word of the one, and one of the row's
  own question that is lacked in turn; squared, so a little is nothing
- names: the share of the question's words that are names or numbers which the row lacks
"""
_MOST = 8  # words that are left out, one at a time: the rarest
_TITLED = 0.7  # where more words than that are written as names are, it is a title, and case says nothing
_FEW = 3  # words in which that cannot be seen
_ENDS = ".!?:"


@dataclass(frozen=True)
class Row:
    """The question of a row of an FAQ, all the text of the row, and how near vectors are to it."""

    question: str
    text: str
    near: Callable[[Vectors], FloatArray]


def lacks(
    question: str, row: Row, library: Passages, embed: Callable[[Sequence[str]], Vectors]
) -> FloatArray:
    """The values of `LACKS` for a row."""
    stem = library.stem
    words = lacking(question, row.text, stem)
    if not words:
        return np.zeros(len(LACKS))
    asks, owns = (
        [one, *(without(one, word, stem) for word in sorted(some, key=library.idf, reverse=True)[:_MOST])]
        for one, some in ((question, words), (row.question, lacking(row.question, question, stem)))
    )
    vectors = embed([*asks, *owns])
    near = row.near(vectors[: len(asks)])
    pairs = (vectors[: len(asks)] @ vectors[len(asks) :].T).astype(np.float64)
    pair = max(0.0, float((pairs[1:, 1:] - pairs[0, 0]).max(initial=0)))
    named = set(asked(" ".join(names(question)), stem)) & set(words)
    share = len(named) / len(asked(question, stem))
    return 0.0 - np.array([max(0.0, float((near[1:] - near[0]).max())), pair**2, share])


def lacking(question: str, text: str, stem: str) -> list[str]:
    """The words of a question that carry meaning, and that a text lacks, whatever their endings."""
    words = asked(question, stem)
    there = set(found(words, text, stem))
    return [word for word in words if word not in there]


def without(question: str, word: str, stem: str) -> str:
    """The question without a word, whatever its endings."""
    kept, end = [], 0
    for start, stop in places([word], question, stem):
        kept.append(question[end:start])
        end = stop
    return " ".join("".join([*kept, question[end:]]).split())


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
