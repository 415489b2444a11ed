"""Best partners for the words of many pairs of texts at once.

A pair of texts is a grid of similarities, the question's words down and the answer's across. `exact` pairs
words one to one so that the sum is largest, as the Hungarian method does. Each row takes the column most
like it, in all grids at once. Where no two rows took the same column no sum can be larger, and that is so for
most pairs of questions and sentences; the grids where two met go to scipy.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from demur.types import IntArray

Cells = NDArray[np.float32] | NDArray[np.float64]


@dataclass(frozen=True)
class Grids:
    """The grids of many pairs in one array; each row of a grid is a run of cells, and no run is empty.

    The rows of one grid come in order, but need not follow one another.
    """

    cells: Cells
    lengths: IntArray  # per row: its cells
    pair: IntArray  # per row: which grid it belongs to
    columns: IntArray  # per grid: its columns; 0 for a grid of nothing

    @cached_property
    def starts(self) -> IntArray:
        """Per row: where its cells begin."""
        starts: IntArray = np.cumsum(self.lengths) - self.lengths
        return starts


def maxsim(grids: Grids) -> IntArray:
    """Per row, its most similar column, the first of several; other rows may have that column too."""
    if not len(grids.lengths):
        return np.empty(0, np.int64)
    top = np.maximum.reduceat(grids.cells, grids.starts)
    places = np.flatnonzero(grids.cells == np.repeat(top, grids.lengths))
    first: IntArray = places[np.searchsorted(places, grids.starts)] - grids.starts
    return first


def exact(grids: Grids) -> IntArray:
    """Per row, the column it has when rows and columns are paired one to one for the largest sum.

    In a grid of fewer columns than rows some rows have none: -1.
    """
    given = maxsim(grids)
    column = (np.cumsum(grids.columns) - grids.columns)[grids.pair] + given  # counted through all grids
    met = np.zeros(len(grids.columns), bool)
    met[grids.pair[np.bincount(column)[column] > 1]] = True
    rows = np.flatnonzero(met[grids.pair])
    if len(rows):
        rows = rows[np.argsort(grids.pair[rows], kind="stable")]
        given[rows] = _solved(grids, rows)
    return given


def _solved(grids: Grids, rows: IntArray) -> IntArray:
    """What scipy gives these rows, which are all those of some grids, grid after grid."""
    from scipy.optimize import linear_sum_assignment

    lengths = grids.lengths[rows]
    shift = grids.starts[rows] - (np.cumsum(lengths) - lengths)
    cells = grids.cells[np.repeat(shift, lengths) + np.arange(int(lengths.sum()))]
    costs = np.negative(cells, dtype=np.float64)
    heights = np.unique(grids.pair[rows], return_counts=True)[1]
    widths = lengths[np.cumsum(heights) - heights]
    sizes = (heights * widths).tolist()
    given = []
    for height, width, size, end in zip(
        heights.tolist(), widths.tolist(), sizes, accumulate(sizes), strict=True
    ):
        down, across = linear_sum_assignment(costs[end - size : end].reshape(height, width))
        if height > width:
            whole = np.full(height, -1)
            whole[down] = across
            across = whole
        given.append(across)
    return np.concatenate(given)
