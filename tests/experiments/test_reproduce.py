from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import demur
from demur.data import formats, pools
from demur.errors import DataError, DemurError, UsageError
from demur.experiments import code, learning, markdown, recipe, tables
from demur.experiments.recipe import Row, Stage, Table
from demur.types import Pool
from laws import toys

RECIPES = sorted((Path(__file__).parents[2] / "experiments").rglob("*.toml"))

RECIPE = """
paper = "toy"
table = "table1"
title = "A table"
measures = ["MAP", "P@1"]
conventions = ["fixed", "scan"]
differs = "Everything."

[[column]]
name = "animals"
data = "{data}"

[[row]]
name = "bm25"
group = "lexical"
ranker = "bm25"

[[row]]
name = "random"
group = "floor"
ranker = "random"
seeds = [0, 1, 2]

[[row]]
name = "not yet"

[[published]]
row = "not yet"
measure = "MAP"
convention = "fixed"
values = {{ animals = 0.5 }}
"""


@pytest.fixture
def experiments(tmp_path: Path) -> Path:
    made = [
        Pool.of(f"ape w{n}", [f"bee w{n}", "ape", "cat", f"ape w{n}"], [0, 0, 0, n % 3 > 0], id=str(n))
        for n in range(9)
    ]
    made = [
        dataclasses.replace(pool, extra={"answers": [{"text": "ape"}] if n % 3 else []})
        for n, pool in enumerate(made)
    ]
    formats.write(tmp_path / "animals.jsonl", made)
    folder = tmp_path / "experiments" / "toy"
    folder.mkdir(parents=True)
    (folder / "table1.toml").write_text(RECIPE.format(data=tmp_path / "animals.jsonl"), "utf-8")
    return tmp_path / "experiments"


def fill(experiments: Path, only: str | None = None) -> list[str]:
    """The names of result files written by filling the table."""
    results = experiments.parent / "results"
    before = {path: path.stat().st_mtime_ns for path in results.rglob("*.json")}
    [table] = tables.find(experiments)
    tables.fill(table, results, only, lambda runs: None)
    return sorted(
        path.name for path in results.rglob("*.json") if before.get(path) != path.stat().st_mtime_ns
    )


def test_cells_hold_what_evaluate_says(experiments: Path) -> None:
    assert len(fill(experiments)) == 4
    [table] = tables.find(experiments, "toy", "table1")
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
    assert fill(experiments, only="lexical") == ["animals-seed0.json"]
    assert fill(experiments, only="lexical") == fill(experiments, only="bm25") == []
    assert len(fill(experiments)) == 3


def test_all_rows_have_their_first_seed_before_any_has_its_second(experiments: Path) -> None:
    [table] = tables.find(experiments, "toy", "table1")
    order: list[str] = []
    tables.fill(table, experiments.parent / "results", None, lambda done: order.append("run"), seeds=1)
    files = sorted(path.name for path in (experiments.parent / "results").rglob("*.json"))
    assert files == ["animals-seed0.json", "animals-seed0.json"]
    assert len(order) == 2
    assert len(fill(experiments)) == 2


