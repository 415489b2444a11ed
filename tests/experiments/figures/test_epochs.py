"""What dev says after each epoch is kept with the results of rows that learn, and drawn."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import pytest

from demur.data import formats
from demur.errors import UsageError
from demur.experiments import recipe, tables
from demur.experiments.figures import drawing, epochs
from demur.experiments.recipe import Table
from demur.experiments.runs import Run
from training import made

RECIPE = """
paper = "toy"
table = "nets"
title = "A table"
measures = ["MAP"]
conventions = ["fixed"]
differs = "Everything."

[[column]]
name = "animals"
data = "{data}"
train = "{data}"
dev = "{data}"

[[row]]
name = "net"
group = "net"
trainer = 'match-pyramid(vectors="{vectors}")'
seeds = [0, 1]

[[row.stage]]
data = "train"
dev = "dev"
settings = "epochs=3"

[[row]]
name = "net adversarial"
group = "net"
trainer = "members(take=last)"
{stages}
[[row]]
name = "net committee"
group = "net"
trainer = "members(take=committee)"
{stages}
[[row]]
name = "bm25"
group = "lexical"
ranker = "bm25"
"""
STAGES = """
[[row.stage]]
trainer = 'match-pyramid(vectors="{vectors}")'
data = "train"
dev = "dev"
settings = "epochs=3"

[[row.stage]]
trainer = "adversarial(adversary=none, take=all, pool=4)"
data = "train"
dev = "dev"
settings = "epochs=4"

[[row.stage]]
data = "train"
dev = "dev"
"""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    folder = tmp_path_factory.mktemp("epochs")
    formats.write_pools(folder / "animals.jsonl", made.pools(12))
    vectors = made.words().removeprefix("words(vectors=").removesuffix(")")
    said = {"data": folder / "animals.jsonl", "vectors": vectors, "stages": STAGES.format(vectors=vectors)}
    (folder / "nets.toml").write_text(RECIPE.format(**said), "utf-8")
    return recipe.read_recipe(folder / "nets.toml")


@pytest.fixture(scope="module")
def results(table: Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    tables.fill(table, folder, (), lambda runs: None)
    return folder


def test_each_stage_leaves_its_epochs(table: Table, results: Path) -> None:
    kept = json.loads((results / "toy/nets/net-committee/animals-seed0.json").read_text())
    first, second, third = kept["epochs"]
    assert [epoch for epoch, _ in first] == [1, 2, 3]
    assert [epoch for epoch, _ in second] == [0, 1, 2, 3, 4]
    assert [epoch for epoch, _ in third] == [0, 3, 4], "the committee as it grew"
    assert second[0][1] == max(dev for _, dev in first), "it goes on from the best epoch"
    assert third[0][1] == pytest.approx(second[0][1])
    assert all(0 <= dev <= 1 for stage in kept["epochs"] for _, dev in stage)
    assert "epochs" not in json.loads((results / "toy/nets/bm25/animals-seed0.json").read_text())


def test_a_result_names_the_weights_of_each_stage(table: Table, results: Path) -> None:
    def hashes(row: str) -> list[str]:
        kept = json.loads((results / f"toy/nets/{row}/animals-seed0.json").read_text())
        found: list[str] = kept["model_hashes"]["stages"]
        return found

    net, last, committee = (hashes(name) for name in ("net", "net-adversarial", "net-committee"))
    assert (len(net), len(last), len(committee)) == (1, 3, 3)
    assert last[:2] == committee[:2] and last[0] == net[0], "they stand on the same stages"
    assert len(set(last)) == 3, "and what they came to differs"
    assert "model_hashes" not in json.loads((results / "toy/nets/bm25/animals-seed0.json").read_text())


def test_they_are_drawn_for_a_group(table: Table, results: Path, tmp_path: Path) -> None:
    rows = {row.name: row for row in table.row}
    found = epochs.of_row(table, rows["net"], table.column[0], results)
    assert [sorted(each) for each in found] == [[-2, -1, 0], [-2, -1, 0]]
    drawn = epochs.curve(found)
    assert drawn.sizes == [-2, -1, 0] and all(
        low <= mean <= high for low, mean, high in zip(drawn.low, drawn.mean, drawn.high, strict=True)
    )
    drawing.draw(table, results, tmp_path / "net.svg", ["net"])
    text = (tmp_path / "net.svg").read_text()
    said = ("net", "net adversarial", "MAP on dev")
    assert all(f">{name}<" in text or f"<!-- {name} -->" in text for name in said)
    with pytest.raises(UsageError, match=r"name one group of them with --only: net$"):
        drawing.draw(table, results, tmp_path / "all.svg")
    with pytest.raises(UsageError, match="lexical, says what dev was"):
        drawing.draw(table, results, tmp_path / "none.svg", ["lexical"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["net.svg"]


def test_no_measure_is_named_that_only_some_stages_went_by(
    table: Table, results: Path, tmp_path: Path
) -> None:
    first, *rest = table.row
    stage = dataclasses.replace(first.stage[0], settings="epochs=3, early=RR")
    other = dataclasses.replace(first, stage=[stage])
    drawing.draw(dataclasses.replace(table, row=[other, *rest]), results, tmp_path / "net.svg", ["net"])
    text = (tmp_path / "net.svg").read_text()
    assert "measure on dev" in text and "MAP on dev" not in text


def test_what_was_kept_before_has_no_epochs(table: Table, results: Path, tmp_path: Path) -> None:
    old = json.loads((results / "toy/nets/net/animals-seed0.json").read_text())
    (tmp_path / "toy/nets/net").mkdir(parents=True)
    del old["epochs"]
    (tmp_path / "toy/nets/net/animals-seed0.json").write_text(json.dumps(old))
    with pytest.raises(UsageError, match="run demur reproduce"):
        drawing.draw(table, tmp_path, tmp_path / "old.svg", ["net"])


@pytest.mark.slow
def test_rows_that_share_no_stage_learn_side_by_side(
    table: Table, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEMUR_CACHE", str(tmp_path))
    wanted = [run for run in tables.runs(table) if run.row.trainer]
    nets = [("net", 0), ("net adversarial", 0), ("net committee", 0)]
    assert chained(wanted) == [nets, [("net", 1)]]
    seen: list[int] = []
    tables.fill(table, tmp_path / "results", (), seen.append, workers=2)
    assert sum(seen) == len(wanted) + 1 and max(seen) == 3, "a part is told when all of it is done"
    assert chained(wanted) == [[(run.row.name, run.seed)] for run in wanted], (
        "what is learnt may be had by all"
    )
    cells = zip(tables.cells(table, tmp_path / "results"), tables.cells(table, results), strict=True)
    assert all(ours.mean == pytest.approx(theirs.mean) for ours, theirs in cells)


def chained(wanted: list[Run]) -> list[list[tuple[str, int]]]:
    return [[(run.row.name, run.seed) for run in chain] for chain in tables.chains(wanted)]


def test_columns_with_one_dev_set_share_a_panel(table: Table, results: Path, tmp_path: Path) -> None:
    shutil.copytree(results, tmp_path / "results")
    for file in (tmp_path / "results").rglob("animals-seed*.json"):
        shutil.copy(file, file.with_name(file.name.replace("animals", "animals-again")))
    other = dataclasses.replace(table.column[0], name="animals again")
    twice = dataclasses.replace(table, column=[*table.column, other])
    drawing.draw(twice, tmp_path / "results", tmp_path / "net.svg", ["net"])
    text = (tmp_path / "net.svg").read_text()
    assert "animals, again" in text and "animals again" not in text
