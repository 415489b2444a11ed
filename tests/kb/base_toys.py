"""What tests of the knowledge base share: a small embedder, and passages as they come back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from demur.embedders.base import Vectors
from demur.kb.folder import KnowledgeBase
from demur.kb.lance.lake import rows
from demur.kb.lance.truth import PublishedTruth
from demur.kb.passages import Passage
from demur.kb.store.truth import Truth
from demur.text import tokenize

_HELD = (
    "SELECT s.name, p.text FROM sources s LEFT JOIN occurrences o ON o.source = s.id "
    "LEFT JOIN passages p ON p.id = o.passage WHERE s.died IS NULL ORDER BY s.name, o.number"
)


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
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
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
    truth = kb._truth()
    found = _published(truth) if isinstance(truth, PublishedTruth) else truth.rows(_HELD)
    texts: dict[str, list[str]] = {}
    for name, text in found:
        texts.setdefault(Path(name).name, []).append(text)
    return texts


def _published(truth: Truth) -> list[tuple[str, str | None]]:
    """The same of a base on an object store, whose tables are no SQL's."""
    assert isinstance(truth, PublishedTruth)
    truth.check()
    view = truth._last
    stand = sorted(rows(view.occurrences, ["source", "number", "passage"]), key=lambda row: row["number"])
    texts = view.of(sorted({row["passage"] for row in stand}))
    names = sorted((name, id) for id, name in view.names.items())
    found: list[tuple[str, str | None]] = []
    for name, id in names:
        mine = [texts[row["passage"]]["text"] for row in stand if row["source"] == id]
        found += [(name, text) for text in mine] or [(name, None)]
    return found


CHANGES: dict[str, Callable[[KnowledgeBase], object]] = {
    "put": lambda kb: kb.put("one", [Passage("1", "A rake is lent too.")]),
    "update": KnowledgeBase.update,
    "remove": lambda kb: kb.remove("one"),
    "rebuild": KnowledgeBase.rebuild,
    "embed": lambda kb: kb.embed(Hashing()),
    "label": lambda kb: kb.label("what is lent?", None, 0),
    "forget": lambda kb: kb.forget("was it lent?"),
    "keep questions": lambda kb: kb.keep_questions(["who lends?"]),
    "refresh": KnowledgeBase.refresh,
}
"""What is done to a base that is there, in a folder or elsewhere."""
