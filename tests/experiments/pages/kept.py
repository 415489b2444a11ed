"""A table of rows that learn, and results as runs would have kept them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from demur.experiments.recipe import Column, Loss, Published, Row, Stage, Table
from demur.experiments.results.stored import write_result
from demur.experiments.runs import Run

POOLS = 24


def table(rows: Sequence[str], columns: Sequence[Column], loss: Sequence[Loss] = (), **more: object) -> Table:
    """A table whose first row is the baseline, and whose rows have up to three seeds."""
    made = [Row(name, trainer="siamese", stage=[Stage("train")], seeds=[0, 1, 2]) for name in rows]
    return Table(
        paper="toy",
        table="table1",
        title="A table",
        measures=["MAP"],
        conventions=["scan", "fixed"],
        differs="Everything.",
        column=list(columns),
        row=made,
        baseline=rows[0],
        loss=list(loss),
        **more,  # type: ignore[arg-type]
    )


def printed(**figures: float) -> list[Published]:
    """What the paper printed of column ``plain``."""
    return [Published(row, "MAP", "scan", {"plain": value}) for row, value in figures.items()]


def keep(
    results: Path,
    of: Table,
    row: str,
    column: str,
    values: Sequence[float],
    seed: int = 0,
    network: str = "",
    **more: object,
) -> None:
    """Keep what a row's network came to, pool by pool, and `more` of what is said of it."""
    run = Run(
        of,
        next(each for each in of.row if each.name == row),
        next(each for each in of.column if each.name == column),
        seed,
    )
    mean = sum(values) / len(values)
    pools = [f"q{number}" for number in range(len(values))]
    told = {"pools": pools, "values": {"MAP": list(values)}, "estimates": {"MAP": [mean, mean, mean]}}
    write_result(
        results,
        run.file,
        {
            "row": row,
            "column": column,
            "seed": seed,
            "made of": network or f"{row} {seed}",
            "editions": run.editions,
            "commit": "abc",
            "conventions": dict.fromkeys(of.conventions, told),
            **more,
        },
    )
