"""Before hours of training it is said what is missing, and which network another recipe has made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tools import inputs

from demur import store
from demur.embedders.encoders.loading import MPNET
from demur.errors import DataError
from demur.training.recipes.stages import Recipe, Stage

FIRST = Recipe("siamese(epochs=3)", [Stage("wikiqa/train + trecqa/train", "wikiqa/dev")], seed=1)
NEXT = Recipe("siamese(epochs=3)", [Stage("squad/2.0/train"), Stage("wikiqa/train", settings="margin=0.05")])


def made_by(recipe: Recipe) -> dict[str, Any]:
    """What a folder says that `demur train` has written."""
    stages = [
        {"data": stage.data, "dev": stage.dev, "trainer": recipe.by(stage).spec} for stage in recipe.stage
    ]
    return {"trainer": recipe.trainer, "seed": recipe.seed, "stages": stages}


@pytest.mark.parametrize(
    ("recipe", "said"),
    [
        (FIRST, ""),
        (Recipe(FIRST.trainer, FIRST.stage, seed=2), "the seed was 1"),
        (Recipe(FIRST.trainer, [*FIRST.stage, Stage("a")], seed=1), "it had 1 stages"),
        (Recipe("siamese(epochs=4)", FIRST.stage, seed=1), r"the trainer of stage 1 was siamese\(.*epochs=3"),
        (Recipe(FIRST.trainer, [Stage("wikiqa/train", "wikiqa/dev")], seed=1), "data of stage 1 was wikiqa"),
        (Recipe(FIRST.trainer, [Stage(FIRST.stage[0].data)], seed=1), "dev set of stage 1 was wikiqa/dev"),
    ],
)
def test_a_recipe_that_has_changed_is_noticed(recipe: Recipe, said: str) -> None:
    found = inputs.changed(recipe, made_by(FIRST))
    assert (found == "") == (said == "")
    if said:
        with pytest.raises(ValueError, match=said):
            raise ValueError(found)


def test_what_a_table_has_made_and_what_was_unpacked_are_known() -> None:
    stages = [list(stage.values()) for stage in made_by(NEXT)["stages"]]
    assert inputs.changed(NEXT, {"stages": stages}) == ""
    assert inputs.changed(NEXT, {"stages": [["wikiqa/train", "", "gone(x=1)"], stages[1]]})
    assert inputs.changed(NEXT, {"from": "0123456789abcdef"}) == ""
    assert inputs.changed(NEXT, {}) == "it says of no stages"


def test_what_is_to_run_begins_after_the_last_network(tmp_path: Path) -> None:
    networks, paths = [tmp_path / "one", tmp_path / "two"], [Path("first.toml"), Path("next.toml")]
    both = [(FIRST, networks[0]), (NEXT, networks[1])]
    assert inputs.recipes_to_run(paths, networks, [FIRST, NEXT]) == both
    with store.saving(networks[1], "bm25", made_by(NEXT)):
        pass
    assert inputs.recipes_to_run(paths, networks, [FIRST, NEXT]) == []
    with store.saving(networks[0], "bm25", made_by(NEXT)):
        pass
    with pytest.raises(SystemExit, match=r"one was not made by first\.toml as it is now \(.*move it away"):
        inputs.recipes_to_run(paths, networks, [FIRST, NEXT])


def test_all_that_is_missing_is_said_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DEMUR_DATA", str(tmp_path))
    taught = Recipe('mini(teacher="encoder(model=mpnet)")', [Stage("trecqa/train", "wikiqa/dev")])
    asked = list[str]()

    def away(model: str) -> Path:
        asked.append(model)
        raise DataError("is not here")

    monkeypatch.setattr(inputs, "located", away)
    with pytest.raises(SystemExit) as error:
        inputs.check([FIRST, taught], [taught], ["selqa/test", "selqa/test/answerable"])
    said = str(error.value).splitlines()
    assert len(said) == 6 and asked == [MPNET]
    for part in (
        "wikiqa/WikiQA-train",
        "wikiqa/WikiQA-dev",
        "trecqa/",
        "selqa/selqa",
        "tools.assemble_mpnet",
    ):
        assert sum(part in line for line in said) == 1, part
    file = tmp_path / "own.jsonl"
    file.write_text('{"question": "who?", "candidates": ["Ada"], "labels": [1]}\n')
    inputs.check([Recipe("siamese", [Stage(str(file))])], [FIRST])
    assert asked == [MPNET]
