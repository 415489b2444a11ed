"""Vectors for the passages that have none yet, some at a time: what is done stays done."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from demur.embedders.base import Vectors
from demur.errors import DamagedVectors
from demur.kb.passages import searched
from demur.kb.store.place import QUESTION, SEARCHED, Meanings
from demur.kb.store.truth import Row, Truth

_PART = 128  # passages that are embedded together, and kept together


class Embeds(Protocol):
    """What makes vectors of texts: an embedder of demur, or anything with these two."""

    @property
    def fingerprint(self) -> str:
        """What tells it from others, whose vectors do not go with its own."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text."""
        ...


@runtime_checkable
class EmbedsMany(Embeds, Protocol):
    """What makes vectors of several parts at once."""

    def embed_many(self, parts: Iterator[Sequence[str]]) -> Iterator[Vectors]:
        """The vectors of each part, in the order of the parts; some parts may be read ahead."""
        ...


@dataclass(frozen=True)
class _Part:
    """Passages whose vectors are made and kept together."""

    passages: int
    entries: list[tuple[int, int]]
    texts: list[str]


def embed(
    truth: Truth, meanings: Meanings, embedder: Embeds, advance: Callable[[int], None] | None = None
) -> int:
    """How many passages got vectors: those of the last generation that had none."""
    try:
        return _embed(truth, meanings, embedder, advance)
    except DamagedVectors:  # they are removed, so all are made anew
        return _embed(truth, meanings, embedder, advance)


def _embed(truth: Truth, meanings: Meanings, embedder: Embeds, advance: Callable[[int], None] | None) -> int:
    meanings.open(truth, embedder.fingerprint)
    now, done = truth.generation(), 0
    for part, vectors in _made(embedder, _parts(meanings.lacking(truth, now))):
        truth.check()
        meanings.add(part.entries, vectors, now)
        done += part.passages
        if advance is not None:
            advance(part.passages)
    return done


def _parts(lacking: Iterator[list[Row]]) -> Iterator[_Part]:
    for new in lacking:
        for start in range(0, len(new), _PART):
            part = new[start : start + _PART]
            entries = [(place, SEARCHED) for place, *_ in part]
            texts = [searched(heading, text) for _, heading, text, _ in part]
            entries += [(place, QUESTION) for place, *_, question in part if question]
            texts += [question for *_, question in part if question]
            yield _Part(len(part), entries, texts)


def _made(embedder: Embeds, parts: Iterator[_Part]) -> Iterator[tuple[_Part, Vectors]]:
    """Each part with its vectors."""
    if not isinstance(embedder, EmbedsMany):
        for part in parts:
            yield part, embedder.embed(part.texts)
        return
    waiting: deque[_Part] = deque()

    def texts() -> Iterator[Sequence[str]]:
        for part in parts:
            waiting.append(part)
            yield part.texts

    for vectors in embedder.embed_many(texts()):
        yield waiting.popleft(), vectors
