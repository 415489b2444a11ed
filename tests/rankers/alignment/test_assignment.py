from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linear_sum_assignment

from demur.rankers.alignment.assignment import Grids, exact, maxsim
from demur.types import FloatArray, IntArray

SIDES = st.integers(1, 6)
NUMBERS = st.one_of(st.integers(-3, 3).map(float), st.floats(-5, 5, width=32))  # the whole numbers tie often
GRID = st.tuples(SIDES, SIDES).flatmap(lambda shape: arrays(np.float64, shape, elements=NUMBERS))
SOME = st.lists(GRID, min_size=1, max_size=5)


def grids(some: Sequence[FloatArray]) -> Grids:
    """The grids with their rows mixed: the first row of each, then the second of each, and so on."""
    mixed = sorted((row, number) for number, grid in enumerate(some) for row in range(len(grid)))
    return Grids(
        cells=np.concatenate([some[number][row] for row, number in mixed]),
        lengths=np.array([some[number].shape[1] for _, number in mixed]),
        pair=np.array([number for _, number in mixed]),
        columns=np.array([grid.shape[1] for grid in some]),
    )


def of_grid(made: Grids, given: IntArray, number: int) -> list[int]:
    return [int(column) for column in given[made.pair == number]]


def total(grid: FloatArray, columns: Sequence[int]) -> float:
    return float(sum(grid[row, column] for row, column in enumerate(columns) if column >= 0))


def largest_sum(grid: FloatArray) -> float:
    """The largest sum of all ways to pair one to one, each of them tried."""
    grid = grid if len(grid) <= grid.shape[1] else grid.T
    return float(grid[np.arange(len(grid)), ways(*grid.shape)].sum(axis=1).max())


@cache
def ways(rows: int, columns: int) -> IntArray:
    """All ways to give each row a column of its own."""
    return np.array(list(permutations(range(columns), rows)))


@given(SOME)
def test_exact_is_the_largest_of_all_pairings(some: list[FloatArray]) -> None:
    made = grids(some)
    given = exact(made)
    for number, grid in enumerate(some):
        columns = of_grid(made, given, number)
        paired = [column for column in columns if column >= 0]
        assert len(set(paired)) == len(paired) == min(grid.shape)
        assert total(grid, columns) == pytest.approx(largest_sum(grid), abs=1e-9)


@given(SOME, st.integers(-4, 4))
def test_adding_a_constant_moves_the_sum_by_it_for_each_pair(some: list[FloatArray], constant: int) -> None:
    made, shifted = grids(some), grids([grid + constant for grid in some])
    before, after = exact(made), exact(shifted)
    for number, grid in enumerate(some):
        moved = total(grid + constant, of_grid(shifted, after, number))
        expected = total(grid, of_grid(made, before, number)) + constant * min(grid.shape)
        assert moved == pytest.approx(expected, abs=1e-6)


@given(SOME)
def test_maxsim_is_each_rows_largest_and_at_least_exact_where_every_row_has_a_column(
    some: list[FloatArray],
) -> None:
    made = grids(some)
    relaxed, paired = maxsim(made), exact(made)
    for number, grid in enumerate(some):
        most = total(grid, of_grid(made, relaxed, number))
        assert most == pytest.approx(grid.max(axis=1).sum())
        if len(grid) <= grid.shape[1] or grid.max(axis=1).min() >= 0:
            assert most >= total(grid, of_grid(made, paired, number)) - 1e-9


def test_maxsim_is_less_than_exact_where_rows_that_exact_leaves_out_like_nothing() -> None:
    made = grids([np.array([[1.0], [-2.0]])])
    assert (exact(made).tolist(), maxsim(made).tolist()) == ([0, -1], [0, 0])


@given(SOME)
def test_each_grid_alone_gets_what_it_gets_among_others(some: list[FloatArray]) -> None:
    made = grids(some)
    for how in (exact, maxsim):
        together = how(made)
        for number, grid in enumerate(some):
            assert of_grid(made, together, number) == how(grids([grid])).tolist()


@pytest.mark.parametrize("shape", [(40, 90), (90, 40), (60, 60), (1, 200), (200, 1)])
def test_large_grids_get_the_sum_that_scipy_finds(shape: tuple[int, int]) -> None:
    grid = np.random.default_rng(0).normal(size=shape)
    best = grid[linear_sum_assignment(grid, maximize=True)].sum()
    assert total(grid, exact(grids([grid])).tolist()) == pytest.approx(best)


def test_what_no_one_disputes_needs_no_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scipy.optimize.linear_sum_assignment", None)
    assert exact(grids([np.eye(3), np.array([[0.0, -1.0]])])).tolist() == [0, 0, 1, 2]
    with pytest.raises(TypeError):
        exact(grids([np.ones((2, 2))]))


def test_no_grids_and_empty_grids() -> None:
    nothing = np.empty(0, np.int64)
    for columns in (nothing, np.zeros(3, np.int64)):
        made = Grids(np.empty(0, np.float32), nothing, nothing, columns)
        assert exact(made).tolist() == maxsim(made).tolist() == []
