"""Vectors for the passages that have none yet, some at a time: what is done stays done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from demur.embedders.base import Vectors
from demur.kb.index.meanings import QUESTION, SEARCHED, Meanings
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
    meanings.load()
    now = truth.generation()
    there = np.unique(meanings.passages)
    alive = np.array(
        [place for (place,) in truth.rows("SELECT id FROM passages WHERE died IS NULL")], np.int64
    )
    known = truth.rows("SELECT id FROM passages WHERE died IS NOT NULL")  # others may still read these
    kept = np.concatenate([alive, np.array([place for (place,) in known], np.int64)])
    meanings.drop(np.setdiff1d(there, kept).tolist())
    done = 0
    for rows in truth.texts(0, now):
        missing = ~np.isin([row[0] for row in rows], there)
        new = [row for row, wanted in zip(rows, missing.tolist(), strict=True) if wanted]
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
