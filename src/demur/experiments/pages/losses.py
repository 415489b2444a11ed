"""What a perturbation costs a row, and whether it costs the baseline as much: pool by pool.

Where a column learns from the same data as the plain one, its perturbation is of the test set. Then only
figures of the very same network are compared: another one of the same recipe and seed, trained by another
edition, would differ from it without any perturbation.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import numpy as np

from demur.evaluation.comparison.significance import holm, permutation
from demur.evaluation.intervals import estimates
from demur.experiments.kinds import KINDS
from demur.experiments.pages.baseline import DRAWS, LEVEL, kept
from demur.experiments.recipe import Column, Loss, Row, Table
from demur.experiments.tables import Cell, learns

LOST, MORE = "lost: ", "lost more: "
"""Before the name of a loss, in the column of a cell: the row's own, and that less the baseline's."""
SAID = """The plain column less the perturbed ones, the mean over draws and seeds, with its 95 % interval
over pools. Behind it, whether {base} loses as much, by the draws and seeds that both have: the difference
with its 95 % interval, and whether a permutation test over pools, which flips its signs, tells it from none
(Holm's correction over all rows and columns here). A perturbed test set counts where the very network
ranked it that ranked the plain one, and other training labels where training began from the same weights."""
Drawn = dict[tuple[int, str], dict[str, float]]
"""By seed and column, what each pool loses."""


def cells(table: Table, results: Path) -> list[Cell]:
    """What each row loses and, but for the baseline, how much more than it; these are one family of tests."""
    found: list[Cell] = []
    for row in table.row:
        for loss in table.loss:
            own = _drawn(table, row, loss, results)
            found.append(_cell(table, row, loss, LOST, own.keys(), _mean(own, own.keys())))
            if row.name != table.baseline:
                found.append(_cell(table, row, loss, MORE, *_beyond(table, row, loss, results)))
    tested = [place for place, cell in enumerate(found) if cell.p is not None]
    for place, p in zip(tested, holm([found[place].p or 0.0 for place in tested]), strict=True):
        found[place] = replace(found[place], p=p)
    return found


def values(table: Table, cell: Cell, results: Path) -> dict[str, float]:
    """Pool by pool, what a cell of `cells` is the mean of."""
    row = next(each for each in table.row if each.name == cell.row)
    name = cell.column.removeprefix(LOST).removeprefix(MORE)
    loss = next(each for each in table.loss if each.name == name)
    if cell.column.startswith(MORE):
        return _beyond(table, row, loss, results)[1]
    own = _drawn(table, row, loss, results)
    return _mean(own, own.keys())


def phrase(table: Table, cell: Cell) -> str:
    """How much more or less than the baseline a row loses, its interval, of how much that is, how sure."""
    assert cell.mean is not None and cell.low is not None and cell.high is not None  # the caller has looked
    how = "more" if cell.mean > 0 else "less"
    sure = "significant" if cell.p is not None and cell.p < LEVEL else "not told apart"
    return (
        f"{abs(cell.mean):.3f} {how} than {table.shown(table.baseline)} "
        f"({_signed(cell.low)} to {_signed(cell.high)}; {_of(cell)}; {sure})"
    )


def grid(table: Table, results: Path) -> str:
    """What rows lose, as a Markdown table, and what it says of them."""
    by_place = {(cell.row, cell.column): cell for cell in cells(table, results)}
    lines = ["| | " + " | ".join(loss.name for loss in table.loss) + " |"]
    lines.append("|---|" + "---|" * len(table.loss))
    for row in table.row:
        shown = []
        for loss in table.loss:
            own, more = (by_place.get((row.name, kind + loss.name)) for kind in (LOST, MORE))
            parts = [_own(own)] if own and own.mean is not None else ["–"]
            parts += [phrase(table, more)] if more and more.mean is not None else []
            shown.append("; ".join(parts))
        if set(shown) != {"–"}:
            lines.append(f"| {row.shown} | " + " | ".join(shown) + " |")
    head = f"### What is lost in {table.measures[0]}, convention `{_convention(table)}`"
    return f"{head}\n\n" + "\n".join(lines) + "\n\n" + SAID.format(base=table.shown(table.baseline))


def _convention(table: Table) -> str:
    return "fixed" if "fixed" in table.conventions else table.conventions[0]


def _cell(
    table: Table,
    row: Row,
    loss: Loss,
    what: str,
    of: Collection[tuple[int, str]],
    lost: Mapping[str, float],
) -> Cell:
    figures = np.array([lost[pool] for pool in sorted(lost)])
    mean, low, high = astuple(estimates(figures[:, None])[0]) if lost else (None, None, None)
    draws, wanted = len({column for _, column in of}), len(loss.columns)
    own, theirs = (_published(table, name, loss) for name in (row.name, table.baseline))
    printed = own if what == LOST else None if own is None or theirs is None else own - theirs
    return Cell(
        table=f"{table.paper}/{table.table}",
        row=row.name,
        column=what + loss.name,
        measure=table.measures[0],
        convention=_convention(table),
        mean=mean,
        low=low,
        high=high,
        seeds=len({seed for seed, _ in of}),
        pools=len(lost),
        published=printed,
        note="" if wanted == 1 else f"{draws} draws" if draws == wanted else f"{draws} of {wanted} draws",
        wanted=len(row.seeds),
        p=permutation(np.round(figures, 12), draws=DRAWS) if lost and what == MORE else None,
        learns=learns(table, row),
    )


def _published(table: Table, row: str, loss: Loss) -> float | None:
    """What the paper's own figures come to, of the columns that it has."""
    for each in table.published:
        if (each.row, each.measure) == (row, table.measures[0]) and loss.plain in each.values:
            printed = [each.values[name] for name in loss.columns if name in each.values]
            return each.values[loss.plain] - sum(printed) / len(printed) if printed else None
    return None


def _beyond(
    table: Table, row: Row, loss: Loss, results: Path
) -> tuple[Collection[tuple[int, str]], dict[str, float]]:
    """By which seeds and draws a row and the baseline are compared, and pool by pool what it loses more."""
    base = next(each for each in table.row if each.name == table.baseline)
    here, there = (_drawn(table, each, loss, results) for each in (row, base))
    both = here.keys() & there.keys()
    ours, theirs = _mean(here, both), _mean(there, both)
    return both, {pool: ours[pool] - theirs[pool] for pool in ours.keys() & theirs.keys()}


def _drawn(table: Table, row: Row, loss: Loss, results: Path) -> Drawn:
    by_name = {column.name: column for column in table.column}
    before = kept(table, row, by_name[loss.plain], results)
    found: Drawn = {}
    for column in [by_name[name] for name in loss.columns]:
        for seed, one in kept(table, row, column, results).items():
            if seed in before and _comparable(len(row.stage), by_name[loss.plain], column, before[seed], one):
                plain, lower = (
                    KINDS[table.kind].values([each], _convention(table), table.measures[0])
                    for each in (before[seed], one)
                )
                found[seed, column.name] = {
                    pool: plain[pool] - lower[pool] for pool in plain.keys() & lower.keys()
                }
    return found


def _comparable(
    stages: int, plain: Column, column: Column, before: Mapping[str, Any], after: Mapping[str, Any]
) -> bool:
    """Whether two results are of the same network; where other labels are learnt, from the same start.

    A network whose weights had no hash yet is known by its recipe and by what dev said after each epoch.
    """
    (start, end), (other_start, other_end) = (
        ["", "", *each.get("model_hashes", {}).get("stages", [])][-2:] for each in (before, after)
    )
    if plain.train != column.train:
        return stages < 2 or start == other_start != ""
    if end and other_end:
        return bool(end == other_end)
    return all(before.get(each) == after.get(each) for each in ("made of", "epochs"))


def _mean(drawn: Drawn, of: Collection[tuple[int, str]]) -> dict[str, float]:
    """By pool, the mean over seeds of the means over their draws."""
    if not of:
        return {}
    pools = set.intersection(*(set(drawn[each]) for each in of))
    seeds = sorted({seed for seed, _ in of})
    by_seed = {seed: [drawn[each] for each in sorted(of) if each[0] == seed] for seed in seeds}
    return {
        pool: float(np.mean([np.mean([one[pool] for one in draws]) for draws in by_seed.values()]))
        for pool in pools
    }


def _own(cell: Cell) -> str:
    return f"{_signed(cell.mean)} <sub>{_signed(cell.low)} to {_signed(cell.high)}, {_of(cell)}</sub>"


def _of(cell: Cell) -> str:
    """Of how many seeds and draws a figure is."""
    seeds = [f"{cell.seeds} seeds" if cell.seeds > 1 else "one seed"] if cell.learns else []
    return ", ".join(seeds + [cell.note] * bool(cell.note))


def _signed(end: float | None) -> str:
    return f"{round(end or 0, 3) + 0:.3f}".replace("-", "−")  # + 0: no −0.000
