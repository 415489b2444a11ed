"""`demur reproduce`: a paper's tables, run where they are missing, published figures beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from demur.cli.console import JsonFlag, emit, meter, stdout, warnings_noted
from demur.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from rich.table import Table as Grid

    from demur.experiments.recipe import Table
    from demur.experiments.tables import Cell


def reproduce(
    paper: Annotated[
        str | None, typer.Argument(help="A paper: scarce, committee, scan, risk or mini.")
    ] = None,
    table: Annotated[str | None, typer.Argument(help="One of its tables, such as table1.")] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="A group of rows, such as lexical, or one row; may be repeated.")
    ] = None,
    column: Annotated[
        list[str] | None, typer.Option(help="A column, such as wikiqa; may be repeated.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=0, help="Run at most so many seeds of each row; 0 is all.")] = 0,
    cached: Annotated[bool, typer.Option("--cached", help="Run nothing; show the stored results.")] = False,
    picture: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw learning curves, or the dev measure by epoch: .svg or .png."),
    ] = None,
    verify: Annotated[
        int, typer.Option(min=0, metavar="N", help="Run N of the stored cells again, and compare.")
    ] = 0,
    draw: Annotated[int, typer.Option(min=0, help="With --verify: random seed of which cells are run.")] = 0,
    record: Annotated[
        bool, typer.Option("--record", help="With --verify: record the outcome, for the tables.")
    ] = False,
    within: Annotated[
        float,
        typer.Option(min=0, metavar="MINUTES", help="With --verify: only rows whose runs took no longer."),
    ] = 0,
    dirty: Annotated[
        bool, typer.Option("--dirty", help="Run with uncommitted code; such cells are marked.")
    ] = False,
    workers: Annotated[
        int, typer.Option(min=0, help="Number of processes for rows that train; 0 is one for each core.")
    ] = 0,
    json: JsonFlag = False,
) -> None:
    """Run the missing cells of a paper's tables, and print them beside the published figures."""
    import dataclasses

    from demur import processor
    from demur.experiments import tables
    from demur.experiments.pages.baseline import compared
    from demur.experiments.results import provenance

    home = tables.home()
    results = home / "results"
    chosen = tables.find_tables(home / "experiments", paper, table)
    rows, columns = only or (), column or ()
    if picture is not None and len(chosen) != 1:
        raise UsageError(
            "--picture draws one figure; name it, as in demur reproduce scarce figure1 --picture f.svg"
        )
    if record and not verify:
        raise UsageError("--record writes down what --verify finds; say --verify N too")
    if within and not verify:
        raise UsageError("--within is for the cells that --verify draws; say --verify N too")
    if draw and not verify:
        raise UsageError("--draw chooses the cells that --verify runs; say --verify N too")
    if verify and (cached or picture is not None or seeds):
        raise UsageError("--verify runs stored cells again; leave out --cached, --picture and --seeds")
    if verify:
        from demur.cli.experiments.verify import verify_tables

        if not dirty:
            provenance.refuse_dirty()
        verify_tables(chosen, results, verify, draw, rows, columns, record, json, within)
        return
    if cached and dirty:
        raise UsageError("--cached runs nothing; leave out --dirty")
    total = sum(
        1 for each in chosen for _ in tables.runs(each, rows, seeds, columns)
    )  # or it says what is wrong
    if not cached:
        with meter("reproducing", "runs", total, logged=60) as advance:
            for each in chosen:
                tables.fill(
                    each, results, rows, advance, workers or processor.threads(), seeds, columns, dirty
                )
    if picture is not None:
        from demur.experiments.figures import drawing

        with warnings_noted():
            drawing.draw(chosen[0], results, picture, rows, make=not cached)
    found = [(each, compared(each, list(tables.cells(each, results, rows)), results)) for each in chosen]
    if columns:  # told apart from the baseline among all, but shown alone
        found = [(each, tables.under(each, cells, columns)) for each, cells in found]
    if json:
        emit([dataclasses.asdict(cell) for _, cells in found for cell in cells])
        return
    for each, cells in found:
        _show(each, cells, results)


