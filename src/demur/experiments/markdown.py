"""The page of all tables, written from the kept results."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from pathlib import Path

from demur.experiments import earlier, marks
from demur.experiments.baseline import compared, legend, mark
from demur.experiments.recipe import Table
from demur.experiments.tables import Cell, cells, column_names, find

INTRODUCTION = """# Results

Every figure comes from a file under `results/`, written by a run. Behind each mean, in small, is its 95 %
bootstrap interval over pools, unless the table says otherwise; a dash says that nothing was run yet, or that
there is no such figure; *italics* are what the paper printed.
`fixed` is our convention: the exact mean over random tie-breaks, all positives count, pools without a
positive are left out. Signs such as ° and ‡ behind a figure say where it comes from; below each table stands
what they mean.

"""


def page(experiments: Path, results: Path) -> str:
    """The page, one section to a table."""
    return INTRODUCTION + "\n".join(section(table, results) for table in find(experiments))


def section(table: Table, results: Path) -> str:
    """A table's title, what differs from the paper, and its grids.

    Rankers have a grid for each convention and measure; other tables have one for each dataset.
    """
    found = compared(table, list(cells(table, results)), results)
    parts = [f"## {table.paper} {table.table}: {table.title}", table.differs]
    parts.append(f"```sh\ndemur reproduce {table.paper} {table.table}\n```")
    if table.kind == "ranking":
        for convention in table.conventions:
            for measure in table.measures:
                these = [cell for cell in found if (cell.convention, cell.measure) == (convention, measure)]
                parts.append(f"### {measure}, convention `{convention}`\n\n{grid(table, these)}")
        if table.baselines:
            parts.append(legend(table))
        if missing := _missing(table, found):
            parts.append(f"Not run yet: {'; '.join(missing)}.")
    else:
        for column in table.column:
            names = column_names(table, column)
            these = [cell for cell in found if cell.column in names]
            pools = f"{max(cell.pools for cell in these):,} pools" if column.data else "not run"
            quiet = marks.silent(table, column, results)
            grid_ = curve_grid(table, these) if table.kind == "curves" else column_grid(table, these, quiet)
            parts += [f"### {column.name} ({pools})", grid_, *marks.footnotes(table, these, quiet)]
    if origins := earlier.legend(found):
        parts.append(f"{origins}.")
    named = [(row.shown, row.note) for row in table.row] + [(each.name, each.note) for each in table.column]
    if notes := [f"- *{name}*: {note}" for name, note in named if note]:
        parts.append("Notes:\n\n" + "\n".join(notes))
    return "\n\n".join(parts) + "\n"


def _missing(table: Table, found: Sequence[Cell]) -> list[str]:
    """The rows and the columns that have no figure at all, but for rows that are only there as printed."""
    there = {name for cell in found if cell.mean is not None for name in (cell.row, cell.column)}
    printed = {each.row for each in table.published}
    rows = [row.shown for row in table.row if row.name not in there and (row.runs or row.name not in printed)]
    return rows + [column.name for column in table.column if column.name not in there]


def grid(table: Table, found: Iterable[Cell]) -> str:
    """The cells of one measure as a Markdown table."""
    by_place = {(cell.row, cell.column): cell for cell in found}
    pools = {c.name: max(by_place[row.name, c.name].pools for row in table.row) for c in table.column}
    names = [name for name, count in pools.items() if count] or list(pools)
    lowest = {c.name: by_place[table.row[0].name, c.name].relevant for c in table.column}
    said = {
        name: f"{pools[name]} pools" + f"; right from label {lowest[name]} on" * (lowest[name] > 1)
        for name in names
    }
    lines = ["| | " + " | ".join(f"{name} ({said[name]})" for name in names) + " |"]
    lines.append("|---|" + "---|" * len(names))
    for row in table.row:
        shown = [show(by_place[row.name, name]) for name in names]
        if any(text != "–" for text in shown):
            lines.append(f"| {row.shown} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


def column_grid(table: Table, found: Iterable[Cell], quiet: Container[str] = ()) -> str:
    """The cells of one dataset: rows against measures, the longer side down; `quiet` rows are marked.

    Rows that name what they are of have a grid for each. Of a column that is not run there is what the paper
    printed.
    """
    by_place = {(cell.row, cell.measure, cell.convention): show(cell) for cell in found}
    empty = set(by_place.values()) == {"–"}
    names = [row.name for row in table.row if empty or _said(by_place, row=row.name)]
    several = len(table.conventions) > 1
    across = {
        f"{measure}, `{convention}`" if several else measure: (measure, convention)
        for convention in table.conventions
        for measure in table.figures
        if empty or _said(by_place, measure=measure, convention=convention)
    }
    grids = []
    for of, rows in parted(table, names).items():
        marked = {shown + marks.SILENT * (name in quiet): name for shown, name in rows.items()}
        turned = len(across) > len(marked)
        heads, sides = (list(marked), list(across)) if turned else (list(across), list(marked))
        lines = [f"| {of} | ".replace("  ", " ") + " | ".join(heads) + " |", "|---|" + "---|" * len(heads)]
        for side in sides:
            places = [
                (marked[head], *across[side]) if turned else (marked[side], *across[head]) for head in heads
            ]
            lines.append(f"| {side} | " + " | ".join(by_place[place] for place in places) + " |")
        grids.append("\n".join(lines))
    return "\n\n".join(grids)


def _said(by_place: dict[tuple[str, str, str], str], **at: str) -> bool:
    """Whether a row, or a measure, has anything to show."""
    wanted = at.get("row"), at.get("measure"), at.get("convention")
    return any(
        text != "–" and all(one in (None, other) for one, other in zip(wanted, place, strict=True))
        for place, text in by_place.items()
    )


def parted(table: Table, names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Rows by what their titles say they are of, before a colon; under what follows it, their names."""
    found: dict[str, dict[str, str]] = {}
    for name in names:
        of, rest = table.parts(name)
        found.setdefault(of, {})[rest] = name
    return found


