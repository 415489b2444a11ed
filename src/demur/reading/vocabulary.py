"""Words and letters as numbers, for a reader that learnt them: 0 fills up, 1 is all that is not known."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from demur.text import fold, token_spans
from demur.types import IntArray

LONGEST = 16  # letters of a word that are looked at
_KNOWN_FROM = 2
_MOST_LETTERS = 1000
_MOST_WORDS = 50_000

Numbers = NDArray[np.int32]
Letters = NDArray[np.int16]


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The words and letters that are known; the first of each has the number 2."""

    words: Sequence[str]
    letters: str

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words, _KNOWN_FROM)}

    @cached_property
    def _letters(self) -> dict[str, int]:
        return {letter: number for number, letter in enumerate(self.letters, _KNOWN_FROM)}

    @property
    def sizes(self) -> tuple[int, int]:
        """How many numbers there are for words and for letters."""
        return _KNOWN_FROM + len(self.words), _KNOWN_FROM + len(self.letters)

    def read(self, text: str) -> tuple[Numbers, Letters, IntArray]:
        """The number of each word, the numbers of its letters, and where it starts and ends."""
        places = list(spans(text))
        letters = np.zeros((len(places), LONGEST), np.int16)
        for row, (start, end) in enumerate(places):
            spelt = [self._letters.get(letter, 1) for letter in text[start : min(end, start + LONGEST)]]
            letters[row, : len(spelt)] = spelt
        words = [self._numbers.get(fold(text[start:end]), 1) for start, end in places]
        return np.array(words, np.int32), letters, np.array(places, np.int64).reshape(-1, 2)


def learnt(texts: Iterable[str], minimum_count: int = 2, given: Iterable[str] = ()) -> tuple[Vocabulary, int]:
    """The words that occur in `minimum_count` texts, then those `given`; and how many of these there are.

    Of the words given, the first ones are kept, and those that occur.
    """
    counts: Counter[str] = Counter()
    letters: Counter[str] = Counter()
    for text in texts:
        letters.update(text)
        counts.update({fold(text[start:end]) for start, end in spans(text)})
    named = dict.fromkeys(map(fold, given))
    last = [word for place, word in enumerate(named) if place < _MOST_WORDS or word in counts]
    first = [word for word, count in _ordered(counts) if count >= minimum_count and word not in named]
    known = "".join(letter for letter, _ in _ordered(letters)[:_MOST_LETTERS])
    return Vocabulary([*first, *last], known), len(last)


def spans(text: str) -> Iterator[tuple[int, int]]:
    """Where each word starts and ends, and each sign between them that is not space."""
    before = 0
    for _, start, end in token_spans(text):
        yield from _signs(text, before, start)
        yield start, end
        before = end
    yield from _signs(text, before, len(text))


def _signs(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for place in range(start, end):
        if unicodedata.category(text[place])[0] in "PS":
            yield place, place + 1


def _ordered(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda each: (-each[1], each[0]))
