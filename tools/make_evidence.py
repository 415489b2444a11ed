"""Writes src/demur/advice/evidence.json from results/; with --check, says whether it is out of date.

What pools look like is not in results: ``--profiles``, where DEMUR_DATA points at the datasets,
looks at them again and writes results/scarce/profiles.json first.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from demur import registry
from demur.advice.deciding.evidence import FORMAT
from demur.advice.deciding.profile import Profile
from demur.advice.methods import METHODS, Method
from demur.errors import DemurError
from demur.experiments.kinds import KINDS
from demur.experiments.recipe import Column, Row, Table
from demur.experiments.runs import Run, stored_result
from demur.experiments.tables import Cell, cells, find_tables
from demur.files import replacing
from demur.rankers.vectors.recipe_encoder import as_it_comes, in_floats

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "results"
PROFILES = RESULTS / "scarce" / "profiles.json"
EVIDENCE = ROOT / "src" / "demur" / "advice" / "evidence.json"
COLUMNS = {  # of table 1, one for each dataset, and how advice calls it
    "wikiqa answerable": "WikiQA",
    "trecqa clean": "TrecQA",
    "selqa": "SelQA",
    "semeval2016": "SemEval 2016",
    "antique": "ANTIQUE",
    "yahoocqa": "Yahoo CQA",
    "insuranceqa reduced": "InsuranceQA",
    "fiqa reduced": "FiQA",
}
_LESSONS = ("WikiQA", "TrecQA", "SemEval 2016")  # of both models that come with demur
TAUGHT = dict.fromkeys(("mini", "encoder", "fusion", "forum", "mini + encoder"), _LESSONS)
"""Where a method has learnt from labels of the dataset's own, which says nothing of data without labels.

There the encoder stands as it was before it was taught; `mini` was nothing before.
"""
TABLES = (("scarce", "table1"), ("mini", "table1"))
"""Where methods without labels were measured; both are of kind ranking."""
MEASURE, CONVENTION = "MAP", "fixed"
DIGITS = 4


def make(experiments: Path, results: Path, profiles: dict[str, Any]) -> dict[str, Any]:
    """The evidence: for each dataset looked at, how its pools look and what methods reached there."""
    tables = {table.table: table for table in find_tables(experiments, "scarce")}
    sources = measured_in(experiments)
    datasets = []
    for column in tables["table1"].column:
        if column.name not in COLUMNS or column.data not in profiles:
            continue
        figures = dict(_figures(sources, results, column))
        curves = dict(_curves(tables["figure1"], results, column.data)) if "figure1" in tables else {}
        datasets.append(
            {
                "name": COLUMNS[column.name],
                "data": column.data,
                "profile": profiles[column.data],
                "figures": figures,
                "curves": curves,
                "without": max((figure["mean"] for figure in figures.values()), default=None),
            }
        )
    return {"format": FORMAT, "made": "python -m tools.make_evidence", "datasets": datasets}


def measured_in(experiments: Path) -> list[Table]:
    """The tables whose rows are looked through for methods, the first one first."""
    there = {(table.paper, table.table): table for table in find_tables(experiments)}
    return [there[name] for name in TABLES if name in there]


def kept_of(method: Method, data: str, tables: list[Table], results: Path) -> list[dict[str, Any]]:
    """What is kept of a method on a dataset, one for each seed, from the first table that has it."""
    for table in tables:
        column = next((each for each in table.column if each.data == data), None)
        row = row_of(method, table)
        if column is None or row is None:
            continue
        found = [one for seed in row.seeds if (one := stored_result(Run(table, row, column, seed), results))]
        if found:
            return found
    return []


def _figures(tables: list[Table], results: Path, column: Column) -> Iterator[tuple[str, dict[str, float]]]:
    """The figures of the methods that need no labels, by the method's name."""
    for method in METHODS:
        taught = COLUMNS[column.name] in TAUGHT.get(method.name, ())
        if method.labels or (taught and "mini" in method.name):
            continue
        before = replace(method, spec=in_floats(method.spec)) if taught else method
        found = kept_of(before, column.data, tables, results)
        figure = KINDS["ranking"].figure(found, CONVENTION, MEASURE)
        if figure is not None:
            numbers = {"mean": figure.mean, "low": figure.low, "high": figure.high}
            yield method.name, {key: round(n, DIGITS) for key, n in numbers.items() if n is not None}


def _curves(table: Table, results: Path, data: str) -> Iterator[tuple[str, list[list[float]]]]:
    """The learning curves on a dataset whose early stopping saw no more questions than were learnt from."""
    for column in table.column:
        small = [row for row in table.row if row.early == "small" and column.data == data]
        kept = list(_cells(table, small, results))
        for row in small:
            means = {cell.column: cell.mean for cell in kept if cell.row == row.name}
            points = [(size, means.get(f"{column.name} {size}")) for size in column.sizes]
            measured = [[float(size), round(mean, DIGITS)] for size, mean in points if mean is not None]
            if measured:
                yield row.name, measured


def _cells(table: Table, rows: list[Row], results: Path) -> Iterator[Cell]:
    """The cells of some rows, of our measure under our convention."""
    rows = [replace(row, baseline="") for row in rows]
    part = replace(table, baseline="", row=rows, measures=[MEASURE], conventions=[CONVENTION], published=[])
    for cell in cells(part, results):
        if cell.mean is not None:
            yield cell


def row_of(method: Method, table: Table) -> Row | None:
    """The row of a table that measured a method, if one did."""
    return next((row for row in table.row if _same(method.spec, row)), None)


def _same(spec: str, row: Row) -> bool:
    """Whether a row is of this ranker or trainer, all settings said."""
    if row.trainer:
        kind, ours, theirs = "trainer", spec, row.trainer
    else:
        kind, ours, theirs = "ranker", as_it_comes(spec), in_floats(row.ranker)
    try:
        return bool(theirs and registry.build(kind, ours).spec == registry.build(kind, theirs).spec)
    except DemurError:  # it names a file or model that is made when the table is run
        return False


def looked_at(experiments: Path) -> dict[str, Any]:
    """How the pools of the columns look, from the datasets themselves."""
    from demur.data import pools

    (table,) = find_tables(experiments, "scarce", "table1")
    chosen = [column.data for column in table.column if column.name in COLUMNS]
    return {data: Profile.of(pools(data)).to_json() for data in chosen}


def text(value: dict[str, Any]) -> str:
    """The value as the file holds it."""
    return json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def main() -> int:
    """Write the file, or check it: 0 when it is as it should be."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--check", action="store_true")
    arguments.add_argument("--profiles", action="store_true")
    wanted = arguments.parse_args()
    if wanted.profiles:
        with replacing(PROFILES) as file:
            file.write(text(looked_at(ROOT / "experiments")))
    made = text(make(ROOT / "experiments", RESULTS, json.loads(PROFILES.read_text("utf-8"))))
    stale = not EVIDENCE.is_file() or EVIDENCE.read_text("utf-8") != made
    if stale and not wanted.check:
        with replacing(EVIDENCE) as file:
            file.write(made)
    if stale and wanted.check:
        print("evidence: out of date; run python -m tools.make_evidence")
        return 1
    print(f"evidence: {'written' if stale else 'up to date'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