@pytest.mark.parametrize("change", ["data", "settings", "code"])
def test_what_a_result_depends_on_makes_it_stale(
    experiments: Path, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(experiments, only="lexical")
    if change == "data":
        formats.write(experiments.parent / "animals.jsonl", [Pool.of("ape", ["ape", "bee"], [1, 0])])
    elif change == "settings":
        file = experiments / "toy" / "table1.toml"
        file.write_text(file.read_text().replace('ranker = "bm25"', 'ranker = "bm25(k1=0.9)"'))
    else:
        monkeypatch.setattr(code, "version", lambda modules: "another")
    assert fill(experiments, only="lexical") == ["animals-seed0.json"]


def test_a_result_names_its_origins(experiments: Path) -> None:
    fill(experiments, only="lexical")
    [file] = (experiments.parent / "results").rglob("*.json")
    kept = json.loads(file.read_text())
    assert {"key", "seed", "commit", "data_sha256", "ranker", "command"} <= set(kept)
    assert kept["ranker"] == "bm25" and kept["made of"] == demur.ranker("bm25").fingerprint
    assert "ape" not in file.read_text(), "no text of the data goes into results"


def test_the_page_shows_dashes_and_published_figures(experiments: Path) -> None:
    fill(experiments, only="lexical")
    page = markdown.page(experiments, experiments.parent / "results")
    assert "| not yet | – *0.500* |" in page
    assert "| bm25 | 0." in page and "| random |" not in page


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('title = "A table"', 'title = "A table"\ncolour = "red"', "unknown key colour; known: paper, table"),
        ('title = "A table"', "", "the key title is missing"),
        ("seeds = [0, 1, 2]", 'seeds = ["a"]', r"row\[1\].seeds\[0\] is 'a', which should be of type int"),
        ('name = "random"', 'name = "bm25"', "a name stands twice"),
        ("animals = 0.5", "plants = 0.5", "published for 'plants', which is no row or column"),
        ("[[published]]", "[[published", "not TOML"),
        ('title = "A table"', 'title = "A table"\nsplits = 3', "a table of ranking has no use for splits"),
        (
            'title = "A table"',
            'title = "A table"\nkind = "gate"',
            "unknown kind of table 'gate'; did you mean",
        ),
        ('title = "A table"', 'title = "A table"\nkind = "gates"', "a table of gates needs splits"),
        ('group = "floor"', "risk = 0.1", "row 'random': a table of ranking has no use for risk"),
    ],
)
def test_recipes_are_checked(experiments: Path, old: str, new: str, message: str) -> None:
    file = experiments / "toy" / "table1.toml"
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(DataError, match=message) as caught:
        tables.find(experiments)
    assert str(file) in str(caught.value) and "\n" not in str(caught.value)


def test_unknown_papers_tables_and_groups_are_one_line(experiments: Path) -> None:
    with pytest.raises(DemurError, match="no recipes of a paper 'scan'; there are: toy"):
        tables.find(experiments, "scan")
    with pytest.raises(DemurError, match="toy has no 'table2'; it has: table1"):
        tables.find(experiments, "toy", "table2")
    with pytest.raises(DemurError, match="no rows 'neural'; it has: floor, lexical"):
        list(tables.runs(tables.find(experiments)[0], "neural"))
    with pytest.raises(DemurError, match="no column 'plants'; it has: animals"):
        list(tables.runs(tables.find(experiments)[0], column="plants"))


def test_one_column_may_be_run_and_shown(experiments: Path) -> None:
    file = experiments / "toy" / "table1.toml"
    column = file.read_text().partition("[[column]]")[2].partition("[[")[0]
    other = column.replace('"animals"', '"beasts"')
    assert other != column
    file.write_text(file.read_text().replace("[[column]]" + column, f"[[column]]{column}[[column]]{other}"))
    [table] = tables.find(experiments)
    results = experiments.parent / "results"
    tables.fill(table, results, None, lambda runs: None, column="beasts")
    assert {path.name.rpartition("-")[0] for path in results.rglob("*.json")} == {"beasts"}
    shown = tables.under(table, list(tables.cells(table, results)), "beasts")
    assert shown and all(cell.column == "beasts" for cell in shown)


def test_there_are_recipes() -> None:
    assert RECIPES


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: "/".join(path.parts[-2:]))
def test_every_recipe_runs_on_toy_data(path: Path, experiments: Path) -> None:
    """Law 3: every recipe parses and runs end to end."""
    table = toy(recipe.read(path), experiments.parent)
    tables.fill(table, experiments.parent / "out", None, lambda runs: None)
    cells = list(tables.cells(table, experiments.parent / "out"))
    run = {row.name for row in table.row if row.runs}
    undefined = {"gates": {"risk"}, "reading": {"ms", "extra"}}.get(table.kind, set())
    # where every gate abstains; and of an oracle
    assert all(
        (cell.mean is not None) == (cell.row in run) for cell in cells if cell.measure not in undefined
    )
    assert markdown.section(table, experiments.parent / "out")


