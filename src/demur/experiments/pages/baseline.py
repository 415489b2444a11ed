"""Cells beside their baselines: permutation tests over pools, with Holm's correction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from demur.evaluation.comparison.significance import holm, permutation
from demur.experiments.kinds import KINDS
from demur.experiments.kinds.base import Result
from demur.experiments.recipe import Column, Row, Table
from demur.experiments.runs import Run, stored_result
from demur.experiments.tables import Cell

LEVEL = 0.05
DRAWS = 20_000


def compared(table: Table, cells: Sequence[Cell], results: Path) -> list[Cell]:
    """The cells of the first measure with their differences from their baseline's, and how sure these are.

    Seeds are averaged pool by pool first; of rows with several, those that both have. All rows and columns
    of one convention are one family of tests.
    """
    if not table.baselines:
        return list(cells)
    measure = table.measures[0]
    done: dict[tuple[str, str, str, str], tuple[float, float]] = {}
    for convention in table.conventions:
        places, found = [], []
        for column in table.column:
            kept_of = {row.name: kept(table, row, column, results) for row in table.row}
            for row in table.row:
                both = _shared(table, row, kept_of)
                here, there = (KINDS[table.kind].values(each, convention, measure) for each in both)
                if pools := sorted(here.keys() & there.keys()):
                    places.append((row.name, column.name, measure, convention))
                    found.append(np.array([here[pool] - there[pool] for pool in pools]))
        adjusted = holm([permutation(np.round(each, 12), draws=DRAWS) for each in found])
        done |= {at: (float(d.mean()), p) for at, d, p in zip(places, found, adjusted, strict=True)}
    told = [
        replace(cell, difference=known[0], p=known[1])
        if (known := done.get((cell.row, cell.column, cell.measure, cell.convention)))
        else cell
        for cell in cells
    ]
    return _starred(table, told, results) if table.stars else told


def mark(cell: Cell) -> str:
    """Signs behind a figure: significantly above or below the baseline; the best of its column."""
    star = "" if cell.ahead is None else " ★" if cell.ahead < LEVEL else " ☆"
    if cell.p is None or cell.difference is None or cell.p >= LEVEL:
        return star
    return (" ▲" if cell.difference > 0 else " ▼") + star


def legend(table: Table) -> str:
    """What the signs mean, where there may be any."""
    if not (names := table.baselines) or table.kind == "cases":  # counts are not tested
        return ""
    best = (
        " ★: the best of its column, significantly above the second best (the same test, Holm's correction "
        "over columns); ☆: the best, but not significantly."
    )
    one = " Where a row has one seed, its sign is about that one network."
    shown = [table.shown(name) for name in names]
    of = shown[0] if len(names) == 1 else f"the row's baseline ({'; '.join(shown)})"
    return (
        f"▲ and ▼: {table.measures[0]} above or below that of {of}, p < {LEVEL:g} "
        "(permutation test over pools, averaged over the seeds that both have; Holm's correction over all "
        "rows and columns)." + one * any(row.trainer for row in table.row) + best * table.stars
    )


def _starred(table: Table, cells: Sequence[Cell], results: Path) -> list[Cell]:
    """The cells, the best of each column with the p of its difference from the second best."""
    measure = table.measures[0]
    done: dict[tuple[str, str, str, str], float] = {}
    for convention in table.conventions:
        places, found = [], []
        for column in table.column:
            at = (column.name, measure, convention)
            here = [c for c in cells if (c.column, c.measure, c.convention) == at and c.mean is not None]
            here.sort(key=lambda cell: -(cell.mean or 0.0))
            names = [cell.row for cell in here[:2]]
            rows = {row.name: list(kept(table, row, column, results).values()) for row in table.row}
            of = [KINDS[table.kind].values(rows[name], convention, measure) for name in names]
            if len(of) == 2 and (pools := sorted(of[0].keys() & of[1].keys())):
                places.append((names[0], *at))
                found.append(np.array([of[0][pool] - of[1][pool] for pool in pools]))
        ps = holm([permutation(np.round(each, 12), draws=DRAWS) for each in found])
        done |= dict(zip(places, ps, strict=True))
    return [
        replace(cell, ahead=done.get((cell.row, cell.column, cell.measure, cell.convention)))
        for cell in cells
    ]


def _shared(table: Table, row: Row, found: dict[str, dict[int, Result]]) -> tuple[list[Result], list[Result]]:
    """What is kept of a row and of its baseline: of the seeds that both have, if both are to have several."""
    other = next((each for each in table.row if each.name == table.baseline_of(row)), None)
    if other is None:
        return [], []
    several = min(len(row.seeds), len(other.seeds)) > 1
    return alike(found[row.name], found[other.name], several)


def alike(
    here: dict[int, Result], there: dict[int, Result], several: bool
) -> tuple[list[Result], list[Result]]:
    """What is kept of two rows: of the seeds that both have, if both are to have `several`."""
    if several:
        both = here.keys() & there.keys()
        here, there = ({seed: each[seed] for seed in sorted(both)} for each in (here, there))
    return list(here.values()), list(there.values())


def kept(table: Table, row: Row, column: Column, results: Path) -> dict[int, Result]:
    """What is kept of a row, by seed."""
    seeds = row.seeds if row.runs else []
    return {seed: one for seed in seeds if (one := stored_result(Run(table, row, column, seed), results))}
