"""Pools taken together by their pairs."""

from __future__ import annotations

import time

from demur.rankers.stretches import stretches
from demur.types import Pool


def pool(count: int) -> Pool:
    return Pool.of("q", ["a"] * count)


def test_all_come_in_order_and_no_stretch_is_needlessly_long() -> None:
    sizes = [1, 5, 0, 2, 7, 1, 0]
    found = [[len(each) for each in some] for some in stretches(map(pool, sizes), 6)]
    assert found == [[1, 5], [0, 2, 7], [1, 0]]
    assert list(stretches([], 6)) == []
    assert [len(some) for some in stretches(map(pool, [3, 3]), 3)] == [1, 1]


def test_many_small_pools_take_no_longer_each() -> None:
    pools = [pool(1)] * 100_000
    started = time.process_time()
    assert sum(len(some) for some in stretches(pools, 50_000)) == 100_000
    assert time.process_time() - started < 2, "counting anew for each takes minutes"
