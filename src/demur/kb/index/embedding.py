"""Vectors for the passages that have none yet, some at a time: what is done stays done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from demur.embedders.base import Vectors
from demur.kb.store.place import QUESTION, SEARCHED, Meanings
from demur.kb.store.truth import Truth

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


def embed(
    truth: Truth, meanings: Meanings, embedder: Embeds, advance: Callable[[int], None] | None = None
) -> int:
    """How many passages got vectors: those of the last generation that had none."""
    meanings.open(truth, embedder.fingerprint)
    now, done = truth.generation(), 0
    for new in meanings.lacking(truth, now):
        for start in range(0, len(new), _PART):
            part = new[start : start + _PART]
            entries = [(place, SEARCHED) for place, *_ in part]
            texts = [f"{heading}\n{text}" if heading else text for _, heading, text, _ in part]
            entries += [(place, QUESTION) for place, *_, question in part if question]
            texts += [question for *_, question in part if question]
            vectors = embedder.embed(texts)
            truth.check()
            meanings.add(entries, vectors, now)
            done += len(part)
            if advance is not None:
                advance(len(part))
    return done
