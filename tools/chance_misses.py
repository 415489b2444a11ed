"""Near misses, which forums hardly have: a question of an FAQ with a word replaced has no answer there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from demur.asking.library import Library
from demur.asking.meaning.finding import maker
from demur.asking.quoting import asked, found, places
from demur.types import Pool

SAME = 0.6
"""The cosine from which on two words may mean the same."""


def near_misses(some: Iterable[tuple[Pool, Library]]) -> Iterator[tuple[Pool, Library]]:
    """Each question with the rarest word that it shares with its row replaced by the nearest other word.

    That is a word of another question. So Sunday may become Friday, and the row is no answer any more.
    """
    pools = list(some)
    words = sorted({word for pool, library in pools for word in asked(pool.question, library.stem)})
    vectors = maker().embed(words)
    for pool, library in pools:
        row = "\n".join((pool.question, *(each.text for each in pool.candidates)))
        shared = found(asked(pool.question, library.stem), pool.candidates[0].text, library.stem)
        if not shared:
            continue
        word = max(shared, key=library.idf)
        alike = vectors @ vectors[words.index(word)]
        others = set(words) - set(found(words, row, library.stem))
        near = [alike[at] if each in others and alike[at] < SAME else -1.0 for at, each in enumerate(words)]
        question = _replaced(pool.question, word, words[int(np.argmax(near))], library.stem)
        gone = tuple(replace(each, label=0) for each in pool.candidates)
        yield replace(pool, question=question, candidates=gone), library


def _replaced(question: str, word: str, other: str, stem: str) -> str:
    """The question with one word for another, written with as many capitals."""
    for start, end in reversed(places([word], question, stem)):
        raw = question[start:end]
        written = other.upper() if raw[1:].isupper() else other.title() if raw[0].isupper() else other
        question = question[:start] + written + question[end:]
    return question
