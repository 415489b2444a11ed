"""The words of many texts at once, in numpy: `text.tokenize` without a Python loop, words as 64-bit hashes.

A word's hash is a polynomial of its characters modulo 2**64. Two different words among a million share a
hash with a chance below one in ten million.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from demur.text import ALONE, RUNS, fold, kind, stemmer
from demur.types import IntArray

HashArray = NDArray[np.uint64]
SketchArray = NDArray[np.int32]
Bytes = NDArray[np.uint8]

_P = 0x9E3779B97F4A7C15  # odd, so that powers never lose a bit
_UNKNOWN = 255
_CHUNK = 1 << 17  # characters read together: small enough for the processor's cache


@dataclass(frozen=True)
class Words:
    """The words of some texts, in reading order."""

    codes: Bytes  # per character, its ASCII code; 63 (a question mark) stands for all others
    places: IntArray  # where those others are
    others: NDArray[np.uint32]  # and what they are
    first: IntArray  # per word, the place of its first character
    last: IntArray  # per word, the place of its last
    counts: IntArray  # per text, its words

    @property
    def texts(self) -> IntArray:
        """Per word, the number of the text it stands in."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    def sketches(self) -> SketchArray:
        """Per word, a small number from its length and its outer characters: a cheap sieve before hashing."""
        first, last = self.first, self.last
        sketches: SketchArray = _ascii_sketches().take(self.codes.take(first))
        sketches *= 31
        sketches += _ascii_sketches().take(self.codes.take(last))
        sketches += (last - first).astype(np.int32)
        return sketches

    def hashes(self, which: IntArray | slice = slice(None)) -> HashArray:
        """The hashes of these words (all, or those at some positions)."""
        first, length = self.first[which], self.last[which] - self.first[which] + 1
        if not len(first):
            return np.empty(0, np.uint64)
        starts = np.cumsum(length) - length
        inside = np.arange(int(starts[-1] + length[-1])) - np.repeat(starts, length)
        at = np.repeat(first, length) + inside
        terms = _ascii_values()[self.codes[at]]
        if len(self.places):
            found = np.minimum(np.searchsorted(self.places, at), len(self.places) - 1)
            other = self.places[found] == at
            terms[other] = _mixed(self.others[found[other]].astype(np.uint64))
        terms *= _powers(1 << int(length.max()).bit_length())[inside]
        return np.add.reduceat(terms, starts)

    def stems(self, language: str) -> HashArray:
        """The hashes of all words with their endings cut."""
        hashes = self.hashes()
        if language == "none":
            return hashes
        known = _known_stems(language)
        if len(known) > _MOST_STEMS:
            known.clear()
        distinct, at, inverse = np.unique(hashes, return_index=True, return_inverse=True)
        new = [
            (word, place)
            for word, place in zip(distinct.tolist(), at.tolist(), strict=True)
            if word not in known
        ]
        if new:
            cut = stemmer(language)
            words = [self._word(place) for _, place in new]
            stems = [word if word.isdecimal() else cut(word) for word in words]  # numbers have no endings
            stem_hashes, counts = hash_words(stems)
            one = counts == 1  # what is cut to nothing stays as it is
            ends = np.cumsum(counts)
            for (word, _), single, end in zip(new, one.tolist(), ends.tolist(), strict=True):
                known[word] = int(stem_hashes[end - 1]) if single else word
        return np.array([known[word] for word in distinct.tolist()], np.uint64)[inverse]

    def _word(self, place: int) -> str:
        """A word as it is compared."""
        start, end = self.first[place], self.last[place] + 1
        letters = list(self.codes[start:end].tobytes().decode("ascii").lower())
        inside = slice(*np.searchsorted(self.places, (start, end)))
        for at, code in zip(
            (self.places[inside] - start).tolist(), self.others[inside].tolist(), strict=True
        ):
            letters[at] = chr(code)
        return "".join(letters)


_MOST_STEMS = 500_000
"""Words whose stems are remembered, of some 400 bytes each: people may ask for invented ones for ever."""


@cache
def _known_stems(language: str) -> dict[int, int]:
    """From the hash of a word to that of its stem, for the words met so far."""
    return {}


