"""A sample and the rest are the whole."""

from __future__ import annotations

from demur.data.subsets import find_subset
from demur.types import Pool

POOLS = [Pool.of("who?", ["ann"], id=str(n)) for n in range(40)]


def ids(name: str) -> list[str]:
    return [pool.id for pool in find_subset(name, {}, "toy/test")(POOLS)]


def test_the_rest_is_all_that_the_sample_is_not() -> None:
    for part in ("12", "12-seed-3", "0", "40", "50"):
        drawn, others = ids(f"sample-{part}"), ids(f"rest-{part}")
        assert sorted(drawn + others) == sorted(pool.id for pool in POOLS)
        assert others == [pool.id for pool in POOLS if pool.id in set(others)], "in their order"
    assert ids("rest-12") != ids("rest-12-seed-3")
