from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from demur.embedders.word_vectors.tables import Table
from demur.rankers.match_nets.word_numbers import Lexicon, Read
from demur.training import trainer
from demur.training.small_nets import cached_words
from demur.training.small_nets.cached_words import CachedWords
from demur.types import Pool
from laws import toys


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
    words = CachedWords(lexicon())
    first = words.read(["ape bee", "bee"])
    assert words.read(("ape bee", "bee")) is first and reads == [["ape bee", "bee"]]
    assert words.read(["bee"]).numbers.tolist() == [2] and len(reads) == 2
    assert (words.width, words.fingerprint) == (2, words.words.fingerprint)
    assert words.matrix is words.words.matrix


def test_what_is_large_is_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cached_words, "_MOST", 0)

    class Own(Counting):
        def read(self, texts: Sequence[str]) -> Read:
            found = super().read(texts)
            return Read(found.numbers, found.first, np.ones((1, 2), np.float32))

    words = CachedWords(Own(Table(["ape"], np.ones((1, 2), np.float32)), 0))
    reads.clear()
    words.read(["ape"])
    words.read(["ape"])
    assert len(reads) == 2 and words.last is None


def test_training_reads_a_dev_set_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Sequence[str]] = []
    read = Lexicon.read

    def noted(self: Lexicon, texts: Sequence[str]) -> Read:
        seen.append(texts)
        return read(self, texts)

    monkeypatch.setattr(Lexicon, "read", noted)
    pools = [Pool.of(f"ape {n}?", ["an ape", "a bee", "a cat"], [1, 0, 0], id=str(n)) for n in range(4)]
    dev = [Pool.of("which dev?", ["a dev ape", "a dev bee"], [1, 0])]
    first = trainer("match-pyramid", vectors=toys.vectors(), epochs=3, patience=0)
    started = first.train(pools, dev)
    assert sum("a dev ape" in texts for texts in seen) == 1
    seen.clear()
    trainer("adversarial", epochs=3, take="last").train(pools, dev, start=started)
    assert sum("a dev ape" in texts for texts in seen) == 1
