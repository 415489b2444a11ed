"""Rows of a table beside its baseline."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from demur.data import formats
from demur.errors import UsageError
from demur.evaluation.comparison.significance import holm, permutation
from demur.experiments import recipe, tables
from demur.experiments.pages import markdown
from demur.experiments.pages.baseline import compared, legend, mark
from demur.experiments.recipe import Table
from demur.types import Pool

RECIPE = """
paper = "toy"
table = "table1"
title = "A table"
measures = ["RR", "P@1"]
conventions = ["fixed"]
differs = "Everything."
baseline = "bm25"

[[column]]
name = "animals"
data = "{data}"

[[row]]
name = "bm25"
ranker = "bm25"

[[row]]
name = "random"
ranker = "random"
seeds = [0, 1]

[[row]]
name = "the same"
ranker = "bm25"

[[row]]
name = "not yet"
"""


@pytest.fixture
def table(tmp_path: Path) -> Table:
    made = [
        Pool.of(f"ape w{n}", [f"w{n} ape", "bee", "cat", "dog", "eel", "fox"], [1, 0, 0, 0, 0, 0], id=f"q{n}")
        for n in range(20)
    ]
    formats.write_pools(tmp_path / "animals.jsonl", made)
    (tmp_path / "table1.toml").write_text(RECIPE.format(data=tmp_path / "animals.jsonl"), "utf-8")
    return recipe.read_recipe(tmp_path / "table1.toml")


def test_rows_are_tested_pool_by_pool_against_the_baseline(table: Table, tmp_path: Path) -> None:
    results = tmp_path / "results"
    tables.fill(table, results, (), lambda runs: None)
    plain = list(tables.cells(table, results))
    found = {(cell.row, cell.measure): cell for cell in compared(table, plain, results)}
    assert len(found) == len(plain)
    worse, same, base = found["random", "RR"], found["the same", "RR"], found["bm25", "RR"]
    assert base.mean == 1 and worse.mean is not None and worse.difference == pytest.approx(worse.mean - 1)
    assert (base.p, base.difference, found["not yet", "RR"].p) == (None, None, None)
    assert (same.p, same.difference, found["random", "P@1"].p) == (1.0, 0.0, None), "the first measure alone"
    assert worse.p is not None and worse.p < 0.05
    assert [mark(cell) for cell in (worse, same, base)] == [" ▼", "", ""]
    shown = markdown.section(table, results).replace("<sup>+</sup>", "")  # of uncommitted code
    assert f"{worse.mean:.3f} ▼ <sub>" in shown
    assert legend(table) in markdown.section(table, results)


def test_ps_are_corrected_over_rows_and_columns(table: Table, tmp_path: Path) -> None:
    results = tmp_path / "results"
    wide = dataclasses.replace(
        table, column=[*table.column, dataclasses.replace(table.column[0], name="again")]
    )
    tables.fill(wide, results, (), lambda runs: None)
    found = compared(wide, list(tables.cells(wide, results)), results)
    shown = [cell for cell in found if cell.p is not None]
    assert [(cell.row, cell.column) for cell in shown] == [
        (row, column) for row in ("random", "the same") for column in ("animals", "again")
    ]
    from demur.experiments.kinds import KINDS
    from demur.experiments.runs import Run, stored_result

    raw = []
    for cell in shown:
        row = next(row for row in wide.row if row.name == cell.row)
        column = next(column for column in wide.column if column.name == cell.column)
        here = [stored_result(Run(wide, row, column, seed), results) for seed in row.seeds]
        values = KINDS[wide.kind].values([one for one in here if one], "fixed", "RR")
        raw.append(
            permutation(np.array([values[f"q{n}"] - 1 for n in sorted(range(20), key=str)]), draws=20_000)
        )
    assert [cell.p for cell in shown] == pytest.approx(holm(raw))


def test_a_row_may_have_a_baseline_of_its_own(table: Table, tmp_path: Path) -> None:
    rows = {row.name: row for row in table.row}
    rows["the same"] = dataclasses.replace(rows["the same"], baseline="random")
    rows["random"] = dataclasses.replace(rows["random"], baseline="random")
    table = dataclasses.replace(table, row=list(rows.values()))
    results = tmp_path / "results"
    tables.fill(table, results, (), lambda runs: None)
    cells = compared(table, list(tables.cells(table, results)), results)
    found = {cell.row: cell for cell in cells if cell.measure == "RR"}
    base, own = found["random"], found["the same"]
    assert own.mean is not None and base.mean is not None and base.p is None, "nothing is its own baseline"
    assert own.difference == pytest.approx(own.mean - base.mean) and mark(own) == " ▲"
    assert "of the row's baseline (random; bm25)" in legend(table)
    with pytest.raises(UsageError, match="baseline='dice' is not a row"):
        dataclasses.replace(table, row=[*table.row, recipe.Row("last", "bm25", baseline="dice")])


def test_rows_with_several_seeds_are_compared_by_those_that_both_have(table: Table, tmp_path: Path) -> None:
    rows = {row.name: row for row in table.row}
    rows["bm25"] = dataclasses.replace(rows["bm25"], ranker="random", seeds=[0, 1])
    table = dataclasses.replace(table, row=list(rows.values()))
    results = tmp_path / "results"
    tables.fill(table, results, ["random"], lambda runs: None)
    tables.fill(table, results, ["bm25"], lambda runs: None, seeds=1)
    cells = compared(table, list(tables.cells(table, results)), results)
    found = {cell.row: cell for cell in cells if cell.measure == "RR"}
    assert found["random"].mean != found["bm25"].mean, "one is the mean of two seeds"
    assert found["random"].difference == 0, "with the one seed of both they are the same"


def test_without_a_baseline_nothing_is_tested(table: Table, tmp_path: Path) -> None:
    alone = dataclasses.replace(table, baseline="")
    tables.fill(alone, tmp_path / "results", (), lambda runs: None)
    cells = list(tables.cells(alone, tmp_path / "results"))
    assert compared(alone, cells, tmp_path / "results") == cells and legend(alone) == ""
    with pytest.raises(UsageError, match="baseline='bm26' is not a row"):
        dataclasses.replace(table, baseline="bm26")


def test_the_best_of_a_column_has_a_star_only_where_it_is_surely_best(table: Table, tmp_path: Path) -> None:
    results = tmp_path / "results"
    two = [row for row in table.row if row.name in ("bm25", "random")]
    starred = dataclasses.replace(table, stars=True)
    tables.fill(starred, results, (), lambda runs: None)
    signs = []
    for rows in (two, table.row):  # with a row that is the same, the best is not surely best
        here = dataclasses.replace(starred, row=rows)
        cells = compared(here, list(tables.cells(here, results)), results)
        assert [cell.measure for cell in cells if cell.ahead is not None] == ["RR"], (
            "the first measure's best"
        )
        signs.append(
            [mark(cell) for cell in cells if cell.measure == "RR" and cell.row in ("bm25", "random")]
        )
    assert signs == [[" ★", " ▼"], [" ☆", " ▼"]]
    assert "★" in legend(starred) and "★" not in legend(table)
    assert all(cell.ahead is None for cell in compared(table, list(tables.cells(table, results)), results))
    with pytest.raises(UsageError, match="a table of curves has no use for stars"):
        dataclasses.replace(starred, kind="curves")
