"""A million short passages in a knowledge base: adding by words, memory, disk, and how soon they answer.

Vectors of passages are drawn at random: what is measured is the search, not how the encoder fills a base. A
question is embedded and read as always. Another number of passages is taken with DEMUR_BENCH_PASSAGES, for a
trial; only the million is to be kept. A tenth of them are asked in a base of their own.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.common import Row, at_most, below, disk, memory, seconds_once, sentences, told
from demur import processor
from demur.asking import Session
from demur.asking.gates.gate import NONE
from demur.asking.meaning.finding import maker
from demur.asking.packaged import MEANING
from demur.embedders.base import Vectors
from demur.kb.folder import KnowledgeBase

PASSAGES = int(os.environ.get("DEMUR_BENCH_PASSAGES", "1000000"))
WORDS = 20
PART = 100_000
QUESTIONS = 100
SPEED, MEMORY, DISK = 5_000, 3.0, 1.5  # passages a second, GB, GB
BY_WORDS, BY_MEANING = 0.05, 0.1  # seconds
ASKED, ASKED_TENTH, ASKED_AVX2 = 0.2, 0.1, 0.5


class Drawn:
    """Random vectors, the same for the same number of texts; they pass for the encoder's."""

    width = 384
    fingerprint = maker().fingerprint

    def __init__(self) -> None:
        self.draw = np.random.default_rng(0)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text."""
        return self.draw.standard_normal((len(texts), self.width)).astype(np.float32)


def run() -> list[Row]:
    """The rows, measured in a process of its own, as what a benchmark imports counts as memory."""
    tenth, found = (_in_a_process(count) for count in (PASSAGES // 10, PASSAGES))
    asked, asked_tenth = (ASKED, ASKED_TENTH) if _quick() else (ASKED_AVX2, ASKED_AVX2)
    speed, passages = found["passages"] / found["adding"], f"{found['passages']:,} passages"
    return [
        Row(
            what=f"{passages}: added by words, a second",
            found=f"{speed:,.0f}",
            goal=f">= {SPEED:,}",
            met=speed >= SPEED,
        ),
        at_most("memory while adding, at most", found["adding_memory"], MEMORY),
        at_most("memory with vectors and questions, at most", found["memory"], MEMORY),
        at_most("disk, vectors and all", found["disk"], DISK),
        told("  of it the truth and the index of words", f"{found['words_disk']:.2f} GB"),
        told("vectors kept, a second, without making them", f"{found['passages'] / found['embedding']:,.0f}"),
        told("opening it again, vectors and all", f"{found['opening']:.2f} s"),
        below("the best 100 by words: p50", statistics.median(found["words"]), BY_WORDS),
        told("  p95", f"{1000 * statistics.quantiles(found['words'], n=20)[-1]:.1f} ms"),
        below("the best 100 by meaning: p50", statistics.median(found["meanings"]), BY_MEANING),
        told("  p95", f"{1000 * statistics.quantiles(found['meanings'], n=20)[-1]:.1f} ms"),
        below("asked, from question to answer: p50", statistics.median(found["asked"]), asked),
        told("  p95", f"{1000 * statistics.quantiles(found['asked'], n=20)[-1]:.1f} ms"),
        below(f"of {tenth['passages']:,} passages: p50", statistics.median(tenth["asked"]), asked_tenth),
        told("  p95", f"{1000 * statistics.quantiles(tenth['asked'], n=20)[-1]:.1f} ms"),
    ]


def _quick() -> bool:
    """Whether products of bytes are quick here: only there a tenth of a second is the goal."""
    return any(name in str(processor.this_processor()) for name in ("AMX", "VNNI"))


def _in_a_process(passages: int) -> dict[str, Any]:
    """What is found of so many passages, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        for part in range(-(-passages // PART)):
            texts = sentences(min(PART, passages - part * PART), WORDS, seed=part)
            Path(folder, f"part{part}.txt").write_text("\n\n".join(texts), "utf-8")
        made = [sys.executable, "-m", "bench.kb", folder]
        found: dict[str, Any] = json.loads(subprocess.run(made, check=True, stdout=subprocess.PIPE).stdout)
    return found


def measured(folder: Path) -> dict[str, object]:
    """What is found of the files in a folder, added to a base beside them."""
    files = sorted(folder.glob("*.txt"))
    kb = KnowledgeBase(folder / "bench.kb")
    adding = seconds_once(lambda: kb.add(files))
    after_adding, words_disk = memory(), disk(folder / "bench.kb")
    embedding = seconds_once(lambda: kb.embed(Drawn()))
    kb.close()
    start = time.perf_counter()
    kb = KnowledgeBase(folder / "bench.kb")
    kb.refresh()
    opening = time.perf_counter() - start
    draw = random.Random(0)
    lines = files[0].read_text("utf-8").split("\n\n")
    questions = [" ".join(draw.sample(draw.choice(lines).split(), 8)) for _ in range(QUESTIONS)]
    vectors = Drawn().embed(questions)
    kb.by_words(questions[0], 100), kb.by_meaning(vectors[0], 100)
    session = Session.open(kb, MEANING, NONE)
    session.warm()
    session.ask(questions[0])
    return {
        "passages": len(kb),
        "adding": adding,
        "adding_memory": after_adding,
        "embedding": embedding,
        "words_disk": words_disk,
        "disk": disk(folder / "bench.kb"),
        "opening": opening,
        "words": [seconds_once(lambda q=each: kb.by_words(q, 100)) for each in questions],  # type: ignore[misc]
        "meanings": [seconds_once(lambda v=each: kb.by_meaning(v, 100)) for each in vectors],  # type: ignore[misc]
        "asked": [seconds_once(lambda q=each: session.ask(q)) for each in questions],  # type: ignore[misc]
        "memory": memory(),
    }


if __name__ == "__main__":
    print(json.dumps(measured(Path(sys.argv[1]))))
