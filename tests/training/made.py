"""Questions that can be learnt: the right answer has the object that belongs to the question's animal."""

from __future__ import annotations

from functools import cache

import numpy as np

from demur.types import Pool
from laws import toys

FOOD = {"goat": "grass", "hen": "corn", "duck": "worms", "fox": "mice", "owl": "voles", "cow": "hay"}


@cache
def words() -> str:
    """The spec of an embedder: a file of vectors, 12 wide, for all words here."""
    known = [*FOOD, *FOOD.values(), "eats", "never", "daily", "likes", "wants"]
    rows = np.random.default_rng(1).normal(size=(len(known), 12))
    lines = [f"{word} {' '.join(f'{x:.5f}' for x in row)}" for word, row in zip(known, rows, strict=True)]
    path = toys.folder() / "animals.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return f"words(vectors={path})"


def pools(count: int, seed: int = 0) -> list[Pool]:
    """Questions with four answers each, of which one or two are right."""
    draw = np.random.default_rng(seed)
    made = []
    for number in range(count):
        animal = str(draw.choice(list(FOOD)))
        others = [food for food in FOOD.values() if food != FOOD[animal]]
        wrong = [f"{draw.choice(['daily', 'likes', 'wants'])} {food}" for food in draw.choice(others, 3)]
        right = [
            f"{each} {FOOD[animal]}" for each in draw.choice(["daily", "likes"], int(draw.integers(1, 3)))
        ]
        labels = [1] * len(right) + [0] * len(wrong)
        made.append(Pool.of(f"{animal} eats", right + wrong, labels, id=f"{seed}-{number}"))
    return made
