"""Nine rows of the committee's Table 1, on two datasets, run again from an empty cache; beside those kept."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.common import Row, seconds_once, told
from demur.experiments.runs import Run, stored_result
from demur.experiments.tables import find_tables, home

GROUPS, COLUMNS = ("MatchPyramid", "Deep Matching Net", "MAN"), ("wikiqa", "trecqa clean")
MEASURE = "nDCG@5"


def command() -> list[str]:
    """What is timed, as a user gives it."""
    only = [word for name in GROUPS for word in ("--only", name)]
    columns = [word for name in COLUMNS for word in ("--column", name)]
    return [sys.executable, "-m", "demur", "reproduce", "committee", "table1", *only, *columns]


def means(results: Path) -> dict[tuple[str, str], float]:
    """The means over seeds of the nine rows in each column, by what is kept in a folder."""
    (table,) = find_tables(home() / "experiments", "committee", "table1")
    found: dict[tuple[str, str], list[float]] = {}
    for row in (row for row in table.row if row.group in GROUPS):
        for column in (column for column in table.column if column.name in COLUMNS):
            for seed in row.seeds:
                if there := stored_result(Run(table, row, column, seed), results):
                    figure = there["conventions"]["fixed"]["estimates"][MEASURE][0]
                    found.setdefault((row.name, column.name), []).append(figure)
    return {place: statistics.mean(figures) for place, figures in found.items()}


def beside(results: Path, seconds: float) -> list[Row]:
    """The rows about a run that left its results in a folder."""
    there, here = means(results), means(home() / "results")
    off = [abs(there[place] - here[place]) for place in sorted(there.keys() & here.keys())]
    what = f"{len(there)} means of Table 1, on WikiQA and TrecQA, whole, from an empty cache in 2 processes"
    whole = Row(what=what, found=f"{seconds / 60:.0f} min", goal="<= 60 min", met=seconds <= 3600)
    what = f"{MEASURE} of these means, by how much they differ from those in results/: on average, at most"
    found = f"{sum(off) / len(off):.3f}, {max(off):.3f}" if off else "nothing to compare"
    return [whole, told(what, found)]


def run() -> list[Row]:
    """All rows; it takes an hour."""
    if not os.environ.get("DEMUR_DATA"):
        return []
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        shutil.copytree(home() / "experiments", place / "experiments")
        shutil.copy(home() / "pyproject.toml", place)
        data = str(Path(os.environ["DEMUR_DATA"]).resolve())  # it may be said from here
        around = {**os.environ, "DEMUR_DATA": data, "DEMUR_CACHE": str(place / "cache")}
        seconds = seconds_once(lambda: subprocess.run(command(), cwd=place, env=around, check=True))
        return beside(place / "results", seconds)
