"""Figures in documents that people write: each stands between two marks, and is filled in from results/."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from demur.errors import DataError
from demur.experiments.baseline import compared, mark
from demur.experiments.tables import Cell, cells, find

ROOT = Path(__file__).resolve().parents[1]
_MARK = re.compile(
    r"(<!-- figure ([^|>]+)\|([^|>]+)\|([^|>]+)\|([^|>]+?)(\|[a-z ]+)? -->).*?(<!-- / -->)", re.DOTALL
)
"""Such as ``<!-- figure scan table2 | TANDA | wikiqa | MAP -->0.838<!-- / -->``: table, row, column and
measure. Of several conventions ``fixed`` counts, or the table's first. Behind ``|`` may stand ``marked``, so
that ▲ or ▼ says what is surely above or below its baseline; ``bare``, without an interval; ``gain``, the
difference from the baseline, over the seeds that both have; ``paper``, what the paper printed, or what
follows from that."""


def filled(path: Path) -> str:
    """A document with its figures as they are now; a figure that there is not is an error."""

    def now(found: re.Match[str]) -> str:
        table, row, column, measure = (part.strip() for part in found.groups()[1:5])
        cell = _cell(path, table, row, column, measure)
        wanted = (found[6] or "").strip("| ").split()
        if {"marked", "gain"} & set(wanted):
            cell = _cell(path, table, row, column, measure, beside=True)
        if "paper" in wanted and cell.published is None:
            raise DataError(f"the paper has no figure {table} | {row} | {column} | {measure}", path=path)
        said = f"{cell.difference:+.3f}" if "gain" in wanted else _said(cell, "bare" in wanted)
        said = f"{cell.published:.3f}" if "paper" in wanted else said
        return f"{found[1]}{said}{mark(cell) if 'marked' in wanted else ''}{found[7]}"

    return _MARK.sub(now, path.read_text("utf-8"))


def _cell(path: Path, table: str, row: str, column: str, measure: str, beside: bool = False) -> Cell:
    """What stands there in a table."""
    paper, _, name = table.partition(" ")
    here = [
        cell
        for cell in (_beside if beside else _cells)(paper, name)
        if (cell.row, cell.column, cell.measure) == (row, column, measure)
    ]
    found = sorted(here, key=lambda cell: cell.convention != "fixed")
    if not found or found[0].mean is None:
        what = f"there is no figure {table} | {row} | {column} | {measure}"
        raise DataError(what, path=path, fix="run it, or leave it out")
    return found[0]


def _said(cell: Cell, bare: bool) -> str:
    """The mean with its interval, if it has one."""
    if bare and cell.low is not None:
        return f"{cell.mean:.3f}"
    if cell.low is None or cell.high is None:
        return f"{cell.mean:,.3g}"
    return f"{cell.mean:.3f} ({cell.low:.3f}–{cell.high:.3f})"


@cache
def _cells(paper: str, table: str) -> list[Cell]:
    (recipe,) = find(ROOT / "experiments", paper, table)
    return list(cells(recipe, ROOT / "results"))


@cache
def _beside(paper: str, table: str) -> list[Cell]:
    (recipe,) = find(ROOT / "experiments", paper, table)
    return compared(recipe, _cells(paper, table), ROOT / "results")
