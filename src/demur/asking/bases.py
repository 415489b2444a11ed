"""A knowledge base asked as a library is: its passages by their places, read when they are wanted."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from demur.asking.library import Documents, Library
from demur.kb.base import Passages
from demur.kb.passages import Passage
from demur.types import FloatArray, IntArray


class _Places:
    """Passages by their places; they need not be counted from 0."""

    def __init__(self, base: Passages) -> None:
        self._base = base

    def __getitem__(self, place: int) -> Passage:
        return self._base.passage(int(place))


class _Copies(_Places):
    def __getitem__(self, place: int) -> int:  # type: ignore[override]
        return self._base.copies(int(place)) + 1


class _Found:
    """What an index of a library gives, by a knowledge base."""

    def __init__(self, base: Passages) -> None:
        self._base = base

    def search(self, question: str, top: int = 10) -> tuple[IntArray, FloatArray]:
        return self._base.by_words(question, top)

    def idf(self, word: str) -> float:
        return self._base.idf(word)


class BaseLibrary(Library):
    """A knowledge base, as a session takes a library."""

    def __init__(self, base: Passages) -> None:
        self.base = base
        self.passages = _Places(base)  # type: ignore[assignment]
        self.copies = _Copies(base)  # type: ignore[assignment]
        self.index = _Found(base)  # type: ignore[assignment]
        self.stem = base.stem

    def __len__(self) -> int:
        return len(self.base)

    @property
    def fingerprint(self) -> str:
        """A hash of all that is searched, and how."""
        return self.base.fingerprint


def library_of(documents: Documents | Library | Passages, stem: str = "english") -> Library:
    """The documents made ready for questions; a library or a knowledge base is ready."""
    if isinstance(documents, Library):
        return documents
    if isinstance(documents, str | Path | Passage | Iterable):
        return Library(documents, stem)
    return BaseLibrary(documents)
