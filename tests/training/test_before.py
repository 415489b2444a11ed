"""What is wrong with a recipe or its data is found before hours are spent; what is made is not made twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from demur import toml
from demur.data import formats
from demur.errors import DataError, MissingData, UsageError
from demur.training import Trainer, trainer
from demur.training.recipes.make_model import make
from demur.training.recipes.stages import Recipe, Stage, run
from demur.types import Pool
from laws import toys
from training import made

FAST = "epochs=2, learning_rate=0.01"
SMALL = f'siamese(features="{made.words()}", loss=pairwise)'


def written(path: Path, pools: list[Pool]) -> str:
    formats.write_pools(path, pools)
    return str(path)


@pytest.fixture
def data(tmp_path: Path) -> str:
    return written(tmp_path / "data.jsonl", made.pools(12, 5))


def stops(facts: dict[str, Any]) -> None:
    pytest.fail("it was found too late")


def test_what_a_later_stage_lacks_is_found_before_the_first(data: str, tmp_path: Path) -> None:
    missing = Recipe(SMALL, [Stage(data), Stage(str(tmp_path / "nothere.jsonl"))])
    with pytest.raises((DataError, MissingData, UsageError), match="nothere"):
        run(missing, report=stops)
    wrong = written(tmp_path / "wrong.jsonl", [Pool.of("who?", ["a", "b"], [0, 0])])
    network = f'cross-encoder(base="{toys.bert()}", max_length=16)'
    early = [Stage(data), Stage(data, wrong, settings="early=MAP")]
    with pytest.raises(DataError, match="early=MAP has nothing to go by"):
        run(Recipe(network, early), report=stops)


@pytest.mark.parametrize("place", ["data", "dev"])
def test_a_file_without_questions_is_named(place: str, data: str, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    empty = str(tmp_path / "empty.jsonl")
    stage = Stage(empty) if place == "data" else Stage(data, empty)
    with pytest.raises(DataError, match=r"empty\.jsonl: holds no questions"):
        run(Recipe(SMALL, [stage]), report=stops)


def test_what_teaches_nothing_says_what_is_lacking() -> None:
    pools = [Pool.of("who?", ["a"], [1]), Pool.of("what?", ["a", "b"], [0, 0])]
    network = trainer(f'cross-encoder(base="{toys.bert()}", max_length=16)')
    with pytest.raises(UsageError, match="of 2 pools 1 have right answers, and none has both"):
        network.train(pools)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('trainer="siamese"\n[stage]\ndata="x"', r"stage is one table, .* write \[\[stage\]\]"),
        ('trainer="siamese"\nseed=-1\n[[stage]]\ndata="x"', "seed=-1 must be 0 or more"),
        ('trainer="siamese"\n[[stage]]\ndata="x"\nquestions=-3', "questions=-3 must be 0, for all, or more"),
        ('trainer="cross-encoder(seed=-2)"\n[[stage]]\ndata="x"', "seed=-2 must be 0 or more"),
        (
            'trainer="cross-encoder(learning_rate=-2)"\n[[stage]]\ndata="x"',
            "learning_rate=-2 must be above 0",
        ),
    ],
)
def test_slips_in_a_recipe_are_one_line(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text(text)
    with pytest.raises(DataError, match=said):
        toml.read_toml(Recipe, tmp_path / "recipe.toml")


def test_the_same_again_is_not_made_twice_and_keeps_its_gate(
    data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dev = written(tmp_path / "dev.jsonl", made.pools(6, 7))
    wanted = Recipe(SMALL, [Stage(data, dev, settings=FAST)])
    first = make(wanted, tmp_path / "model")
    assert not first.before
    (tmp_path / "model" / "gate.json").write_text("{}")
    monkeypatch.setattr(Trainer, "train", stops)
    again = make(wanted, tmp_path / "model", stops)
    assert again.before and again.ranker.fingerprint == first.ranker.fingerprint
    assert (tmp_path / "model" / "gate.json").exists()
    assert again.dev is not None and first.dev is not None
    assert again.dev.measures["MAP"] == first.dev.measures["MAP"]
    assert list(again.stages) == list(first.stages)
    written(Path(data), made.pools(13, 5))  # the file's name is the same
    with pytest.raises(DataError, match="holds a model that another recipe, other data"):
        make(wanted, tmp_path / "model", stops)
    assert (tmp_path / "model" / "gate.json").exists()


def test_the_page_says_whether_training_looked_at_dev(data: str, tmp_path: Path) -> None:
    dev = written(tmp_path / "dev.jsonl", made.pools(6, 7))
    for early, stopping, looked in (
        ("MAP", f"early stopping on `{dev}`", "Training looked at these questions"),
        ("none", "early stopping on nothing", "Training has not looked at them"),
    ):
        make(Recipe(SMALL, [Stage(data, dev, settings=f"{FAST}, early={early}")]), tmp_path / early)
        page = (tmp_path / early / "README.md").read_text("utf-8")
        assert stopping in page and looked in page


def test_where_training_stood_is_forgotten_when_a_stage_is_done(data: str, tmp_path: Path) -> None:
    network = f'cross-encoder(base="{toys.bert()}", max_length=16, epochs=1, tokens=64, checkpoint=0.000001)'
    seen = list[int]()

    def counted(facts: dict[str, Any]) -> None:
        seen.append(len(list(tmp_path.glob("work/*.standing/*.safetensors"))))

    (tmp_path / "work").mkdir()
    mine = tmp_path / "work" / "mine.safetensors"
    mine.write_bytes(b"mine")
    run(Recipe(network, [Stage(data)]), tmp_path / "work", counted)
    assert max(seen) == 1, "where it stands is kept, as often as was said"
    assert not list(tmp_path.glob("work/*.standing"))
    assert mine.exists(), "files of others are left alone"
    assert list(tmp_path.glob("work/*/model.safetensors"))
