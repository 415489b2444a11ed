"""Statements held against the figures that they rest on; `make check` fails where one is no longer so.

Each ``[[claim]]`` beside a template names words of the template (``says``) and checks (``holds``):

    a > b              the mean of a is above that of b; b may be a number
    a >> b             surely above: by a permutation test over pools, p < .05
    a ~ b              not told apart by that test
    a within .01 of b  the means are no further apart
    a beyond .01 of b  the means are further apart
    low a > 0          of the end of the interval; `high` is the other end
    paper a > b        of the figure that the paper printed
    worst a > b        of the seed with the lowest mean; `best` is the one with the highest

In a test, too, b may be a number: `a ~ 0` of a difference says that it is not told apart from none.
The tests of all claims about one table are one family with Holm's correction, which counts the comparisons
that the table itself makes with its baselines, too. A claim about something learnt of which there is one seed
has to say ``one seed``, itself or by a figure in it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from demur.errors import DataError
from demur.evaluation.comparison.significance import holm, permutation
from demur.experiments.kinds import KINDS
from demur.experiments.pages import losses
from demur.experiments.pages.baseline import alike
from demur.experiments.tables import Cell
from tools.figures import (
    ROOT,
    at,
    beside,
    by_seed,
    kept_of,
    place,
    printed,
    said,
    table_of,
    tested_cells,
)

LEVEL = 0.05
_DRAWS = 20_000
_FIGURE = r"(?:(?P<{0}_end>low|high|paper|worst|best) )?(?P<{0}>[a-z0-9.-]\S*)"
_CHECK = re.compile(
    rf"{_FIGURE.format('a')} (?:(?P<how>>>|>|~)|(?P<near>within|beyond) (?P<most>[\d.]+) of) "
    rf"{_FIGURE.format('b')}"
)


@dataclass(frozen=True)
class Check:
    """One line of a claim, read."""

    text: str
    a: str
    b: str
    how: str
    ends: tuple[str, str]
    most: float

    @property
    def tests(self) -> bool:
        """Whether pools are compared one by one."""
        return self.how in (">>", "~")


def read(text: str) -> Check:
    """The check that a line spells."""
    found = _CHECK.fullmatch(text)
    if found is None:
        raise DataError(f"{text!r} is no check", fix="write such as: a > b, a >> b, a ~ b, a within .01 of b")
    ends = (found["a_end"] or "mean", found["b_end"] or "mean")
    return Check(text, found["a"], found["b"], found["how"] or found["near"], ends, float(found["most"] or 0))


def broken(template: Path, text: str | None = None) -> list[str]:
    """The claims of a template, or of a text that lies elsewhere, that do not hold: a line each."""
    text = " ".join((template.read_text("utf-8") if text is None else text).split())
    claims = [(claim, [read(line) for line in claim.holds]) for claim in beside(template).claim]
    sure = _sure(template, [check for _, checks in claims for check in checks if check.tests])
    found = []
    for claim, checks in claims:
        about = f"{template.name}: {claim.says[:70]!r}"
        if " ".join(claim.says.split()) not in text:
            found.append(f"{about} stands nowhere in the template")
        found += [
            f"{about} does not follow: {check.text} ({_figures(template, check)})"
            for check in checks
            if not _holds(template, check, sure)
        ]
        ours = [name for check in checks for name in _names(check, printed_too=False)]
        single = [name for name in ours if _of_one_seed(_cell(template, name))]
        if single and "one seed" not in said(template, claim.says):
            found.append(f"{about} rests on one seed ({single[0]}) and does not say so")
    return found


def _holds(template: Path, check: Check, sure: dict[str, float]) -> bool:
    a, b = (_value(template, name, end) for name, end in zip((check.a, check.b), check.ends, strict=True))
    if check.how in ("within", "beyond"):
        return (abs(a - b) <= check.most + 1e-9) == (check.how == "within")
    if check.how == "~":
        return sure[check.text] >= LEVEL
    return a > b and (check.how == ">" or sure[check.text] < LEVEL)


def _value(template: Path, name: str, end: str) -> float:
    """A number itself, or the mean of a figure, or an end of its interval, or the paper's."""
    if _number(name):
        return float(name)
    if end == "paper":
        return printed(template, place(name, template))
    cell = _cell(template, name)
    if end in ("worst", "best"):
        return {"worst": min, "best": max}[end](by_seed(cell))
    found = {"mean": cell.mean, "low": cell.low, "high": cell.high}[end]
    if found is None:
        raise DataError(f"{name} has no {end}", path=template)
    return found


def _number(name: str) -> bool:
    return re.fullmatch(r"-?\d*\.?\d+", name) is not None


def _names(check: Check, printed_too: bool = True) -> list[str]:
    """The figures that a check is about; without those of which only what the paper printed counts."""
    named = zip((check.a, check.b), check.ends, strict=True)
    return [name for name, end in named if not _number(name) and (printed_too or end != "paper")]


def _figures(template: Path, check: Check) -> str:
    """The figures of a check, for whoever has to mend the claim."""
    ours = [f"{name} {_cell(template, name).mean:.4f}" for name in _names(check, printed_too=False)]
    return ", ".join(ours) or "as printed"


@cache
def _cell(template: Path, name: str) -> Cell:
    return at(template, place(name, template))


def _of_one_seed(cell: Cell) -> bool:
    return cell.learns and cell.seeds == 1


def _sure(template: Path, checks: list[Check]) -> dict[str, float]:
    """For each check that tests, its p after Holm's correction over all tests of its table."""
    by_table: dict[str, list[Check]] = defaultdict(list)
    for check in checks:
        by_table[_cell(template, check.a).table].append(check)
    found: dict[str, float] = {}
    for table, here in by_table.items():
        own = [_p(template, check) for check in here]
        adjusted = holm(own + [1.0] * _comparisons(table))
        found |= {check.text: p for check, p in zip(here, adjusted, strict=False)}
    return found


def _p(template: Path, check: Check) -> float:
    """The p of the difference between two figures, pool by pool."""
    cells = [_cell(template, name) for name in (check.a, check.b) if not _number(name)]
    a, *others = _values(cells)
    b = others[0] if others else dict.fromkeys(a, float(check.b))
    if not (shared := sorted(a.keys() & b.keys())):
        raise DataError(f"{check.text}: they have no pools in common to compare", path=template)
    return permutation(np.round([a[pool] - b[pool] for pool in shared], 12), draws=_DRAWS)


def _values(cells: Sequence[Cell]) -> list[dict[str, float]]:
    """Figures pool by pool, the means over their seeds: of two with several, over those that both have."""
    found = [{} if _is_lost(cell) else kept_of(cell) for cell in cells]
    if len(found) == 2:
        several = min(cell.wanted for cell in cells) > 1
        lists = [list(each) for each in alike(found[0], found[1], several)]
    else:
        lists = [list(each.values()) for each in found]
    return [
        losses.values(table_of(cell), cell, ROOT / "results")
        if _is_lost(cell)
        else KINDS[table_of(cell).kind].values(results, cell.convention, cell.measure)
        for cell, results in zip(cells, lists, strict=True)
    ]


def _is_lost(cell: Cell) -> bool:
    return cell.column.startswith((losses.LOST, losses.MORE))


def _comparisons(table: str) -> int:
    """How many comparisons with baselines the table itself makes, under one convention."""
    compared = [cell for cell in tested_cells(*table.split("/")) if cell.p is not None]
    return sum(cell.convention == compared[0].convention for cell in compared)
