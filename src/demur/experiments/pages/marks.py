"""What is said beside the figures of readers: of how many they are, what is sure, and who is better silent.

A doubt's rows are all of the answers that one reader gives. Their intervals are over its questions; what
another reader would bring they do not know, and two readers differ by more than most doubts do. So methods
are told apart only where several readers were doubted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from demur.evaluation.intervals import Estimate
from demur.evaluation.readers import over_silence
from demur.experiments.kinds import KINDS
from demur.experiments.kinds.derived import GAIN
from demur.experiments.recipe import Column, Table
from demur.experiments.runs import Run, stored_result
from demur.experiments.tables import Cell

SILENT = " †"
"""Behind the name of a row whose reader is not significantly better than one that never answers."""
ABOVE, BELOW = " ▲", " ▼"


def gained(cell: Cell) -> str:
    """A sign behind a gain that is significantly above or below 0, for more readers than one."""
    if cell.readers < 2 or not cell.measure.startswith(GAIN) or cell.low is None or cell.high is None:
        return ""
    return ABOVE if cell.low > 0 else BELOW if cell.high < 0 else ""


def counted(cell: Cell) -> str:
    """Of how many seeds and readers a mean is: one is said where another could have come out otherwise."""
    seeds = f", {cell.seeds} seeds" if cell.seeds > 1 else ""
    if cell.seeds == 1 and (cell.wanted > 1 or cell.learns):
        seeds = ", 1 seed"
    readers = f", {cell.readers} readers" if cell.readers > 1 else ", 1 reader" if cell.readers else ""
    return seeds + readers


def silent(table: Table, column: Column, results: Path) -> dict[str, Estimate]:
    """By row, what EM is above that of never answering, where that is not significantly something.

    Of several seeds it is the one that gains least.
    """
    found = {}
    for row in table.row:
        seeds = row.seeds if row.runs and column.data else []
        runs = [one for seed in seeds if (one := stored_result(Run(table, row, column, seed), results))]
        counts = {KINDS[table.kind].outcomes([one]) for one in runs} - {None}
        gains = sorted((over_silence(*each) for each in counts if each), key=lambda gain: gain.low)
        if gains and gains[0].low <= 0:
            found[row.name] = gains[0]
    return found


def footnotes(table: Table, cells: Sequence[Cell], quiet: Mapping[str, Estimate]) -> list[str]:
    """What the signs of a dataset's grid mean, a paragraph each."""
    notes = []
    if quiet:
        first: dict[Estimate, str] = {}
        for name, gain in quiet.items():
            first.setdefault(gain, name)
        each = [
            f"{table.parts(name)[0] or table.shown(name)} {_signed(gain)}" for gain, name in first.items()
        ]
        others = ", and the same in the other rows of a reader" if len(each) < len(quiet) else ""
        notes.append(
            f"{SILENT.strip()}: a reader that is not significantly better than one that never answers. "
            "Exact match less the share of questions without an answer, with its paired 95 % interval over "
            "questions: "
            f"{'; '.join(each)}{others}. The doubts of such a reader say little."
        )
    if any(cell.readers == 1 and cell.measure.startswith(GAIN) and cell.mean is not None for cell in cells):
        notes.append(
            "1 reader: all answers are those of one reader. Intervals are over its questions, and over seeds "
            f"where there are several. They say nothing about other readers, so a gain has{ABOVE} or{BELOW} "
            "only where it is significantly above or below 0 with two readers or more."
        )
    return notes


def _signed(gain: Estimate) -> str:
    return f"{gain.mean:+.3f} ({gain.low:+.3f} to {gain.high:+.3f})"
