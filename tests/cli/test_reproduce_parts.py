"""`demur reproduce` shows parts of every table: one group of rows, one row, one column."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from demur import processor
from demur.cli.main import app
from demur.experiments import recipe, tables

ROOT = Path(__file__).parents[2]
RECIPES = sorted((ROOT / "experiments").rglob("*.toml"))


def shown(path: Path, *words: str) -> Result:
    paper, table = path.parent.name, path.stem
    return CliRunner().invoke(app, ["reproduce", paper, table, "--cached", *words], catch_exceptions=False)


@pytest.fixture(autouse=True)
def in_the_clone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


TABLES = [(path, recipe.read_recipe(path)) for path in RECIPES]
SMALLEST = {  # of each kind, by the cells that are to be told
    kind: min((len(each.row) * len(each.column), path) for path, each in TABLES if each.kind == kind)[1]
    for kind in {each.kind for _, each in TABLES}
}


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(
            path,
            id="/".join(path.parts[-2:]),
            marks=() if path in SMALLEST.values() else pytest.mark.slow,
        )
        for path in RECIPES
    ],
)
def test_parts_of_every_table(path: Path) -> None:
    table = recipe.read_recipe(path)
    last, column = table.row[-1], table.column[-1]
    for words in ([last.group] if last.group else []) + [last.name]:
        assert shown(path, "--only", words).exit_code == 0
    found = shown(path, "--column", column.name)
    assert found.exit_code == 0
    others = [each.name for each in table.column if column.name not in each.name]
    assert not any(f"{name} (" in found.output for name in others), "other columns are left out"


def test_what_is_not_there_is_said() -> None:
    for words in (["--only", "nobody"], ["--column", "nowhere"]):
        result = CliRunner().invoke(app, ["reproduce", "scarce", "table1", "--cached", *words])
        assert result.exit_code != 0 and f"has no {'rows' if 'nobody' in words else 'column'}" in str(
            result.exception
        )


def test_nothing_is_cut_off_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    path = next(path for path in RECIPES if path.parts[-2:] == ("committee", "table1.toml"))
    assert "…" not in shown(path, "--only", "MatchPyramid").output


def test_rows_learn_in_as_many_processes_as_there_may_be_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[int] = []
    monkeypatch.setattr(tables, "fill", lambda *given: found.append(given[4]))
    monkeypatch.setenv(processor.THREADS, "3")
    for words in ([], ["--workers", "2"]):
        CliRunner().invoke(app, ["reproduce", "scarce", "table1", *words], catch_exceptions=False)
    assert found == [3, 2]


def test_each_of_several_processes_has_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    inside: list[int] = []

    class Processes(ThreadPoolExecutor):
        def __init__(self, workers: int, context: object) -> None:
            inside.append(processor.threads())  # as a process that starts now is told
            super().__init__(workers)

    monkeypatch.setattr(tables, "ProcessPoolExecutor", Processes)
    monkeypatch.setattr(tables, "chains", lambda runs: [[], []])
    monkeypatch.setenv(processor.THREADS, "5")
    tables._side_by_side([], Path("results"), lambda runs: None, 2, lambda *given: None)
    assert inside == [1] and processor.threads() == 5


def test_from_which_label_on_an_answer_is_right_stands_above_a_table() -> None:
    assert (
        "pools, right from label 2 on"
        in shown(ROOT / "experiments/scan/table4.toml", "--only", "mini").output
    )
    assert "right from label" not in shown(ROOT / "experiments/scan/table3.toml", "--only", "mini").output
