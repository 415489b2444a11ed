"""Batches run side by side, and end once nobody wants them."""

from __future__ import annotations

from threading import Event

import pytest

from demur import runtime


def test_batches_end_once_nobody_wants_them() -> None:
    stop, done = Event(), []

    def run(batch: int) -> None:
        done.append(batch)
        if batch == 3:
            stop.set()

    with pytest.raises(runtime.Stopped), runtime.until(stop):
        runtime.side_by_side(run, range(100), threads=1)
    assert done == [0, 1, 2, 3]
    with pytest.raises(runtime.Stopped), runtime.until(stop):
        runtime.side_by_side(run, range(4, 100), threads=2)
    assert done == [0, 1, 2, 3]
    runtime.side_by_side(run, range(4, 8), threads=2)
    assert sorted(done) == list(range(8)), "outside of the block nothing is stopped"
