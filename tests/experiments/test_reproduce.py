"""Tables are filled once, kept with their origins, and shown."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import demur
from demur import data, editions
from demur.data import Pools, formats, pools
from demur.errors import DemurError, UsageError
from demur.experiments import tables
from demur.experiments.models import rankers
from demur.experiments.models.rankers import word_vectors
from demur.experiments.pages import markdown
from demur.files import sha256
from demur.types import Pool


def fill(experiments: Path, *only: str) -> list[str]:
    """The names of result files written by filling the table."""
    results = experiments.parent / "results"
    before = {path: path.stat().st_mtime_ns for path in results.rglob("*.json")}
    [table] = tables.find_tables(experiments)
    tables.fill(table, results, only, lambda runs: None)
    return sorted(
        path.name for path in results.rglob("*.json") if before.get(path) != path.stat().st_mtime_ns
    )


def test_cells_hold_what_evaluate_says(experiments: Path) -> None:
    assert len(fill(experiments)) == 4
    [table] = tables.find_tables(experiments, "toy", "table1")
    cells = {(c.row, c.measure, c.convention): c for c in tables.cells(table, experiments.parent / "results")}
    data = pools(experiments.parent / "animals.jsonl")
    report = demur.evaluate("bm25", data, ["MAP"])
    cell = cells["bm25", "MAP", "fixed"]
    assert cell.mean == pytest.approx(report.measures["MAP"].mean, abs=1e-6)
    assert (cell.pools, cell.seeds) == (6, 1)
    assert cells["bm25", "P@1", "scan"].pools == 9, "scan counts pools without a positive for P@1"
    seeds = [demur.evaluate(f"random(seed={seed})", data, ["MAP"]).measures["MAP"].mean for seed in range(3)]
    assert cells["random", "MAP", "fixed"].mean == pytest.approx(np.mean(seeds), abs=1e-6)
    assert cells["random", "MAP", "fixed"].seeds == 3
    assert (cells["not yet", "MAP", "fixed"].mean, cells["not yet", "MAP", "fixed"].published) == (None, 0.5)


def test_what_is_there_is_not_run_again(experiments: Path) -> None:
    assert fill(experiments, "lexical") == ["animals-seed0.json"]
    assert fill(experiments, "lexical") == fill(experiments, "bm25") == []
    assert len(fill(experiments)) == 3
    assert len(list(tables.runs(tables.find_tables(experiments)[0], ["lexical", "floor"]))) == 4, "or several"


def test_all_rows_have_their_first_seed_before_any_has_its_second(experiments: Path) -> None:
    [table] = tables.find_tables(experiments, "toy", "table1")
    order: list[str] = []
    tables.fill(table, experiments.parent / "results", (), lambda done: order.append("run"), seeds=1)
    files = sorted(path.name for path in (experiments.parent / "results").rglob("*.json"))
    assert files == ["animals-seed0.json", "animals-seed0.json"]
    assert len(order) == 2
    assert len(fill(experiments)) == 2


@pytest.mark.parametrize("change", ["data", "settings", "edition"])
def test_what_a_result_depends_on_makes_it_stale(
    experiments: Path, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(experiments, "lexical")
    if change == "data":
        formats.write_pools(experiments.parent / "animals.jsonl", [Pool.of("ape", ["ape", "bee"], [1, 0])])
    elif change == "settings":
        file = experiments / "toy" / "table1.toml"
        file.write_text(file.read_text().replace('ranker = "bm25"', 'ranker = "bm25(k1=0.9)"'))
    else:
        monkeypatch.setitem(editions.RAISED, "ranker bm25", 2)
    assert fill(experiments, "lexical") == ["animals-seed0.json"]


def test_a_result_names_its_origins(experiments: Path) -> None:
    fill(experiments, "lexical")
    [file] = (experiments.parent / "results").rglob("*.json")
    kept = json.loads(file.read_text())
    said = {"key", "seed", "commit", "data_sha256", "ranker", "command", "settings", "editions", "versions"}
    assert said | {"processor", "precision", "threads", "seconds"} <= set(kept)
    assert list(kept["data_hashes"].values()) == [kept["data_sha256"]]
    assert kept["editions"]["ranker bm25"] == kept["editions"]["convention scan"] == 1
    assert kept["command"] == 'demur reproduce toy table1 --only "bm25" --column "animals"'
    assert kept["versions"]["numpy"] and kept["threads"] >= 1 and kept["precision"] == {}, "no torch computed"
    assert kept["ranker"] == "bm25" and kept["made of"] == demur.ranker("bm25").fingerprint
    assert "ape" not in file.read_text(), "no text of the data goes into results"


VECTORS = """
[[vectors]]
name = "toy"
data = ["{data}"]
model = "ppmi"
width = 2
min_count = 1

