"""What an older demur saved still opens, and says what it said then; README.md tells how it was made."""

from __future__ import annotations

import json

import pytest

import demur
from demur import toml
from demur.training.recipes.stages import Recipe
from saved.opening import HERE, doubted, gated, scores

VERSIONS = {
    path.name: json.loads((path / "scores.json").read_text("utf-8")) for path in sorted(HERE.glob("0.*"))
}
APART = ("gate", "gate of a model", "doubt of a reader")
of_each_version = pytest.mark.parametrize("version", VERSIONS)


@pytest.mark.parametrize(
    ("version", "name"),
    [(version, name) for version, said in VERSIONS.items() for name in sorted(said.keys() - set(APART))],
)
def test_a_model_opens_and_gives_its_scores(version: str, name: str) -> None:
    assert scores(HERE / version / name) == pytest.approx(VERSIONS[version][name], abs=1e-4)


@of_each_version
def test_a_gate_opens_and_is_as_sure(version: str) -> None:
    old, said = HERE / version, VERSIONS[version]
    assert gated(old / "gate.json", "bm25") == pytest.approx(said["gate"], abs=1e-4)
    assert gated(old / "siamese", old / "siamese") == pytest.approx(said["gate of a model"], abs=1e-4)


@of_each_version
def test_a_doubt_opens_and_is_as_sure(version: str) -> None:
    said = VERSIONS[version]["doubt of a reader"]
    assert doubted(HERE / version / "doubted") == pytest.approx(said, abs=1e-4)


@of_each_version
def test_a_recipe_is_read(version: str) -> None:
    recipe = toml.read_toml(Recipe, HERE / version / "recipe.toml")
    made = [recipe.by(stage) for stage in recipe.stage]
    assert [by.name for by in made] == ["match-pyramid", "adversarial", "members"]
    assert recipe.search is not None and recipe.search.space == {"every": [3, 6]}
    assert "preset=code" in made[1].known_by and recipe.said(recipe.stage[0]) == {"margin": 0.5}


@of_each_version
def test_together_they_are_small(version: str) -> None:
    files = [path for path in (HERE / version).rglob("*") if path.is_file()]
    assert len(files) > 40 and sum(path.stat().st_size for path in files) < 600_000


def test_this_version_is_among_them() -> None:
    """A new version has its folder before it is released: README.md says how."""
    assert ".".join(demur.__version__.split(".")[:2]) in VERSIONS
