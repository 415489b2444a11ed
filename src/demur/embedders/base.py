"""What every embedder is: a vector for each text, and a vector for each word of a text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demur.specs import Spelled
from demur.types import IntArray

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Tokens:
    """The words of some texts that have a vector, text after text, each as often as it occurs."""

    vectors: Vectors  # words × width
    counts: IntArray  # per text: how many of the words are its own
    words: tuple[str, ...]  # per word: how it is compared
    spans: IntArray  # words × 2: where it starts and ends in its text as written; text[start:end] shows it


class Embedder(Spelled, ABC):
    """A frozen dataclass whose fields are its settings. Equal texts get equal vectors."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many numbers a vector has."""

    @property
    def kept_as(self) -> str:
        """The fingerprint, with what else moves vectors on this machine: by it they are kept."""
        return self.fingerprint

    @abstractmethod
    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, zeros for one without a known word; each different text is done once."""

    @abstractmethod
    def tokens(self, texts: Sequence[str], words: str = "content") -> Tokens:
        """The words of each text with their vectors; ``content`` leaves out stop words, ``all`` does not."""
