"""The pages of results: an index, and a page for each paper, written from the kept results."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from pathlib import Path

from demur.experiments.pages import losses, marks, starts
from demur.experiments.pages.baseline import compared, legend, mark
from demur.experiments.recipe import Table
from demur.experiments.results import earlier
from demur.experiments.tables import Cell, cells, column_names

PAPERS = {
    "scarce": "Few labels or none",
    "committee": "Committees and adversaries",
    "scan": "Transfer and robust training",
    "risk": "Confidence and abstention",
    "mini": "The model that comes with demur",
}
"""What a paper's page is called; a paper that is missing here is called by its name."""
PICTURES = "../../results/pictures"
HOW_TO_READ = """- Every figure comes from a file under `results/` that a run wrote.
- A figure is a mean over questions (pools). The small figures behind it are its 95 % bootstrap interval,
  unless the table says otherwise.
- A dash (–) means that nothing was run, or that there is no such figure.
- *Italics* are what the paper printed.
- `fixed` is our convention: the exact mean over random tie-breaks; all right answers count; questions
  without a right answer are left out. [Conventions](../conventions.md) describes the others.
- ▲ and ▼ mark figures that are significantly above or below the baseline. °, ‡ and § say how current a
  figure is. The text below each table explains the marks that it uses."""
_SHOWN = 4  # pictures; of more there are links


def index(tables: Sequence[Table]) -> str:
    """`docs/results.md`: the papers, and a link to each of their tables."""
    parts = [
        "# Results",
        "Each page has the tables of one paper, with our figures beside the published ones.",
    ]
    for paper, some in by_paper(tables).items():
        parts.append(f"## [{PAPERS.get(paper, paper)}](results/{paper}.md)")
        parts.append(
            "\n".join(f"- [{each.table}](results/{paper}.md#{each.table}): {each.title}" for each in some)
        )
    parts.append("## How to read a table\n\n" + HOW_TO_READ.replace("](../", "]("))
    return "\n\n".join(parts) + "\n"


def by_paper(tables: Sequence[Table]) -> dict[str, list[Table]]:
    """The tables of each paper, the papers in the order of their pages."""
    known = [*PAPERS, *sorted({table.paper for table in tables} - PAPERS.keys())]
    found = {paper: [table for table in tables if table.paper == paper] for paper in known}
    return {paper: some for paper, some in found.items() if some}


def page(paper: str, sections: Iterable[str]) -> str:
    """A paper's page, of the sections of its tables."""
    head = f"# {PAPERS.get(paper, paper)}\n\n[All results](../results.md)\n\n{HOW_TO_READ}\n"
    return "\n".join([head, *sections])


def section(table: Table, results: Path, found: Sequence[Cell] | None = None, see: str = "") -> str:
    """A table: what to see in it, its pictures, its grids, what differs from the paper, and its command.

    Rankers have a grid for each convention and measure; other tables have one for each dataset. `found` are
    its cells, if they are known already; `see` is what the recipe says, with the figures filled in.
    """
    found = compared(table, list(cells(table, results)), results) if found is None else found
    parts = [f"## {table.table}", f"**{table.title}**"]
    if see:
        parts.append(see)
    links = [f"[{said}]({PICTURES}/{file})" for file, said in table.pictures.items()]
    parts += [f"!{link}" for link in links[:_SHOWN]]
    if more := links[_SHOWN:]:
        parts.append("More pictures: " + "; ".join(more) + ".")
    if table.kind == "ranking":
        for convention in table.conventions:
            for measure in table.measures:
                these = [cell for cell in found if (cell.convention, cell.measure) == (convention, measure)]
                parts.append(f"### {measure}, convention `{convention}`\n\n{grid(table, these)}")
        if table.baselines:
            parts.append(legend(table))
        if table.loss:
            parts.append(losses.grid(table, results))
    elif table.kind == "labels":
        parts.append(dataset_grid(table, found))
    else:
        for column in table.column:
            names = column_names(table, column)
            these = [cell for cell in found if cell.column in names]
            pools = max(cell.pools for cell in these)
            quiet = marks.silent(table, column, results)
            grid_ = curve_grid(table, these) if table.kind == "curves" else column_grid(table, these, quiet)
            of = "of " if table.kind == "curves" else ""  # those without a right answer are among them
            counted_ = f"{of}{pools:,} pools" if column.data and pools else "not run"
            parts += [f"### {column.name} ({counted_})", grid_, *marks.footnotes(table, these, quiet)]
    missing = _missing(table, found)
    if missing:
        parts.append(f"Not run yet: {'; '.join(missing)}.")
    if origins := earlier.legend(found):
        parts.append(f"{origins}.")
    if begun := starts.note(table, results):
        parts.append(begun)
    named = [(row.shown, row.note) for row in table.row] + [(each.name, each.note) for each in table.column]
    if notes := [f"- *{name}*: {note}" for name, note in named if note]:
        parts.append("Notes:\n\n" + "\n".join(notes))
    parts.append(f"**Setup, and what differs from the paper.** {_truthful(table.differs, missing)}")
    parts.append(f"```sh\ndemur reproduce {table.paper} {table.table}\n```")
    return "\n\n".join(parts) + "\n"


def _truthful(text: str, missing: Sequence[str]) -> str:
    """A text that says of each row and column it names in code whether it is there."""
    for name in missing:
        text = text.replace(f"`{name}`", f"`{name}` (not run)")
    return text


def _missing(table: Table, found: Sequence[Cell]) -> list[str]:
    """The rows and the columns that have no figure at all, but for those that are only there as printed."""
    there = {name for cell in found if cell.mean is not None for name in (cell.row, cell.column)}
    printed = {each.row for each in table.published}
    rows = [row.shown for row in table.row if row.name not in there and (row.runs or row.name not in printed)]
    columns = [each for each in table.column if each.data and there.isdisjoint(column_names(table, each))]
    return rows + [each.name for each in columns]


def grid(table: Table, found: Iterable[Cell]) -> str:
    """The cells of one measure as a Markdown table."""
    by_place = {(cell.row, cell.column): cell for cell in found}
    pools = {c.name: max(by_place[row.name, c.name].pools for row in table.row) for c in table.column}
    names = [name for name, count in pools.items() if count] or list(pools)
    lowest = {c.name: by_place[table.row[0].name, c.name].relevant for c in table.column}
    said = {
        name: f"{pools[name]} pools" + f"; right from label {lowest[name]} on" * (lowest[name] > 1)
        if pools[name]
        else "not run"
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


def dataset_grid(table: Table, found: Iterable[Cell]) -> str:
    """The cells of a table of one row: datasets against measures."""
    by_place = {(cell.column, cell.measure): show(cell) for cell in found}
    lines = ["| | " + " | ".join(table.measures) + " |", "|---|" + "---|" * len(table.measures)]
    for column in table.column:
        shown = [by_place[column.name, measure] for measure in table.measures]
        lines.append(f"| {column.name} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


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
