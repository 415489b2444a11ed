"""Pools taken together, so that a pair that stands in several is scored once and batches are full."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from demur.types import Pool


def stretches(pools: Iterable[Pool], pairs: int) -> Iterator[list[Pool]]:
    """The pools in order, so many at a time that they have `pairs` or more; at the end perhaps fewer."""
    held: list[Pool] = []
    count = 0
    for pool in pools:
        held.append(pool)
        count += len(pool)
        if count >= pairs:
            yield held
            held, count = [], 0
    if held:
        yield held
