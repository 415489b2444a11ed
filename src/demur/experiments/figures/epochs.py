"""What dev said of nets after each epoch of their training, drawn from the results that are kept."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

import numpy as np

from demur.errors import UsageError
from demur.evaluation.plots.learning import Curve, learning_curves
from demur.experiments.kinds.base import Result
from demur.experiments.models.rankers import stages
from demur.experiments.recipe import Column, Row, Table
from demur.experiments.runs import Run, stored_result
from demur.specs import parse

Epochs = dict[int, float]
"""What dev said, by epoch."""


def draw(table: Table, results: Path, path: Path, only: Sequence[str] = ()) -> None:
    """Write a picture of a group of rows: a panel for each dataset, a curve for each stage that learns."""
    if len(only) != 1:
        groups = sorted({row.group for row in table.row if row.group and row.trainer})
        what = f"{table.paper} {table.table} has too many rows for one picture"
        raise UsageError(f"{what}; name one group of them with --only: {', '.join(groups)}")
    panels: list[tuple[str, dict[str, Curve]]] = []
    for column in table.column:
        panel: dict[str, Curve] = {}
        drawn: list[list[Epochs]] = []
        for row in (row for row in table.row if row.group in only):
            found = of_row(table, row, column, results)
            if found and found not in drawn:  # a stage that several rows share is drawn once
                drawn.append(found)
                panel[row.name] = curve(found)
        alike = next((place for place, (_, other) in enumerate(panels) if other == panel), None)
        if alike is not None:  # columns that share a dev set share a panel
            panels[alike] = _joined(panels[alike][0], column.name), panel
        elif panel:
            panels.append((column.name, panel))
    if not panels:
        what = f"no result of {table.paper} {table.table}, {only[0]}, says what dev was after each epoch"
        raise UsageError(f"{what}; run demur reproduce without --cached, for rows that learn with a dev set")
    learning_curves(
        path, dict(panels), f"{_measure(table, only)} on dev", "epoch; before 0 that of the first stage"
    )


def _measure(table: Table, only: Sequence[str]) -> str:
    """What dev was looked at by, where all stages of a group of rows agree on it."""
    steps = [
        step
        for row in table.row
        if row.group in only and row.trainer
        for step in stages(Run(table, row, table.column[0], row.seeds[0]), there=False)
    ]
    said = {
        str(value)
        for step in steps
        for name, value in parse(step.by.spec).settings.items()
        if name in ("early", "measure")
    }
    return said.pop() if len(said) == 1 else "measure"


def _joined(title: str, name: str) -> str:
    """A title and a name behind it, without the words that both begin with."""
    words = name.split()
    both = zip(title.split(), words[:-1], strict=False)
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], both))
    return f"{title}, {' '.join(words[shared:])}"


def of_row(table: Table, row: Row, column: Column, results: Path) -> list[Epochs]:
    """Of each seed that is kept, what dev said in the row's last stage that has epochs.

    Those of a first stage are counted back from its end, where the next one begins.
    """
    found = []
    for seed in row.seeds:
        stages = _epochs(stored_result(Run(table, row, column, seed), results) or {})
        places = [place for place, stage in enumerate(stages) if stage]
        if places:
            stage = stages[places[-1]]
            last = stage[-1][0] if places[-1] == 0 and _goes_on(table) else 0
            found.append({int(epoch) - int(last): float(dev) for epoch, dev in stage})
    return found


def _epochs(result: Result) -> Sequence[Sequence[Sequence[float]]]:
    stages: Sequence[Sequence[Sequence[float]]] = result.get("epochs", [])
    return stages


def _goes_on(table: Table) -> bool:
    """Whether some row of the table has a stage after its first."""
    return any(len(row.stage) > 1 for row in table.row)


def curve(seeds: Sequence[Epochs]) -> Curve:
    """The mean over those seeds that had an epoch, and how far they lie apart."""
    epochs = sorted({epoch for each in seeds for epoch in each})
    values = [[each[epoch] for each in seeds if epoch in each] for epoch in epochs]
    means = [float(np.mean(each)) for each in values]
    return Curve(epochs, means, [min(each) for each in values], [max(each) for each in values])