def toy(table: Table, folder: Path) -> Table:
    """The table over the toy data, and the systems' answers to it made up."""
    animals = str(folder / "animals.jsonl")
    column = [
        dataclasses.replace(
            each,
            data=animals,
            fit=animals if each.fit else "",
            train=animals if each.train else "",
            dev=animals if each.dev else "",
            sizes=[4, 6] if each.sizes else [],
            vectors=each.vectors or ("toy" if table.vectors else ""),
        )
        for each in table.column
    ]
    for number, name in enumerate(dict.fromkeys(row.answers for row in table.row if row.answers)):
        others = ["", "ape", "the ape!", "bee"]  # than the first four, in which all agree, not always rightly
        said = {str(n): "ape" if n < 4 else others[n * (number + 1) % 4] for n in range(9)}
        (folder / Path(name).stem).write_text(json.dumps(said), "utf-8")
    reading = f'span-reader(model="{toys.answerer()}", threshold=1e6, longest=4)'
    row = [
        dataclasses.replace(
            each,
            answers=str(folder / Path(each.answers).stem) if each.answers else "",
            ranker=f'mini(folder="{toys.small()}")'
            if each.ranker == "mini"
            else each.ranker.replace("google-news", '"{vectors}"'),
            trainer=each.trainer.replace("google-news", "{vectors}"),
            stage=[toy_stage(stage, animals) for stage in each.stage],
            seeds=each.seeds[:1],
            reader=reading if each.reader else "",
            others=f"{reading}; {reading.replace('=4', '=3')}" if each.others else "",
        )
        for each in table.row
    ]
    model = [
        dataclasses.replace(each, stage=[toy_stage(stage, animals) for stage in each.stage])
        for each in table.model
    ]
    vectors = [
        dataclasses.replace(each, data=[animals], width=8, min_count=1, epochs=1) for each in table.vectors
    ]
    if table.kind == "reading":  # its readers were drawn, and not learnt: what learns them is tried elsewhere
        words = [("ship", [{"text": "ship", "answer_start": 0}]), ("cape", [])]
        read = [
            Pool(
                str(n),
                f"cat w{n}?",
                Pool.of("", [f"{word} "], [int(bool(golds))]).candidates,
                {"answers": golds},
            )
            for n, (word, golds) in enumerate(words * 12)
        ]
        formats.write(folder / "read.jsonl", read)
        here = str(folder / "read.jsonl")
        column = [dataclasses.replace(each, data=here, fit=here, train=here) for each in column]
        for each in table.model:
            learning.staged(Row(each.name, trainer=each.trainer, stage=each.stage), column[0], each.seed)
        model = []
    parts: dict[str, Any] = {"column": column, "row": row, "model": model, "vectors": vectors}
    return dataclasses.replace(table, **parts, splits=table.splits and 5)


def toy_stage(stage: Stage, animals: str) -> Stage:
    data, dev = (name if name in ("train", "dev", "") else animals for name in (stage.data, stage.dev))
    return dataclasses.replace(stage, data=data, dev=dev, settings="epochs=1")


def test_the_code_version_sees_what_is_imported() -> None:
    assert "demur.rankers.matching" in code.imports("demur.rankers.bm25")
    assert code.version(["demur.rankers.simple"]) != code.version(["demur.rankers.bm25"])
    assert code.version(["demur.rankers.simple"]) == code.version(["demur.rankers.simple"])


def test_a_trainers_code_counts_by_its_edition_and_its_rankers_code_by_itself() -> None:
    reached = code._reachable(["demur.training.cross_encoder"])
    assert "demur.rankers.cross_encoder" in reached
    assert not any(module.startswith("demur.training") for module in reached)


def test_a_setting_that_is_off_leaves_what_was_learnt_as_it_is() -> None:
    from demur.training import trainer

    assert "accumulate" not in trainer("cross-encoder").known_by
    assert "accumulate=4" in trainer("cross-encoder(accumulate=4)").known_by
    assert trainer("siamese").known_by != trainer("siamese(seed=1)").known_by


def test_an_unknown_group_is_one_line_even_where_nothing_is_run() -> None:
    from demur.cli.reproduce import reproduce

    with pytest.raises(UsageError, match="has no rows 'nope'; it has: "):
        reproduce("scarce", "table1", only="nope", cached=True, picture=None, workers=1, seeds=0)
