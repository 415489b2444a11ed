"""Questions whose first answer is the surer right, the more words it shares."""

from __future__ import annotations

import numpy as np

from demur.types import Pool

QUESTION = "which ship sailed"


def pools(number: int, seed: int = 0, wrong: float = 0.5, name: str = "q") -> list[Pool]:
    """Questions whose first answer shares 1 to 3 words: 3 are mostly right, 1 is wrong at the rate given."""
    rng = np.random.default_rng(seed)
    made = []
    for place in range(number):
        words = int(rng.integers(1, 4))  # that the first candidate shares with the question
        right = rng.random() > 0.03 + wrong * (3 - words) / 2
        texts = [" ".join(QUESTION.split()[:words]), "nothing at all"]
        marks = [1, 0] if right else [0, int(rng.random() < 0.5)]
        made.append(Pool.of(QUESTION, texts, marks, id=f"{name}{place}"))
    return made
