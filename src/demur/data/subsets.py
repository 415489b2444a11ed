"""Parts of a split that any dataset has, such as ``clean``, ``sample-100`` and ``rest-100``, all others.

``wikiqa/train/apart-wikiqa-test`` has nothing that stands in ``wikiqa/test``; see `datasets`. More are in
`perturb`.
"""

from __future__ import annotations

import hashlib
import heapq
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from demur.data.loaders import Subset
from demur.data.perturbing import perturb
from demur.errors import UnknownName
from demur.text import tokenize
from demur.types import Pool

SAYS_MUCH = 8
"""Words of a text that is not by chance the same as another's."""

APART = "apart-"

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


def apart(pools: Iterable[Pool], others: Iterable[Pool]) -> Iterator[Pool]:
    """The pools whose question is none of the others', without their passages of many words.

    Case, marks and white space are no difference. A pool that has no candidate left is left out.
    """
    asked, said = set[tuple[str, ...]](), set[tuple[str, ...]]()
    for pool in others:
        asked.add(tuple(tokenize(pool.question)))
        said.update(tuple(words) for text in pool.answers if len(words := tokenize(text)) >= SAYS_MUCH)
    for pool in pools:
        left = tuple(each for each in pool.candidates if tuple(tokenize(each.text)) not in said)
        if tuple(tokenize(pool.question)) not in asked and (left or not pool.candidates):
            yield replace(pool, candidates=left)


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
        examples = "sample-100", "rest-100", f"{APART}wikiqa-test", *perturb.EXAMPLES
        raise UnknownName(f"subset of {split}", name, [*known, *examples])
    return known[name]
