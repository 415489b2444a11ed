"""`demur reproduce`: a paper's tables, run where they are missing, published figures beside ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from demur.cli.console import JsonFlag, emit, meter, stdout

if TYPE_CHECKING:
    from demur.experiments.recipe import Table
    from demur.experiments.tables import Cell


def reproduce(
    paper: Annotated[str | None, typer.Argument(help="A paper: scarce, scan, committee, risk.")] = None,
    table: Annotated[str | None, typer.Argument(help="One of its tables, such as table1.")] = None,
    only: Annotated[str | None, typer.Option(help="One group of rows, such as lexical.")] = None,
    cached: Annotated[bool, typer.Option("--cached", help="Run nothing; show what there is.")] = False,
    json: JsonFlag = False,
) -> None:
    """Run what is missing of a paper's tables and print them, published figures beside ours."""
    import dataclasses

    from demur.experiments import tables

    home = tables.home()
    results = home / "results"
    chosen = tables.find(home / "experiments", paper, table)
    if not cached:
        total = sum(1 for each in chosen for _ in tables.runs(each, only))
        with meter("reproducing", "runs", total) as advance:
            for each in chosen:
                tables.fill(each, results, only, advance)
    found = [(each, list(tables.cells(each, results, only))) for each in chosen]
    if json:
        emit([dataclasses.asdict(cell) for _, cells in found for cell in cells])
        return
    for each, cells in found:
        _show(each, cells)


def _show(table: Table, cells: list[Cell]) -> None:
    """One grid for each convention and measure, narrow enough for a terminal."""
    from rich.table import Table as Grid

    console = stdout()
    console.print(f"{table.paper} {table.table}: {table.title}", style="bold")
    names = [column.name for column in table.column]
    for convention in table.conventions:
        for measure in table.measures:
            grid = Grid(title=f"{measure}, convention {convention}", title_justify="left", box=None)
            grid.add_column("")
            for name in names:
                grid.add_column(name, justify="right", overflow="fold")
            for row in table.row:
                here = [
                    c for c in cells if (c.row, c.convention, c.measure) == (row.name, convention, measure)
                ]
                if any(cell.mean is not None or cell.published is not None for cell in here):
                    grid.add_row(row.name, *(_figure(cell) for cell in here))
            console.print(grid)
            console.print()
    console.print("Published figures are in brackets; – was not run.", style="dim")
    console.print(table.differs, style="dim")


def _figure(cell: Cell) -> str:
    ours = "–" if cell.mean is None else f"{cell.mean:.3f}"
    return ours if cell.published is None else f"{ours} [{cell.published:.3f}]"
