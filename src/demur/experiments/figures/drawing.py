"""Figures drawn from the results that are kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from demur.errors import UsageError
from demur.evaluation.plots.learning import Curve, learning_curves
from demur.experiments.kinds import KINDS
from demur.experiments.recipe import Table
from demur.experiments.tables import Cell, cells


def draw(table: Table, results: Path, path: Path, only: Sequence[str] = (), make: bool = True) -> None:
    """Write the picture of a table: learning curves under its last convention, the paper's; or of readers.

    Of rankers it is what dev said of each epoch of their training, for the group of rows named. Without
    `make` nothing is read or taught for it.
    """
    if table.kind == "reading":
        from demur.experiments.figures import readers

        readers.draw(table, results, path, only, make)
        return
    if table.kind == "ranking":
        from demur.experiments.figures import epochs

        epochs.draw(table, results, path, only)
        return
    if table.kind != "curves":
        raise UsageError(
            f"nothing is drawn of {table.paper} {table.table}, as it is a table of {table.kind}; "
            "name a table of rankings or curves"
        )
    found = list(cells(table, results, only))
    measure, convention = table.measures[0], table.conventions[-1]
    panels: dict[str, dict[str, Curve]] = {}
    for column in table.column:
        sizes = {f"{column.name} {point}": int(point) for point in KINDS[table.kind].points(column)}
        for row in table.row:
            here = [c for c in found if (c.row, c.measure, c.convention) == (row.name, measure, convention)]
            if curve := _curve([c for c in here if c.column in sizes], sizes, flat=bool(row.ranker)):
                panels.setdefault(column.name, {})[row.name] = curve
    if not panels:
        raise UsageError(
            f"{table.paper} {table.table} has no results yet; run demur reproduce without --cached"
        )
    learning_curves(path, panels, f"{measure} ({convention})")


def _curve(found: list[Cell], sizes: dict[str, int], flat: bool) -> Curve | None:
    points = [
        (sizes[cell.column], cell.mean, cell.low or cell.mean, cell.high or cell.mean)
        for cell in found
        if cell.mean is not None
    ]
    if not points:
        return None
    size, mean, low, high = zip(*points, strict=True)
    return Curve(size, mean, low, high, flat)
