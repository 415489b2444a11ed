"""Parts of a split that any dataset has, such as ``clean``, ``sample-100`` and ``rest-100``, all others.

More are in `perturb`.
"""

from __future__ import annotations

import hashlib
import heapq
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from demur.data.loaders import Subset
from demur.data.perturbing import perturb
from demur.errors import UnknownName
from demur.types import Pool

_SAMPLE = re.compile(r"(sample|rest)-(\d+)(?:-seed-(\d+))?")


def answerable(pools: Iterable[Pool]) -> Iterator[Pool]:
    """The pools with at least one positive."""
    return (pool for pool in pools if pool.positives)


def clean(pools: Iterable[Pool]) -> Iterator[Pool]:
    """The pools that are neither all-negative nor all-positive."""
    return (pool for pool in pools if 0 < pool.positives < len(pool))


def sample(pools: Iterable[Pool], count: int, seed: int = 0) -> Iterator[Pool]:
    """A random sample of pools, in their order; a smaller one with the same seed lies within a larger one.

    Each pool draws a number from its id, so the sample does not change when pools are added elsewhere. At
    most `count` pools are held.
    """
    kept: list[tuple[int, int, Pool]] = []
    for number, pool in enumerate(pools):
        drawn = hashlib.blake2b(f"{seed} {pool.id}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
        item = (-int.from_bytes(drawn), -number, pool)
        if len(kept) < count:
            heapq.heappush(kept, item)
        elif kept and item > kept[0]:
            heapq.heapreplace(kept, item)
    yield from (pool for _, _, pool in sorted(kept, key=lambda item: -item[1]))


def rest(pools: Iterable[Pool], count: int, seed: int = 0) -> Iterator[Pool]:
    """All pools but those of the sample, in their order; all are held."""
    held = list(pools)
    drawn = {id(pool) for pool in sample(held, count, seed)}
    yield from (pool for pool in held if id(pool) not in drawn)


def nonempty(pools: Iterable[Pool]) -> Iterator[Pool]:
    """The pools with at least one candidate."""
    return (pool for pool in pools if pool.candidates)


GENERAL: Mapping[str, Subset] = {"answerable": answerable, "clean": clean, "nonempty": nonempty}


def find_subset(name: str, own: Mapping[str, Subset], split: str) -> Subset:
    """The subset of a name: one of the dataset's own, a general one, or a sample."""
    if found := _SAMPLE.fullmatch(name):
        part = sample if found[1] == "sample" else rest
        return partial(part, count=int(found[2]), seed=int(found[3] or 0))
    if edited := perturb.edited_subset(name):
        return edited
    known = {**GENERAL, **own}
    if name not in known:
        raise UnknownName(f"subset of {split}", name, [*known, "sample-100", "rest-100", *perturb.EXAMPLES])
    return known[name]
