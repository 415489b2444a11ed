"""Pages that people write with figures in them: ``{name}`` in a template is filled in from results/.

Beside ``NAME.md`` lies ``NAME.toml``. Its ``[figures]`` give each name the table, row, column and measure
that it stands for; its claims say which statements rest on which figures: see `tools.claims`.
Of several conventions ``fixed`` counts, or else the table's first; ``MAP by semeval10`` names another.
``P@1 of Q611`` is that of one pool, the mean over seeds. A place such as ``overlaps | mini | wikiqa/test |
passages`` is a count of `tools.overlaps`; ``all`` are the test set's.

Behind a colon may stand how a figure is said: ``{name:bare}`` without its interval, ``{name:marked}`` with a
sign where it is surely above or below its baseline, ``{name:gain}`` as the difference from the baseline, over
the seeds that both have, and ``{name:paper}`` as the paper printed it.

``{name:seeds}`` says the lowest and the highest of its seeds, and how many there are; ``{name:minutes}`` how
long the quickest of them took, training and all: others have made first what all of them need.

A column may be ``lost: NAME`` or ``lost more: NAME``: what a perturbation of the table costs the row, and how
much more than the baseline. ``{name:lost}`` says the latter in words: how much more or less, and how surely.

Of a learning curve ± is one standard deviation over seeds; of all else the brackets are the 95 % interval.
What is out of date, or was made by code that nobody can name, has the tables' sign for it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from demur import toml
from demur.errors import DataError
from demur.experiments.kinds import KINDS
from demur.experiments.kinds.base import Result
from demur.experiments.pages import losses
from demur.experiments.pages.baseline import compared, kept, mark
from demur.experiments.recipe import Table
from demur.experiments.results import earlier
from demur.experiments.results.earlier import sign
from demur.experiments.tables import Cell, cells, find_tables
from tools import overlaps

ROOT = Path(__file__).resolve().parents[1]
TEMPLATES = ROOT / "docs" / "templates"
WAYS = {"bare", "marked", "gain", "paper", "lost", "seeds", "minutes"}
_NAME = re.compile(r"\{([a-z0-9][a-z0-9._-]*)(?::([a-z ]+))?\}")


@dataclass(frozen=True)
class Claim:
    """A statement of a template, and what must hold of the figures for it to be so."""

    says: str
    holds: list[str]


@dataclass(frozen=True)
class Beside:
    """What lies beside a template."""

    figures: dict[str, str]
    claim: list[Claim] = field(default_factory=list)


def filled(template: Path, text: str | None = None) -> str:
    """A template with its figures as they are now; a figure that does not exist is an error.

    `text` is filled in the template's place where it lies elsewhere, as that of recipes does.
    """
    text = template.read_text("utf-8") if text is None else text
    used = {found[1] for found in _NAME.finditer(text)}
    for claim in beside(template).claim:
        used.update(word for check in claim.holds for word in check.split())
    if unused := sorted(beside(template).figures.keys() - used):
        raise DataError(f"{unused[0]!r} is used nowhere", path=_file(template), fix="take it out")
    return said(template, text)


def said(template: Path, text: str) -> str:
    """A part of a template, or of what is filled in its place, with its figures."""
    return _NAME.sub(lambda found: _said(template, place(found[1], template), (found[2] or "").split()), text)


@cache
def beside(template: Path) -> Beside:
    """The figures and claims of a template."""
    return toml.read_toml(Beside, _file(template))


def place(name: str, template: Path) -> str:
    """Where the figure of this name stands."""
    known = beside(template).figures
    if name not in known:
        raise DataError(f"{name!r} is no figure", path=template, fix=f"name it in {_file(template).name}")
    return known[name]


def at(template: Path, place: str, tested: bool = False) -> Cell:
    """The cell at a place such as ``scan table2 | TANDA | wikiqa | MAP``; `tested` against its baseline."""
    found = sorted(_at(place, tested), key=lambda cell: cell.convention != "fixed")
    if not found or found[0].mean is None:
        raise DataError(f"there is no figure {place}", path=template, fix="run it, or leave it out")
    return found[0]


def printed(template: Path, place: str) -> float:
    """What the paper printed there, under whichever convention it has."""
    found = [cell.published for cell in _at(place) if cell.published is not None]
    if not found:
        raise DataError(f"the paper has no figure {place}", path=template)
    return found[0]


def _at(place: str, tested: bool = False) -> list[Cell]:
    table, row, column, what = (part.strip() for part in place.split("|"))
    whole, _, convention = what.partition(" by ")
    measure, _, pool = whole.partition(" of ")
    if table == "overlaps":
        count = float(overlaps.count(row, column, measure))
        return [Cell(table, row, column, measure, "fixed", count, None, None, 0, 0, None, "")]
    paper, name = table.split(" ", 1)
    if (paper, name) not in tables():
        raise DataError(f"there is no table {table!r}", path=TEMPLATES, fix="name one under experiments/")
    known = (tested_cells if tested else _cells)(paper, name)
    if column.startswith((losses.LOST, losses.MORE)):
        known = lost_cells(paper, name)
    found = [cell for cell in known if (cell.row, cell.column, cell.measure) == (row, column, measure)]
    found = [cell for cell in found if convention in ("", cell.convention)]
    return [_of_pool(cell, pool) for cell in found] if pool else found


def _file(template: Path) -> Path:
    return template.with_suffix(".toml")


def by_seed(cell: Cell) -> list[float]:
    """The mean of a cell for each of its seeds."""
    kind = KINDS[table_of(cell).kind]
    found = (kind.figure([one], cell.convention, cell.measure) for one in kept_of(cell).values())
    return [each.mean for each in found if each]


def _of_pool(cell: Cell, pool: str) -> Cell:
    """A cell's figure of one pool alone, which is no mean over pools and is tested against nothing."""
    kind = KINDS[table_of(cell).kind]
    found = [kind.values([one], cell.convention, cell.measure) for one in kept_of(cell).values()]
    if any(pool not in each for each in found):
        raise DataError(f"{cell.column} has no pool {pool!r}", path=TEMPLATES, fix="name one of its ids")
    mean = sum(each[pool] for each in found) / len(found) if found else None
    return replace(cell, mean=mean, low=None, high=None, difference=None, p=None)


