"""Words that remember what they read last: a dev set is read once, and not after every epoch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from demur.embedders.base import Vectors
from demur.rankers.match_nets.word_numbers import Read, Words

_MOST = 1 << 28  # bytes of vectors that are held


@dataclass(eq=False)
class CachedWords(Words):
    """Other words, and what they said of the texts that they read last."""

    words: Words
    last: tuple[tuple[str, ...], Read] | None = field(default=None, repr=False)

    @property
    def width(self) -> int:
        """As of the other words."""
        return self.words.width

    @property
    def matrix(self) -> Vectors:
        """As of the other words."""
        return self.words.matrix

    @property
    def fingerprint(self) -> str:
        """As of the other words."""
        return self.words.fingerprint

    def read(self, texts: Sequence[str]) -> Read:
        """The words of each text."""
        texts = tuple(texts)
        if self.last is None or self.last[0] != texts:
            found = self.words.read(texts)
            if found.vectors is not None and found.vectors.nbytes > _MOST:
                return found
            self.last = texts, found
        return self.last[1]
