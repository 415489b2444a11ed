"""What is added to a base to measure it, and what is asked of it."""

from __future__ import annotations

import json
import os
import random
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.common import sentences
from demur import data
from demur.asking.meaning import finding
from demur.embedders.base import Vectors

WORDS, PART, QUESTIONS, WIDTH = 20, 20_000, 100, 384
REAL, ABOUT = ("squad-t/train", "squad-t/dev", "wikiqa/train"), "squad-t/dev"
SHORT, LONG = 20, 500  # characters of a real passage: longer ones would be cut into parts
_SPREAD = 0.8  # how far vectors lie from their centre, beside its own length


class Drawn:
    """Vectors about a thousand centres, the same for the same text."""

    fingerprint = "drawn"

    def __init__(self) -> None:
        self.centres = np.random.default_rng(0).standard_normal((1000, WIDTH)).astype(np.float32)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text."""
        seeds = [zlib.crc32(text.encode()) for text in texts]
        away = [np.random.default_rng(seed).standard_normal(WIDTH, np.float32) for seed in seeds]
        found: Vectors = self.centres[[seed % len(self.centres) for seed in seeds]] + _SPREAD * np.stack(away)
        return found


class Made:
    """Vectors that were made before, of these texts alone."""

    fingerprint = "made"

    def __init__(self, texts: Sequence[str], vectors: Vectors) -> None:
        self.rows, self.vectors = {text: row for row, text in enumerate(texts)}, vectors

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text."""
        found: Vectors = self.vectors[[self.rows[text] for text in texts]]
        return found


@dataclass(frozen=True)
class Asked:
    """What is added, and what is asked of it."""

    passages: list[str]
    questions: list[str]
    embedder: Drawn | Made

    def save(self, folder: Path) -> None:
        """Write it, for another process."""
        (folder / "asked.json").write_text(json.dumps([self.passages, self.questions]), "utf-8")
        if isinstance(self.embedder, Made):
            np.save(folder / "vectors.npy", self.embedder.vectors)

    @classmethod
    def kept(cls, folder: Path) -> Asked:
        """What another process has written."""
        passages, questions = json.loads((folder / "asked.json").read_text("utf-8"))
        vectors = folder / "vectors.npy"
        made = Made(passages + questions, np.load(vectors)) if vectors.exists() else Drawn()
        return cls(passages, questions, made)

    @classmethod
    def real(cls, passages: int) -> Asked | None:
        """Sentences of Wikipedia, questions about them, the encoder's vectors; None if there are too few.

        Vectors are kept in the cache: to make them takes longer than all that is measured.
        """
        if not os.environ.get("DEMUR_DATA"):
            return None
        pools = (pool for name in REAL for pool in data.pools(name))
        texts = dict.fromkeys(" ".join(each.text.split()) for pool in pools for each in pool.candidates)
        chosen = [text for text in texts if SHORT < len(text) < LONG][:passages]
        if len(chosen) < passages:
            return None
        found = list(dict.fromkeys(pool.question for pool in data.pools(ABOUT)))
        asked = random.Random(0).sample(found, QUESTIONS)
        return cls(chosen, asked, Made(chosen + asked, finding.vectors(chosen + asked)))

    @classmethod
    def drawn(cls, passages: int) -> Asked:
        """Made-up sentences, eight words of some of them, and drawn vectors."""
        parts = range(-(-passages // PART))
        drawn = [
            text for part in parts for text in sentences(min(PART, passages - part * PART), WORDS, seed=part)
        ]
        draw = random.Random(0)
        asked = [" ".join(draw.sample(draw.choice(drawn[:PART]).split(), 8)) for _ in range(QUESTIONS)]
        return cls(drawn, asked, Drawn())
