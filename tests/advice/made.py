"""Pools of made-up words, whose vectors are half topic and half noise: what wins on them is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from demur.advice.methods import Method
from demur.types import Pool

TOPICS, VARIANTS = 12, 6


def vectors(folder: Path) -> str:
    """A file of vectors: of each word a little topic, and much noise that training can learn to leave out."""
    draws = np.random.default_rng(8)
    topics = np.linalg.qr(draws.normal(size=(TOPICS, TOPICS)))[0]
    lines = []
    for side in "qa":
        for topic in range(TOPICS):
            for variant in range(VARIANTS):
                row = np.concatenate([topics[topic], draws.normal(size=TOPICS)])
                lines.append(f"{side}{topic:02}{variant} " + " ".join(f"{number:.5f}" for number in row))
    path = folder / "made.txt"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return str(path)


def pools(count: int, by_words: bool, seed: int = 0) -> list[Pool]:
    """Questions with one right answer of four: of the same topic in other words, or one with its words."""
    draws = np.random.default_rng(seed)
    made = []
    for number in range(count):
        chosen = draws.permutation(TOPICS)[:4].tolist()
        question = _words("q", chosen[0], draws)
        answers = [_words("a", topic, draws) for topic in chosen]
        if by_words:
            answers[0] = f"{question} {_words('a', chosen[1], draws)}"
        order = draws.permutation(4).tolist()
        labels = [int(place == 0) for place in order]
        made.append(Pool.of(question, [answers[place] for place in order], labels, id=f"q{number}"))
    return made


def _words(side: str, topic: int, draws: np.random.Generator) -> str:
    return " ".join(f"{side}{topic:02}{variant}" for variant in draws.integers(0, VARIANTS, 3))


def methods(file: str) -> tuple[Method, ...]:
    """A ranker of words, one of vectors, and a net over the vectors."""
    words = f"words(vectors={file}, clean=plain)"
    how = "loss=pairwise, margin=0.3, early=none, epochs=20, learning_rate=0.02, dropout=0.1"
    spec = f'siamese(features="{words}", {how})'
    return (
        Method("bm25", "bm25"),
        Method("average", f"average(vectors={file}, clean=plain)"),
        Method("siamese", spec, trains=True, labels=True),
        Method("siamese + bm25", spec, trains=True, labels=True, beside="bm25"),
    )
