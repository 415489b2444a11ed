"""The recipes that come with demur, and those that the documents show, mean something."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from demur import data, toml
from demur.training.stages import Recipe

ROOT = Path(__file__).parents[2]
RECIPES = sorted((ROOT / "recipes").glob("*.toml"))


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_it_can_be_run(path: Path) -> None:
    for stage in toml.read(Recipe, path).stage:
        for ids in (stage.data, stage.dev):
            for name in filter(None, ids.split("+")):
                data.load(name.strip())  # an unknown one is an error; nothing is read


def test_there_are_some() -> None:
    assert len(RECIPES) >= 2


def test_so_can_what_the_page_shows() -> None:
    page = (ROOT / "docs" / "training.md").read_text("utf-8")
    (text,) = re.findall(r"```toml\n(.*?)```", page, re.S)
    assert len(toml.build(Recipe, tomllib.loads(text)).stage) == 2
