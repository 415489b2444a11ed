"""What tests of the knowledge base share: a small embedder, and passages as they come back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from demur.embedders.base import Vectors
from demur.kb.folder import KnowledgeBase
from demur.text import tokenize


class Hashing:
    """Texts as counts of their words' first letters; and so without any model."""

    fingerprint = "hashing"

    def __init__(self, breaks_after: int | None = None) -> None:
        self.left = breaks_after

    def embed(self, texts: Sequence[str]) -> Vectors:
        if self.left is not None:
            if not self.left:
                raise KeyboardInterrupt
            self.left -= 1
        vectors = np.zeros((len(texts), 70), np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            for word in tokenize(text):
                vector[(ord(word[0]) + 7 * len(word)) % 70] += 1
        return vectors


def write(folder: Path, texts: dict[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")


def folder(kb: KnowledgeBase) -> Path:
    """The folder of a base that is in one."""
    assert isinstance(kb.path, Path)
    return kb.path


def found(kb: KnowledgeBase, question: str) -> list[tuple[str, float]]:
    """What is found by words, and by meaning where there are vectors: texts and scores."""
    ranked = [kb.by_words(question, 10), kb.by_meaning(Hashing().embed([question])[0], 10)]
    return [
        (kb.passage(place).searched, round(score, 9))
        for places, scores in ranked
        for place, score in zip(places.tolist(), scores.tolist(), strict=True)
    ]


def held(kb: KnowledgeBase) -> dict[str, list[str]]:
    """The texts of each source, by the end of its name, as they were read."""
    rows = kb._truth().rows(
        "SELECT s.name, p.text FROM sources s LEFT JOIN occurrences o ON o.source = s.id "
        "LEFT JOIN passages p ON p.id = o.passage WHERE s.died IS NULL ORDER BY s.name, o.number"
    )
    texts: dict[str, list[str]] = {}
    for name, text in rows:
        texts.setdefault(Path(name).name, []).append(text)
    return texts
