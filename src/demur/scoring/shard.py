"""A shard in its file: JSONL, in which extras may have any name where the result is not JSONL itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from demur.data import formats
from demur.types import Pool

_TAKEN = frozenset({"id", "question", "candidates", "text", "label", "extra"})
Extra = Mapping[str, Any]


def write_shard(part: Path, pools: Iterable[Pool], write_as: str) -> None:
    """Write pools that are to be joined into this format."""
    formats.write_pools(part, (held(pool, write_as) for pool in pools), "jsonl")


def read_shard(part: Path, write_as: str) -> Iterator[Pool]:
    """The pools that were written there."""
    pools = formats.read_pools(part, "jsonl")
    return pools if write_as == "jsonl" else (_each_extra(pool, _taken_out) for pool in pools)


def held(pool: Pool, write_as: str) -> Pool:
    """A pool as its line in a shard has it."""
    return pool if write_as == "jsonl" else _each_extra(pool, _put_in)


def _put_in(extra: Extra) -> Extra:
    return extra if _TAKEN.isdisjoint(extra) else {"extra": dict(extra)}


def _taken_out(extra: Extra) -> Extra:
    found: Extra = extra.get("extra", extra)
    return found


def _each_extra(pool: Pool, change: Callable[[Extra], Extra]) -> Pool:
    """The pool with its extras changed; the same one if none is."""
    changed = [change(one.extra) for one in pool.candidates]
    own = change(pool.extra)
    if own is pool.extra and all(new is one.extra for new, one in zip(changed, pool.candidates, strict=True)):
        return pool
    pairs = zip(pool.candidates, changed, strict=True)
    return replace(pool, candidates=tuple(replace(one, extra=new) for one, new in pairs), extra=own)
