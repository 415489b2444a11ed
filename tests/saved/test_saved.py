"""What an older demur saved still opens, and says what it said then; README.md tells how it was made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from demur import toml
from demur.training.recipes.stages import Recipe
from saved.opening import HERE, doubted, gated, scores

SAID: dict[str, list[float]] = json.loads((HERE / "0.1" / "scores.json").read_text("utf-8"))
OLD = HERE / "0.1"
APART = ("gate", "gate of a model", "doubt of a reader")


@pytest.mark.parametrize("name", sorted(SAID.keys() - set(APART)))
def test_a_model_opens_and_gives_its_scores(name: str) -> None:
    assert scores(OLD / name) == pytest.approx(SAID[name], abs=1e-4)


def test_a_gate_opens_and_is_as_sure() -> None:
    assert gated(OLD / "gate.json", "bm25") == pytest.approx(SAID["gate"], abs=1e-4)
    assert gated(OLD / "siamese", OLD / "siamese") == pytest.approx(SAID["gate of a model"], abs=1e-4)


def test_a_doubt_opens_and_is_as_sure() -> None:
    assert doubted(OLD / "doubted") == pytest.approx(SAID["doubt of a reader"], abs=1e-4)


def test_a_recipe_is_read() -> None:
    recipe = toml.read_toml(Recipe, OLD / "recipe.toml")
    made = [recipe.by(stage) for stage in recipe.stage]
    assert [by.name for by in made] == ["match-pyramid", "adversarial", "members"]
    assert recipe.search is not None and recipe.search.space == {"every": [3, 6]}
    assert "preset=code" in made[1].known_by and recipe.said(recipe.stage[0]) == {"margin": 0.5}


def test_together_they_are_small() -> None:
    files = [path for path in Path(OLD).rglob("*") if path.is_file()]
    assert len(files) > 40 and sum(path.stat().st_size for path in files) < 600_000
