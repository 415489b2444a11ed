"""The recipes that come with demur, and those that the documents show, mean something."""

from __future__ import annotations

import importlib
import re
import tomllib
from pathlib import Path

import pytest

from demur import data, toml
from demur.experiments.models.cached_models import steps_of
from demur.experiments.recipe import read_recipe
from demur.training.recipes.stages import Recipe

ROOT = Path(__file__).parents[3]
RECIPES = sorted((ROOT / "recipes").glob("*.toml"))


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_it_can_be_run(path: Path) -> None:
    for stage in toml.read_toml(Recipe, path).stage:
        for ids in (stage.data, stage.dev):
            for name in map(str.strip, filter(None, ids.split("+"))):
                if name.startswith("build/"):
                    _is_made_as_it_says(name, path.read_text("utf-8"))
                else:
                    data.load(name)  # an unknown one is an error; nothing is read


def _is_made_as_it_says(file: str, recipe: str) -> None:
    """Data that no clone has: the recipe names the tool that writes it, and that tool writes this file."""
    found = re.search(r"First: python -m (tools\.\w+)", recipe)
    assert found, f"the recipe does not say what makes {file}"
    assert ROOT / file in importlib.import_module(found[1]).MADE


@pytest.mark.parametrize("name", ["reader-squad2", "bidaf-squad2"])
def test_readers_have_two_scales(name: str) -> None:
    path = ROOT / "recipes" / f"{name}.toml"
    facts = tomllib.loads(path.read_text("utf-8"))
    small, full = toml.read_toml(Recipe, path), toml.build(Recipe, {**facts, "scale": "full"})
    assert small.scale == "cpu" and small.scales["cpu"].questions == 20_000
    assert full.scales["full"].questions == 0
    assert "max_length=384" in (spec := full.by(full.stage[0]).spec) or "max_length=400" in spec
    assert "max_length=384" not in (spec := small.by(small.stage[0]).spec) and "max_length=400" not in spec


def test_there_are_some() -> None:
    assert len(RECIPES) >= 2


def test_so_can_what_the_pages_show() -> None:
    pages = [(ROOT / "docs" / name).read_text("utf-8") for name in ("training.md", "how-to.md")]
    shown = [text for page in pages for text in re.findall(r"```toml\n(.*?)```", page, re.S)]
    whole = [text for text in shown if "[[stage]]" in text]
    assert len(whole) >= 2
    for text in whole:
        assert len(toml.build(Recipe, tomllib.loads(text)).stage) == 2
    parts = [text for text in shown if text not in whole]
    assert parts
    for text in parts:  # what is to stand in a recipe besides
        facts = {"trainer": "siamese", "stage": [{"data": "x", "dev": "y"}]} | tomllib.loads(text)
        assert toml.build(Recipe, facts).search is not None


def test_the_recipe_of_tanda_is_the_row_of_the_table() -> None:
    recipe = toml.read_toml(Recipe, ROOT / "recipes" / "transfer-then-adapt.toml")
    table = read_recipe(ROOT / "experiments" / "scan" / "table2.toml")
    row = next(row for row in table.row if row.name == "TANDA")
    steps = steps_of(row, table.column[0], seed=0)
    assert [(stage.data, stage.dev) for stage in recipe.stage] == [(step.data, step.dev) for step in steps]
    ours = [recipe.by(stage).known_by.replace("precision=auto", "precision=bf16") for stage in recipe.stage]
    assert ours == [step.by.known_by for step in steps], "but for precision, which the table's results fix"