def _show(table: Table, cells: list[Cell], results: Path) -> None:
    """Print a grid for each dataset and convention: methods down, measures across."""
    from demur.experiments.pages.baseline import legend
    from demur.experiments.pages.marks import footnotes, silent
    from demur.experiments.pages.starts import note
    from demur.experiments.results import earlier
    from demur.experiments.tables import column_names

    console = stdout()
    console.print(f"{table.paper} {table.table}: {table.title}", style="bold")
    for convention in table.conventions:
        for column in table.column:
            names = column_names(table, column)
            here = [cell for cell in cells if cell.column in names and cell.convention == convention]
            if not here:  # another column was asked for
                continue
            pools, rows = max(cell.pools for cell in here), {cell.row for cell in here}
            of, lowest = "of " if table.kind == "curves" else "", here[0].relevant
            what = f"{column.data}), convention {convention}, {of}{pools:,} pools"
            what += f", right from label {lowest} on" * (lowest > 1)
            what = what if column.data else "not run)"
            console.print(f"\n{column.name} ({what}")
            if table.kind == "ranking":
                console.print(_grid(table, here))
            elif table.kind == "curves":
                console.print(_curves(table, here))
            else:
                quiet = {row: gain for row, gain in silent(table, column, results).items() if row in rows}
                for grid in _means(table, here, quiet):
                    console.print(grid)
                for text in footnotes(table, here, quiet):
                    console.print(text, style="dim")
    behind = (
        "Behind each mean its 95 % interval over pools"
        if table.kind == "ranking"
        else "Means, in brackets the paper's where there is no run; --json has intervals"
    )
    console.print(f"\n{behind}; – was not run, or not printed.", style="dim")
    if table.baselines:
        console.print(legend(table), style="dim")
    if origins := earlier.legend(cells):
        console.print(f"{origins}.", style="dim")
    if begun := note(table, results, {(cell.row, cell.column) for cell in cells}):
        console.print(begun, style="dim")
    console.print(table.differs, style="dim")


def _means(table: Table, cells: list[Cell], quiet: Container[str]) -> Iterator[Grid]:
    """Means alone, as there are many: rows against measures, the longer side down; no empty ones."""
    from rich.table import Table as Grid

    from demur.experiments.pages.markdown import parted
    from demur.experiments.pages.marks import SILENT

    by_place = {(cell.row, cell.measure): _mean(cell) for cell in cells}
    there = [place for place, text in by_place.items() if text != "–"] or list(by_place)
    rows = [name for name in dict.fromkeys(cell.row for cell in cells) if name in {row for row, _ in there}]
    measures = {name: name for name in table.figures if name in {measure for _, measure in there}}
    for of, some in parted(table, rows).items():
        marked = {shown + SILENT * (name in quiet): name for shown, name in some.items()}
        turned = len(measures) > len(marked)
        heads, sides = (marked, measures) if turned else (measures, marked)
        grid = Grid(box=None, pad_edge=False, padding=(0, 1, 0, 0))
        grid.add_column(of, no_wrap=True)
        for head in heads:
            grid.add_column(head, justify="right", vertical="bottom")
        for side, name in sides.items():
            places = [(other, name) if turned else (name, other) for other in heads.values()]
            grid.add_row(side, *(by_place[place] for place in places))
        yield grid


def _curves(table: Table, cells: list[Cell]) -> Grid:
    """The means of the first measure: methods down, numbers of questions across."""
    from rich.table import Table as Grid

    grid = Grid(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    grid.add_column()
    by_place = {(cell.row, cell.column): cell for cell in cells if cell.measure == table.measures[0]}
    columns = list(dict.fromkeys(cell.column for cell in cells))
    for name in columns:
        grid.add_column(name.rpartition(" ")[2], justify="right", no_wrap=True)
    for row in table.row:
        if (row.name, columns[0]) in by_place:
            grid.add_row(row.shown, *(_short(by_place[row.name, name].mean) for name in columns))
    return grid


def _grid(table: Table, cells: list[Cell]) -> Grid:
    from rich.table import Table as Grid

    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    published = [name for name in table.measures if any(c.measure == name and c.published for c in cells)]
    for name in table.measures:
        grid.add_column(name, no_wrap=True)
        if name in published:
            grid.add_column("paper", no_wrap=True)
    for row in table.row:
        figures = []
        for cell in (cell for cell in cells if cell.row == row.name):
            figures += [_figure(cell)] + [_short(cell.published)] * (cell.measure in published)
        if set(figures) - {"–"}:
            grid.add_row(row.shown, *figures)
    return grid


def _figure(cell: Cell) -> str:
    from demur.experiments.pages.baseline import mark

    interval = "" if cell.low is None else f" [dim]{_short(cell.low)}–{_short(cell.high)}[/dim]"
    return _mean(cell) + mark(cell) + interval


def _mean(cell: Cell) -> str:
    from demur.experiments.pages.markdown import counted
    from demur.experiments.results.earlier import SIGNS

    if cell.mean is None:
        return "–" if cell.published is None or cell.pools else f"– ({_short(cell.published)})"
    return (f"{cell.mean:.3f}" if cell.low is not None else counted(cell.mean)) + SIGNS.get(cell.origin, "")


def _short(figure: float | None) -> str:
    return "–" if figure is None else f"{figure:.3f}".removeprefix("0")