def read_words(texts: Sequence[str]) -> Words:
    """The words of a few texts, read as one."""
    folded = list(texts)
    for place in np.flatnonzero(~np.fromiter(map(str.isascii, texts), bool, len(texts))):
        folded[place] = fold(folded[place])  # what is ASCII is folded by _ascii_values
    codes, kinds, places, others = _characters("\n".join(folded))
    inside = kinds == RUNS
    edges = np.flatnonzero(inside[1:] != inside[:-1])  # the text begins and ends with a line feed
    first, last = edges[0::2] + 1, edges[1::2]
    if len(places) and len(alone := places[kinds[places] == ALONE]):
        first, last = (np.sort(np.concatenate((each, alone))) for each in (first, last))
    ends = np.cumsum(np.fromiter(map(len, folded), np.int64, len(folded)) + 1)
    return Words(codes, places, others, first, last, np.diff(np.searchsorted(first, ends), prepend=0))


def hash_words(texts: Sequence[str], stem: str = "none") -> tuple[HashArray, IntArray]:
    """The hashes of all words (or stems) of all texts, in reading order, and how many each text has."""
    hashes, counts = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
    for chunk in chunks(texts):
        words = read_words(chunk)
        hashes.append(words.stems(stem))
        counts.append(words.counts)
    return np.concatenate(hashes), np.concatenate(counts)


def chunks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """The texts in runs of about 130,000 characters."""
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)) + 1)
    start = 0
    while start < len(texts):
        before = int(ends[start - 1]) if start else 0
        end = max(start + 1, int(np.searchsorted(ends, before + _CHUNK, side="right")))
        yield texts[start:end]
        start = end


def _characters(text: str) -> tuple[Bytes, Bytes, IntArray, NDArray[np.uint32]]:
    """Codes and kinds of a text's characters, a line feed put around it; places and codes of the others."""
    narrow = b"\n" + text.encode("ascii", "replace") + b"\n"
    codes = np.frombuffer(narrow, np.uint8)
    kinds = np.frombuffer(narrow.translate(_ascii_kinds()), np.uint8)
    if text.isascii():
        return codes, kinds, np.empty(0, np.int64), np.empty(0, np.uint32)
    places = np.flatnonzero(codes == ord("?"))  # question marks among them do no harm
    if len(places) < len(text) // 50:
        others = np.array([ord(text[place - 1]) for place in places], np.uint32)
    else:
        wide = text.encode("utf-32-le", "surrogatepass")
        others = np.frombuffer(wide, np.dtype("<u4"))[places - 1]
    kinds = kinds.copy()
    kinds[places] = _kinds(others)
    return codes, kinds, places, others


@cache
def _ascii_kinds() -> bytes:
    return bytes([kind(chr(code)) for code in range(128)]) + bytes(128)


@cache
def _kind_table() -> Bytes:
    """The kind of every character, found out when it is first met."""
    return np.full(0x110000, _UNKNOWN, np.uint8)


def _kinds(codes: NDArray[np.uint32]) -> Bytes:
    table = _kind_table()
    for code in np.unique(codes[table[codes] == _UNKNOWN]):
        table[code] = kind(chr(code))
    return table[codes]


@cache
def _folded_bytes() -> IntArray:
    return np.array([ord(fold(chr(code))) for code in range(128)])


@cache
def _ascii_sketches() -> SketchArray:
    """Per character, a small number that spreads well when multiplied and added."""
    return (_folded_bytes() * 2654435761 % 65521).astype(np.int32)


@cache
def _ascii_values() -> HashArray:
    return _mixed(_folded_bytes().astype(np.uint64))


def _mixed(numbers: HashArray) -> HashArray:
    """Well-spread 64-bit values, different for different numbers (the finaliser of splitmix64)."""
    mixed = (numbers + np.uint64(1)) * np.uint64(_P)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


@lru_cache(maxsize=4)
def _powers(length: int) -> HashArray:
    """P**i for i below the length, modulo 2**64."""
    powers = np.full(length, _P, np.uint64)
    powers[0] = 1
    return np.multiply.accumulate(powers)