def curve_grid(table: Table, found: Iterable[Cell]) -> str:
    """The cells of one dataset's learning curves, for each convention: rows against numbers of questions."""
    found = list(found)
    parts = []
    for convention in table.conventions:
        here = [cell for cell in found if cell.convention == convention]
        by_place = {(cell.row, cell.column): cell for cell in here if cell.measure == table.measures[0]}
        columns = list(dict.fromkeys(cell.column for cell in here))
        heads = [name.rpartition(" ")[2] for name in columns]
        lines = [f"| {table.measures[0]}, `{convention}` | " + " | ".join(heads) + " |"]
        lines.append("|---|" + "---|" * len(heads))
        for row in table.row:
            cells_ = [by_place[row.name, name] for name in columns]
            if any(cell.mean is not None for cell in cells_):
                lines.append(f"| {row.shown} | " + " | ".join(map(spread, cells_)) + " |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def spread(cell: Cell) -> str:
    """A mean over seeds and its standard deviation."""
    if cell.mean is None:
        return "–"
    deviation = "" if cell.high is None or cell.seeds < 2 else f" <sub>±{cell.high - cell.mean:.3f}</sub>"
    return f"{cell.mean:.3f}{earlier.sign(cell)}{deviation}"


def counted(figure: float) -> str:
    """A figure that has no interval: a count, or a share in hindsight."""
    return f"{figure:.3f}" if 0 < figure < 1 else f"{figure:,.0f}"


def show(cell: Cell) -> str:
    """One cell: mean, interval and seeds, then the published figure."""
    published = f" *{cell.published:.3f}*" if cell.published is not None else ""
    if cell.mean is None:
        return f"–{published}"
    if cell.low is None:
        return f"{counted(cell.mean)}{earlier.sign(cell)}{published}"
    said = (mark(cell) or marks.gained(cell)) + earlier.sign(cell)
    return f"{cell.mean:.3f}{said} <sub>{cell.low:.3f}–{cell.high:.3f}{marks.counted(cell)}</sub>{published}"