def kept_of(cell: Cell) -> dict[int, Result]:
    """What is kept of a cell, by seed."""
    table = table_of(cell)
    row = next(each for each in table.row if each.name == cell.row)
    column = next(each for each in table.column if each.name == cell.column)
    return kept(table, row, column, ROOT / "results")


def _said(template: Path, place: str, ways: list[str]) -> str:
    """A figure in words, said in these ways."""
    if " of " in place.rpartition("|")[2] and set(ways) - {"bare"}:
        raise DataError(f"the figure of one pool cannot be said {ways[0]!r}", path=template)
    if strange := set(ways) - WAYS:
        fix = f"write {', '.join(sorted(WAYS))}"
        raise DataError(f"a figure cannot be said {sorted(strange)[0]!r}", path=template, fix=fix)
    if "paper" in ways:
        return f"{printed(template, place):.3f}"
    cell = at(template, place, tested=bool({"marked", "gain"} & set(ways)))
    if "lost" in ways:
        return losses.phrase(table_of(cell), cell)
    if "gain" in ways:
        text = f"{cell.difference:+.3f}"
    elif "minutes" in ways:
        return f"{min(one['seconds'] for one in kept_of(cell).values()) / 60:.1f}"
    elif "seeds" in ways:
        seeds = by_seed(cell)
        text = f"{min(seeds):.3f} to {max(seeds):.3f} over {len(seeds)} seeds"
        text = text if len(seeds) > 1 else f"{seeds[0]:.3f} with one seed"
    elif cell.low is None or cell.high is None:
        text = f"{cell.mean:,.0f}" if float(cell.mean or 0).is_integer() else f"{cell.mean:,.3g}"
    else:
        text = f"{cell.mean:.3f}" + _beside(cell) * ("bare" not in ways)
    old = cell.origin not in ("", earlier.CONFIRMED)
    return text + mark(cell) * ("marked" in ways) + sign(cell) * old


def _beside(cell: Cell) -> str:
    """What stands behind a mean: its interval, or of a curve how far its seeds lie apart, if they do."""
    low, high = cell.low or 0.0, cell.high or 0.0
    if table_of(cell).kind != "curves":
        return f" ({low:.3f}–{high:.3f})"
    return f" ± {(high - low) / 2:.3f}" if high - low > 1e-9 else ""


@cache
def tables() -> dict[tuple[str, str], Table]:
    """All tables, by paper and name. Reading the recipes takes a second or more, so it is done once."""
    return {(each.paper, each.table): each for each in find_tables(ROOT / "experiments")}


def table_of(cell: Cell) -> Table:
    """The table that a cell is of."""
    paper, name = cell.table.split("/")
    return tables()[paper, name]


@cache
def _cells(paper: str, table: str) -> list[Cell]:
    return list(cells(tables()[paper, table], ROOT / "results"))


@cache
def tested_cells(paper: str, table: str) -> list[Cell]:
    """The cells of a table, tested against their baselines."""
    return compared(tables()[paper, table], _cells(paper, table), ROOT / "results")


@cache
def lost_cells(paper: str, table: str) -> list[Cell]:
    """What perturbations cost the rows of a table."""
    return losses.cells(tables()[paper, table], ROOT / "results")