[[row]]
name = "average"
group = "vectors"
ranker = 'average(vectors="{{toy}}")'
"""


def test_a_result_names_the_word_vectors_that_it_stands_on(experiments: Path) -> None:
    recipe = experiments / "toy" / "table1.toml"
    recipe.write_text(recipe.read_text() + VECTORS.format(data=experiments.parent / "animals.jsonl"))
    fill(experiments, "vectors")
    [file] = (experiments.parent / "results").rglob("average/*.json")
    [table] = tables.find_tables(experiments)
    [run] = tables.runs(table, ["vectors"])
    [(name, vectors)] = word_vectors(run).items()
    assert json.loads(file.read_text())["vectors_hashes"] == {name: sha256(vectors)[:16]}
    assert name == "toy" and not word_vectors(next(iter(tables.runs(table, ["lexical"]))))


def test_the_word_vectors_of_a_model_that_a_row_names_are_those_of_the_row(
    experiments: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rankers, "vectors_file", lambda ids, how: experiments.parent / "animals.jsonl")
    [table] = tables.find_tables(Path(__file__).parents[2] / "experiments", "risk", "readers1")
    named = {run.row.name: list(word_vectors(run)) for run in tables.runs(table)}
    assert (named["BERT"], named["BiDAF"], named["BiDAF, in full"]) == ([], ["squad"], ["encoder"])


def test_the_page_shows_dashes_and_published_figures(experiments: Path) -> None:
    fill(experiments, "lexical")
    [table] = tables.find_tables(experiments)
    page = markdown.page("toy", [markdown.section(table, experiments.parent / "results")])
    assert page.startswith("# toy\n") and "| not yet | – *0.500* |" in page
    assert "| bm25 | 0." in page and "| random |" not in page
    assert "\nNot run yet: random.\n" in page, "a row that is only there as printed waits for no run"


def test_unknown_papers_tables_and_groups_are_one_line(experiments: Path) -> None:
    with pytest.raises(DemurError, match="no recipes of a paper 'scan'; there are: toy"):
        tables.find_tables(experiments, "scan")
    with pytest.raises(DemurError, match="toy has no 'table2'; it has: table1"):
        tables.find_tables(experiments, "toy", "table2")
    with pytest.raises(DemurError, match="no rows 'neural'; it has: floor, lexical"):
        list(tables.runs(tables.find_tables(experiments)[0], ["neural"]))
    with pytest.raises(DemurError, match="no column 'plants'; it has: animals"):
        list(tables.runs(tables.find_tables(experiments)[0], columns=["plants"]))


def test_one_column_may_be_run_and_shown(experiments: Path) -> None:
    file = experiments / "toy" / "table1.toml"
    column = file.read_text().partition("[[column]]")[2].partition("[[")[0]
    other = column.replace('"animals"', '"beasts"')
    assert other != column
    file.write_text(file.read_text().replace("[[column]]" + column, f"[[column]]{column}[[column]]{other}"))
    [table] = tables.find_tables(experiments)
    results = experiments.parent / "results"
    tables.fill(table, results, (), lambda runs: None, columns=["beasts"])
    assert {path.name.rpartition("-")[0] for path in results.rglob("*.json")} == {"beasts"}
    shown = tables.under(table, list(tables.cells(table, results)), ["beasts"])
    assert shown and all(cell.column == "beasts" for cell in shown)
    section = markdown.section(table, results)  # a column of nothing is named, and no more
    assert "| | beasts (9 pools) |\n" in section and "Not run yet: animals." in section


def test_answers_are_right_from_the_label_that_the_data_names(
    experiments: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [Pool.of(f"ape {n}", ["bee", "ape", "cat"], [2, 1, 0], id=str(n)) for n in range(4)]
    [table] = tables.find_tables(experiments)
    before = {run.row.name: run.key("data") for run in tables.runs(table)}
    graded = Pools("graded", (), lambda: iter(made), relevant=2)
    monkeypatch.setattr(data, "pools", lambda name: graded)
    assert all(run.key("data") != before[run.row.name] for run in tables.runs(table)), "other figures"
    fill(experiments, "lexical")
    [cell] = [
        cell
        for cell in tables.cells(table, experiments.parent / "results", ["bm25"])
        if (cell.measure, cell.convention) == ("MAP", "fixed")
    ]
    assert cell.mean == pytest.approx(demur.evaluate("bm25", made, "MAP(rel=2)").measures["MAP(rel=2)"].mean)
    assert cell.relevant == 2
    assert "animals (4 pools; right from label 2 on)" in markdown.section(
        table, experiments.parent / "results"
    )


def test_a_setting_that_is_off_leaves_what_was_learnt_as_it_is() -> None:
    from demur.training import trainer

    assert "accumulate" not in trainer("cross-encoder").known_by
    assert "accumulate=4" in trainer("cross-encoder(accumulate=4)").known_by
    assert trainer("siamese").known_by != trainer("siamese(seed=1)").known_by


def test_an_unknown_group_is_one_line_even_where_nothing_is_run() -> None:
    from demur.cli.experiments.reproduce import reproduce

    with pytest.raises(UsageError, match="has no rows 'nope'; it has: "):
        reproduce("scarce", "table1", only=["nope"], cached=True, picture=None, workers=1, seeds=0)
