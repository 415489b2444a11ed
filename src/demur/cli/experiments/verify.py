"""`demur reproduce … --verify N`: stored cells run again, and whether they came out as they are kept."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from demur.cli.console import emit, meter, stdout
from demur.errors import UsageError

if TYPE_CHECKING:
    from demur.experiments.recipe import Table
    from demur.experiments.results.verifying import Again


def verify_tables(
    chosen: Sequence[Table],
    results: Path,
    count: int,
    draw: int,
    only: Sequence[str],
    columns: Sequence[str],
    record: bool,
    json: bool,
    minutes: float = 0.0,
) -> None:
    """Run so many cells of these tables again and show them; exit 1 if one does not hold."""
    from demur.experiments.results import verifying

    within = minutes * 60 or math.inf
    wanted = verifying.drawn(
        chosen, results, count, draw, only=only, columns=columns, confirm=record, within=within
    )
    if not wanted and minutes:
        raise UsageError(f"no row here says that its runs took at most {minutes:g} minutes; allow more")
    if not wanted:
        what = "there are no results here that could be run again: none is kept, or all are out of date"
        raise UsageError(f"{what}; run demur reproduce first")
    found = []
    with meter("running again", "cells", len(wanted)) as advance:
        for run, one in verifying.again(wanted, results, advance):
            found.append((run, one))
            if record:  # at once, so that a kill loses nothing
                verifying.recorded([(run, one)], results)
    cells = [one for _, one in found]
    if json:
        emit([dataclasses.asdict(one) for one in cells])
    else:
        _show(cells)
    if not all(one.holds for one in cells):
        raise typer.Exit(1)


def _show(cells: Sequence[Again]) -> None:
    from rich.table import Table as Grid

    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for head in ("cell", "measure"):
        grid.add_column(head)
    for head in ("kept", "again", "off by", "may be", ""):
        grid.add_column(head, justify="right", no_wrap=True)
    for one in cells:
        place = f"{one.table} {one.row}, {one.column}, seed {one.seed}"
        figures = (_figure(each) for each in (one.kept, one.found, one.difference, one.tolerance))
        grid.add_row(place, one.measure, *figures, "holds" if one.holds else "does not hold")
    stdout().print(grid)
    good = sum(one.holds for one in cells)
    where = f", on {cells[0].processor}" if cells else ""
    stdout().print(f"{good} of {len(cells)} cells came again as they are kept{where}.", style="dim")


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.6g}"
