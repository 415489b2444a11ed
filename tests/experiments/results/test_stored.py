"""Results are the same loose and folded, to the last digit, and nothing is lost on the way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tools import fold as tool

from demur.errors import DataError
from demur.experiments import recipe, runs, tables
from demur.experiments.kinds import derived
from demur.experiments.recipe import Table
from demur.experiments.results import stored, verifying
from demur.experiments.runs import Run

VALUES = [0.1 + 0.2, 1, 1.0, None, 1e-320, 0.333333, *([0.5] * 54)]
IDS = [*(f"Q{n}" for n in range(57)), 'a "quoted" one', "naïve\u2028日本", ""]
EPOCHS = [[n, 0.5] for n in range(60)]


def result(row: str = "A row", seed: int = 0, **more: Any) -> dict[str, Any]:
    """What is kept of a run, as far as tables of rankers have it."""
    fixed = {"pools": IDS, "values": {"MAP": VALUES}, "estimates": {"MAP": [0.5, 0.4, 0.6]}}
    return {
        "row": row,
        "column": "Some Data",
        "seed": seed,
        "conventions": {"fixed": fixed},
        "epochs": [EPOCHS],
        **more,
    }


def name(row: str = "a-row", seed: int = 0) -> str:
    return f"toy/table1/{row}/some-data-seed{seed}.json"


def keep(results: Path, row: str = "A row", seed: int = 0, **more: Any) -> None:
    stored.write_result(results, name(recipe.slug(row), seed), result(row, seed, **more))


def text(results: Path) -> dict[str, str]:
    """All that is kept, so that 1 and 1.0 are told apart."""
    return {file: json.dumps(kept, sort_keys=True) for file, kept in stored.read_results(results)}


def parts(results: Path) -> set[Path]:
    return set(results.rglob("values-*.jsonl.gz"))


def test_folding_leaves_every_value_as_it_is(tmp_path: Path) -> None:
    for seed in (10, 2, 0):
        keep(tmp_path, seed=seed)
    keep(tmp_path, "Another", note="a\nb")
    before = text(tmp_path)
    assert len(before) == 4 and stored.fold(tmp_path, "toy/table1") == 4
    assert text(tmp_path) == before and not list(tmp_path.rglob("*.json"))
    assert json.loads(before[name()]) == stored.read_result(tmp_path, name())
    [column] = tmp_path.rglob("*.jsonl")
    lines = [json.loads(line) for line in column.read_text("utf-8").splitlines()]
    assert [(one["row"], one["seed"]) for one in lines] == [
        *(("A row", seed) for seed in (0, 2, 10)),
        ("Another", 0),
    ]
    fixed = lines[0]["conventions"]["fixed"]
    assert fixed["values"]["MAP"].keys() == fixed["pools"].keys() == {"in values"}
    assert fixed["estimates"] == {"MAP": [0.5, 0.4, 0.6]} and lines[0]["epochs"] == [EPOCHS]
    [part] = parts(tmp_path)
    assert len(stored._part(part)) == 2, "what runs share stands once"
    assert stored.fold(tmp_path, "toy/table1") == 0 and stored.read_result(tmp_path, name("none")) is None


def test_a_run_made_anew_counts_before_its_line_and_replaces_it(tmp_path: Path) -> None:
    keep(tmp_path)
    keep(tmp_path, seed=1)
    stored.fold(tmp_path, "toy/table1")
    first, stamp = parts(tmp_path), stored.written(tmp_path, name())
    keep(tmp_path, answers={"ids": IDS[::-1]})
    assert "answers" in text(tmp_path)[name()] and len(text(tmp_path)) == 2
    assert stored.written(tmp_path, name()) != stamp
    before = text(tmp_path)
    stored.fold(tmp_path, "toy/table1")
    assert text(tmp_path) == before
    assert first < parts(tmp_path) and len(parts(tmp_path)) == 2, "a file is added; none is written again"
    for seed in (0, 1):
        keep(tmp_path, seed=seed, conventions={}, answers={"ids": IDS[::-1]})
    stored.fold(tmp_path, "toy/table1")
    assert parts(tmp_path).isdisjoint(first), "what no line names goes"
    assert all('"conventions": {}' in kept for kept in text(tmp_path).values())


@pytest.mark.parametrize("stopped", ["_write_lists", "_order", "_folded", "_whole", "_tidy"])
def test_nothing_is_lost_if_folding_is_stopped(
    stopped: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(tmp_path)
    stored.fold(tmp_path, "toy/table1")
    keep(tmp_path, answers={"ids": IDS[::-1]})
    keep(tmp_path, seed=1)
    before = text(tmp_path)

    def stop(*given: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(stored, stopped, stop)
        with pytest.raises(KeyboardInterrupt):
            stored.fold(tmp_path, "toy/table1")
    assert text(tmp_path) == before
    stored.fold(tmp_path, "toy/table1")
    assert text(tmp_path) == before and not list(tmp_path.rglob("*.json"))


def test_what_is_written_while_others_fold_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(tmp_path)
    keep(tmp_path, seed=1)
    write_lists = stored._write_lists

    def meanwhile(*given: Any) -> None:
        keep(tmp_path, note="newer")
        write_lists(*given)

    monkeypatch.setattr(stored, "_write_lists", meanwhile)
    stored.fold(tmp_path, "toy/table1")
    assert [path.name for path in tmp_path.rglob("*.json")] == ["some-data-seed0.json"]
    assert '"note": "newer"' in text(tmp_path)[name()]


def test_files_of_values_are_of_some_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "_PART", 1000)
    for seed in range(4):
        keep(tmp_path, seed=seed, answers={"ids": [f"{seed}-{each}" for each in IDS]})
    before = text(tmp_path)
    stored.fold(tmp_path, "toy/table1")
    assert text(tmp_path) == before and len(parts(tmp_path)) == 4
    sizes = [[len(text) for text in stored._part(part).values()] for part in parts(tmp_path)]
    assert all(sum(each) <= 1000 for each in sizes) and sum(map(len, sizes)) == 6


def test_what_cannot_be_read_is_told_in_one_line(tmp_path: Path) -> None:
    stored.write_result(tmp_path, name("b-row"), result())
    with pytest.raises(DataError, match=r"does not hold what its name says, but a-row/some-data-seed0\.json"):
        stored.fold(tmp_path, "toy/table1")
    (tmp_path / name("b-row")).unlink()
    keep(tmp_path)
    stored.fold(tmp_path, "toy/table1")
    for part in parts(tmp_path):
        part.unlink()
    with pytest.raises(DataError, match="are in no file beside it"):
        stored.read_result(tmp_path, name())
    [column] = tmp_path.rglob("*.jsonl")
    column.write_text(f"<<<<<<< ours\n{column.read_text()}")
    with pytest.raises(DataError, match=r"some-data\.jsonl:1: is not the line of a run"):
        stored.there(tmp_path, name())


@pytest.fixture
def filled(experiments: Path) -> tuple[Table, Path]:
    [table] = tables.find_tables(experiments)
    tables.fill(table, experiments.parent / "results", (), lambda done: None)
    return table, experiments.parent / "results"


def test_tables_are_the_same_and_nothing_is_run_again(
    filled: tuple[Table, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table, results = filled
    monkeypatch.setattr(stored, "LONG", 5)  # there are few questions here
    before, drawn = list(tables.cells(table, results)), verifying.drawn([table], results, 9, 0)
    monkeypatch.setattr("sys.argv", ["fold", "--results", str(results)])
    tool.main()
    assert capsys.readouterr().out.startswith("toy/table1: 4 runs folded\n4 runs folded; results were ")
    assert list(tables.cells(table, results)) == before and parts(results)
    assert verifying.drawn([table], results, 9, 0) == drawn and len(drawn) == 4
    tables.fill(table, results, (), lambda done: None)
    assert not list(results.rglob("*.json"))
    run = Run(table, table.row[0], table.column[0], 0)
    one = runs.stored_result(run, results)
    assert one is not None
    one["key"] = "another"
    stored.write_result(results, run.file, one)
    tables.fill(table, results, (), lambda done: None)
    [made] = results.rglob("*.json")
    assert made == results / run.file and list(tables.cells(table, results)) == before


READERS = """
kind = "reading"
paper = "toy"
table = "table1"
title = "A table"
measures = ["AURC"]
derived = ["E-AURC", "gain E-AURC"]
conventions = ["squad-2.0"]
differs = "Everything."
splits = 2
confidence = 0.9
column = [{ name = "Some Data", data = "x", fit = "y" }]
row = [{ name = "proba", reader = "a", doubt = "proba" }, { name = "A row", reader = "a", doubt = "b" }]
"""


def test_what_is_worked_out_of_answers_follows_them(tmp_path: Path) -> None:
    (tmp_path / "table.toml").write_text(READERS)
    table = recipe.read_recipe(tmp_path / "table.toml")
    outcome = ["AD+", "AD-", "UD"] * 20

    def answers(step: int) -> dict[str, Any]:
        return {"ids": IDS, "confidence": [n * step % 61 / 61 for n in range(60)], "outcome": outcome}

    def found() -> dict[str, Any]:
        return derived.figures(table, table.row[1], table.column[0], tmp_path)

    assert found() == {}
    keep(tmp_path, "proba", pools=60, answers=answers(7))
    keep(tmp_path, pools=60, answers=answers(11))
    loose = found()
    assert set(loose) == {"E-AURC", "gain E-AURC"}
    stored.fold(tmp_path, "toy/table1")
    assert found() == loose
    keep(tmp_path, pools=60, answers=answers(13))
    assert found() != loose
