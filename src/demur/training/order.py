"""In which order a network sees what it learns from, and how much of it at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from demur.types import IntArray

_SORTED_TOGETHER = 1024  # among which batches of like length are made


def steps_of(
    longest: IntArray, sizes: Sequence[int], tokens: int, seed: int, epoch: int
) -> Iterator[list[int]]:
    """The places of each step of an epoch: shuffled, then put together by length within stretches.

    A place has `sizes` rows of at most `longest` tokens, and a step at most `tokens`, padding counted; a
    place that has more is a step by itself.
    """
    draws = np.random.default_rng([seed, epoch])
    order = draws.permutation(len(longest))
    found: list[list[int]] = []
    for at in range(0, len(order), _SORTED_TOGETHER):
        stretch = order[at : at + _SORTED_TOGETHER]
        step: list[int] = []
        held = 0
        for place in stretch[np.argsort(longest[stretch], kind="stable")].tolist():
            if step and (held + sizes[place]) * longest[place] > tokens:
                found.append(step)
                step, held = [], 0
            step.append(place)
            held += sizes[place]
        found.append(step)
    for number in draws.permutation(len(found)).tolist():
        yield found[number]
