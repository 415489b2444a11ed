"""Pools taken together by their pairs."""

from __future__ import annotations

import pytest

from demur.rankers.cross_encoders.pairs import stretches
from demur.types import Pool


def pool(count: int) -> Pool:
    return Pool.of("q", ["a"] * count)


def test_all_come_in_order_and_no_stretch_is_needlessly_long() -> None:
    sizes = [1, 5, 0, 2, 7, 1, 0]
    found = [[len(each) for each in some] for some in stretches(map(pool, sizes), 6)]
    assert found == [[1, 5], [0, 2, 7], [1, 0]]
    assert list(stretches([], 6)) == []
    assert [len(some) for some in stretches(map(pool, [3, 3]), 3)] == [1, 1]


def test_each_pool_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pools = [pool(1)] * 1000
    counted: list[Pool] = []

    def length(self: Pool) -> int:
        counted.append(self)
        return 1

    monkeypatch.setattr(Pool, "__len__", length)
    assert sum(len(some) for some in stretches(pools, 500)) == 1000
    assert len(counted) == 1000
