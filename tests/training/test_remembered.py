from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from demur.embedders.tables import Table
from demur.rankers.word_numbers import Lexicon, Read
from demur.training import remembered
from demur.training.remembered import Remembered


class Counting(Lexicon):
    """A lexicon that counts how often it reads."""

    def read(self, texts: Sequence[str]) -> Read:
        reads.append(list(texts))
        return super().read(texts)


reads: list[list[str]] = []


def lexicon() -> Counting:
    reads.clear()
    return Counting(Table(["ape", "bee"], np.eye(2, dtype=np.float32)), 0)


def test_texts_are_read_again_only_if_they_are_others() -> None:
    words = Remembered(lexicon())
    first = words.read(["ape bee", "bee"])
    assert words.read(("ape bee", "bee")) is first and reads == [["ape bee", "bee"]]
    assert words.read(["bee"]).numbers.tolist() == [2] and len(reads) == 2
    assert (words.width, words.fingerprint) == (2, words.words.fingerprint)
    assert words.matrix is words.words.matrix


def test_what_is_large_is_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "_MOST", 0)

    class Own(Counting):
        def read(self, texts: Sequence[str]) -> Read:
            found = super().read(texts)
            return Read(found.numbers, found.first, np.ones((1, 2), np.float32))

    words = Remembered(Own(Table(["ape"], np.ones((1, 2), np.float32)), 0))
    reads.clear()
    words.read(["ape"])
    words.read(["ape"])
    assert len(reads) == 2 and words.last is None
