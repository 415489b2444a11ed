"""Tables of gates for models that the table trains: a committee's disagreement as a doubt."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from demur.data import formats
from demur.experiments import recipe, tables
from demur.experiments.models.cached_models import folder_of
from demur.experiments.models.rankers import model_hashes, stages
from demur.experiments.recipe import Row, Table
from demur.experiments.runs import Run
from demur.store import open_folder
from training import made

RECIPE = """
kind = "gates"
paper = "toy"
table = "gates"
title = "A table"
measures = ["AURC", "coverage", "abstains"]
conventions = ["ltt", "naive"]
splits = 5
confidence = 0.9
differs = "Everything."

[[model]]
name = "net"
trainer = "ensemble(by='match-pyramid(vectors={vectors})', count=2)"

[[model.stage]]
data = "train"
dev = "dev"

[[column]]
name = "animals"
data = "{data}"
fit = "{data}"
train = "{data}"
dev = "{data}"

[[row]]
name = "margin"
ranker = "{{net}}"
qualifier = "margin"
risk = 0.3

[[row]]
name = "votes"
ranker = "{{net}}"
qualifier = 'committee(model="{{net}}", by=votes)'
risk = 0.3

[[row]]
name = "bm25"
ranker = "bm25"
qualifier = "margin"
risk = 0.3
"""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    folder = tmp_path_factory.mktemp("gates")
    formats.write_pools(folder / "animals.jsonl", made.pools(40))
    vectors = made.words().removeprefix("words(vectors=").removesuffix(")")
    (folder / "gates.toml").write_text(RECIPE.format(data=folder / "animals.jsonl", vectors=vectors), "utf-8")
    return recipe.read_recipe(folder / "gates.toml")


def test_a_model_is_gated_by_what_its_members_say(table: Table, tmp_path: Path) -> None:
    assert all(cell.mean is None for cell in tables.cells(table, tmp_path)), (
        "nothing was run, and that is told"
    )
    tables.fill(table, tmp_path, (), lambda runs: None)
    cells = {(cell.row, cell.measure, cell.convention): cell for cell in tables.cells(table, tmp_path)}
    for row in table.row:
        for measure in table.measures:
            assert cells[row.name, measure, "naive"].mean is not None
        whole = cells[row.name, "AURC", "ltt"]
        assert whole.mean == cells[row.name, "AURC", "naive"].mean and whole.low is not None
    assert cells["margin", "AURC", "ltt"].mean != cells["votes", "AURC", "ltt"].mean
    text = (tmp_path / "toy/gates/votes/animals-seed0.json").read_text()
    assert json.loads(text)["ranker"] == "{net}" and str(Path.home() / ".cache") not in text


def test_the_weights_of_a_named_model_are_known_once_it_is_kept(table: Table) -> None:
    margin, _, bm25 = (Run(table, row, table.column[0], 0) for row in table.row)
    assert model_hashes(bm25) == {}
    [model] = table.model
    kept = folder_of(stages(replace(margin, row=Row("net", trainer=model.trainer, stage=model.stage))))
    assert model_hashes(margin) == {"{net}": [open_folder(kept).fingerprint]}
    untrained = replace(table, model=[replace(table.model[0], seed=99)])
    assert model_hashes(replace(margin, table=untrained)) == {"{net}": [""]}, "not kept"


def test_editions_of_the_model_and_of_its_qualifier_count(table: Table) -> None:
    found = {row.name: Run(table, row, table.column[0], 0).editions for row in table.row}
    assert "qualifier committee" in found["votes"] and "qualifier committee" not in found["margin"]
    assert "trainer ensemble" in found["margin"]
    assert not any(name.startswith("trainer") for name in found["bm25"])
