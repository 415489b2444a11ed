"""The search for the best settings."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from demur import store, toml
from demur.data import formats
from demur.errors import Astray, DataError, UsageError
from demur.specs import parse
from demur.training.recipes import search as searching
from demur.training.recipes import stages
from demur.training.recipes.make_model import make
from demur.training.recipes.search import Search, search
from demur.training.recipes.stages import Recipe, Stage
from demur.types import Candidate, Pool
from training import made

SPACE: dict[str, Any] = {"learning_rate": [1e-6, 0.05], "epochs": [1, 4]}


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    for name, count, seed in (("train", 30, 5), ("dev", 20, 7)):
        formats.write_pools(tmp_path / f"{name}.jsonl", made.pools(count, seed))
    stage = Stage(
        str(tmp_path / "train.jsonl"), str(tmp_path / "dev.jsonl"), settings="dropout=0.1, epochs=2"
    )
    trainer = f'siamese(features="{made.words()}", loss=pairwise, early=none, init=glorot)'
    return Recipe(trainer, [stage], search=Search(SPACE))


def test_a_grid_tries_all_and_the_best_settings_win(recipe: Recipe) -> None:
    best, trials = search(recipe)
    assert [list(trial.settings.values()) for trial in trials] == [[1e-6, 1], [1e-6, 4], [0.05, 1], [0.05, 4]]
    winner = max(trials, key=lambda trial: trial.rank)
    assert winner.rank > min(trial.rank for trial in trials)
    built: Any = best.by(best.stage[0])
    assert built.learning_rate == winner.settings["learning_rate"]
    assert built.epochs == winner.settings["epochs"]
    assert built.dropout == 0.1  # what the stage said besides stays
    assert best.search is None


@pytest.mark.extras
def test_readers_are_searched_by_what_they_quote(tmp_path: Path) -> None:
    asked = [
        Pool(
            f"q{n}",
            f"What is {n}?",
            (Candidate("0", f"The {n} is a word.", 1),),
            {"answers": [{"text": str(n), "answer_start": 4}]},
        )
        for n in range(6)
    ]
    formats.write_pools(tmp_path / "asked.jsonl", asked)
    stage = Stage(str(tmp_path / "asked.jsonl"), str(tmp_path / "asked.jsonl"))
    wanted = Recipe(
        "bidaf(epochs=1, wide=4, hidden=4, filters=4)",
        [stage],
        search=Search({"dropout": [0.1, 0.2]}, measure="F1"),
    )
    assert all(trial.value is not None for trial in search(wanted)[1])
    with pytest.raises(
        UsageError, match=r"search\.measure=MAP says nothing of what bidaf makes; name EM or F1"
    ):
        search(replace(wanted, search=Search({"dropout": [0.1]}, measure="MAP")))


def test_rankers_are_not_searched_by_what_they_quote(recipe: Recipe) -> None:
    with pytest.raises(
        UsageError, match=r"search\.measure=EM says nothing of what siamese makes; name one such as MAP"
    ):
        search(replace(recipe, search=Search(SPACE, measure="EM")))


def test_stages_before_the_last_and_numbers_of_questions_are_searched_too(recipe: Recipe) -> None:
    two = replace(recipe, stage=[recipe.stage[0], replace(recipe.stage[0], settings="epochs=1")])
    space: dict[str, Any] = {"1.epochs": [1, 3], "questions": [5, 20]}
    best, trials = search(replace(two, search=Search(space)))
    assert [list(trial.settings.values()) for trial in trials] == [[1, 5], [1, 20], [3, 5], [3, 20]]
    winner = max(trials, key=lambda trial: trial.rank).settings
    assert f"epochs={winner['1.epochs']}" in best.stage[0].settings and best.stage[0].questions == 0
    assert best.stage[1].questions == winner["questions"] and best.stage[1].settings == "epochs=1"
    for key, said in (("3.epochs", "there are stages 1 to 2"), ("1.epoch", "siamese does not have")):
        with pytest.raises(UsageError, match=f"search.space names {key}.*{said}"):
            search(replace(two, search=Search({key: [1]})))
    with pytest.raises(UsageError, match=r"search\.space\.questions must be whole numbers, not 0\.5"):
        search(replace(two, search=Search({"questions": [0.5]})))
    for key in ("spec", "train", "name"):  # a trainer has them, but as no setting
        with pytest.raises(UsageError, match=f"search.space names {key}"):
            search(replace(two, search=Search({key: [1]})))


def test_a_search_that_was_killed_goes_on(
    recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = search(recipe)
    work = tmp_path / "work"
    work.mkdir()
    real, runs = stages.run, 0

    def killed(*args: Any) -> Any:
        nonlocal runs
        runs += 1
        if runs == 3:
            raise KeyboardInterrupt
        return real(*args)

    monkeypatch.setattr(stages, "run", killed)
    with pytest.raises(KeyboardInterrupt):
        search(recipe, work)
    (log,) = work.glob("*.trials")
    assert len(log.read_text().splitlines()) == 2
    log.write_text(log.read_text() + '{"settings": {"lear')  # cut off while writing
    assert search(recipe, work) == whole
    assert runs == 5  # two, the killed one, and the two that were missing
    assert [json.loads(line)["value"] for line in log.read_text().splitlines()] == [t.value for t in whole[1]]
    assert not [path for path in work.iterdir() if store.is_model(path)]  # models of trials are not kept


@pytest.fixture
def steep_is_astray(monkeypatch: pytest.MonkeyPatch) -> None:
    """Training with a learning rate above 1 ends in numbers that are none."""
    real = stages.run

    def run(recipe: Recipe, *more: Any) -> Any:
        if parse_stage(recipe)["learning_rate"] > 1:
            raise Astray("training diverged")
        return real(recipe, *more)

    monkeypatch.setattr(stages, "run", run)


@pytest.mark.parametrize("method", ["grid", "random"])
@pytest.mark.usefixtures("steep_is_astray")
def test_a_trial_that_goes_astray_is_one_of_many(recipe: Recipe, method: str, tmp_path: Path) -> None:
    if method != "grid":
        pytest.importorskip("optuna")
    space: dict[str, Any] = {"learning_rate": [9.0, 0.05]}
    wanted = replace(recipe, search=Search(space, method, trials=6))
    work = tmp_path / "work"
    work.mkdir()
    best, trials = search(wanted, work)
    lost = [trial for trial in trials if trial.value is None]
    assert {trial.settings["learning_rate"] for trial in lost} == {9.0}
    assert parse_stage(best)["learning_rate"] == 0.05
    assert search(wanted, work) == (best, trials)  # what was noted says so too
    made_of = make(wanted, tmp_path / "model")
    assert "| diverged |" in (made_of.folder / "README.md").read_text("utf-8")


@pytest.mark.usefixtures("steep_is_astray")
def test_a_search_in_which_all_goes_astray_says_so(recipe: Recipe) -> None:
    with pytest.raises(UsageError, match="with none of the settings did training come to an end"):
        search(replace(recipe, search=Search({"learning_rate": [9.0, 8.0]})))


def parse_stage(recipe: Recipe) -> dict[str, Any]:
    return dict(parse(f"stage({recipe.stage[-1].settings})").settings)


@pytest.mark.parametrize("method", ["tpe", "random"])
def test_drawn_trials_lie_in_their_ranges_and_repeat(
    recipe: Recipe, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("optuna")
    space = {"learning_rate": {"low": 1e-4, "high": 0.1, "log": True}, "epochs": {"low": 1, "high": 3}}
    seen: list[dict[str, Any]] = []

    def tried(recipe: Recipe, settings: dict[str, Any], *more: Any) -> searching.Trial:
        seen.append(settings)
        return searching.Trial(settings, -abs(settings["learning_rate"] - 0.01))

    monkeypatch.setattr(searching, "_tried", tried)
    wanted = Recipe(recipe.trainer, recipe.stage, search=Search(space, method, trials=15))
    search(wanted)
    assert len(seen) == 15
    assert all(1e-4 <= each["learning_rate"] <= 0.1 and each["epochs"] in (1, 2, 3) for each in seen)
    first, seen[:] = list(seen), []
    search(wanted)
    assert seen == first


def test_seeds_are_averaged(recipe: Recipe) -> None:
    space = {"epochs": [2]}
    both = search(Recipe(recipe.trainer, recipe.stage, search=Search(space, seeds=2)))[1][0]
    one = [
        search(Recipe(recipe.trainer, recipe.stage, seed=seed, search=Search(space)))[1][0].rank
        for seed in (0, 1)
    ]
    assert both.values == one
    assert both.rank == pytest.approx(sum(one) / 2)


def test_the_model_is_that_of_the_best_trial_and_its_card_lists_all(recipe: Recipe, tmp_path: Path) -> None:
    made_model = make(recipe, tmp_path / "model")
    best, trials = search(recipe)
    assert made_model.dev is not None
    assert made_model.dev.measures["MAP"].mean == pytest.approx(max(trial.rank for trial in trials))
    card = (tmp_path / "model" / "README.md").read_text()
    assert "4 settings were tried" in card
    assert len(store.open_folder(tmp_path / "model").made["trials"]) == 4
    assert make(best, tmp_path / "other").ranker.fingerprint == made_model.ranker.fingerprint


def test_a_recipe_in_toml_may_search(tmp_path: Path) -> None:
    file = tmp_path / "r.toml"
    file.write_text(
        'trainer = "siamese"\n[[stage]]\ndata = "x"\ndev = "y"\n[search]\nmethod = "tpe"\n'
        "[search.space]\nmargin = [0.1, 0.2]\nlearning_rate = { low = 1e-4, high = 1e-2, log = true }\n"
    )
    read = toml.read_toml(Recipe, file).search
    assert read is not None
    assert read.space["learning_rate"] == {"low": 1e-4, "high": 1e-2, "log": True}
    file.write_text(file.read_text().replace("tpe", "grid"))
    with pytest.raises(DataError, match="a grid needs a list of values for learning_rate"):
        toml.read_toml(Recipe, file)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"space": {}}, "empty"),
        ({"space": SPACE, "method": "luck"}, "luck"),
        ({"space": SPACE, "trials": 0}, "1 or more"),
        ({"space": {"epochs": []}}, "must be a list"),
        ({"space": {"epochs": {"low": 3, "high": 1}}}, "low below high"),
        ({"space": {"margin": {"low": 0, "high": 1, "log": True}}, "method": "tpe"}, "above 0"),
    ],
)
def test_what_makes_no_search_is_one_clear_line(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Search(**settings)


def test_settings_that_the_trainer_lacks_and_no_dev_set_are_refused(recipe: Recipe) -> None:
    with pytest.raises(UsageError, match="wings"):
        search(Recipe(recipe.trainer, recipe.stage, search=Search({"wings": [1]})))
    bare = Recipe(recipe.trainer, [Stage(recipe.stage[0].data)], search=Search(SPACE))
    with pytest.raises(UsageError, match="needs a dev set"):
        search(bare)


def test_a_value_that_cannot_be_is_found_before_the_first_trial(
    recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stages, "run", lambda *_: pytest.fail("it was found too late"))
    with pytest.raises(UsageError, match="margin from 0 to 1"):
        search(replace(recipe, search=Search({"margin": [0.01, 5]})))


def test_nothing_is_left_where_there_was_nothing_to_learn(recipe: Recipe, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        make(replace(recipe, search=Search({"margn": [0.01]})), tmp_path / "model")
    assert not list(tmp_path.glob("*.parts"))


def test_seeds_that_would_all_be_the_same_are_refused(recipe: Recipe) -> None:
    said = Recipe(recipe.trainer.replace("early=none", "early=none, seed=3"), recipe.stage)
    with pytest.raises(UsageError, match="all seeds of a search would be the same"):
        search(Recipe(said.trainer, said.stage, search=Search(SPACE, seeds=2)))
    assert search(Recipe(said.trainer, said.stage, search=Search({"epochs": [1]})))[1][0].values


def test_an_unknown_measure_is_found_before_anything_is_trained() -> None:
    with pytest.raises(UsageError, match="MAPP"):
        Search(SPACE, measure="MAPP")


def test_trials_of_another_measure_or_count_of_seeds_do_not_count(recipe: Recipe, tmp_path: Path) -> None:
    space = {"epochs": [1]}
    for number, wanted in enumerate([Search(space), Search(space, measure="P@1"), Search(space, seeds=2)], 1):
        search(Recipe(recipe.trainer, recipe.stage, search=wanted), tmp_path)
        assert len(list(tmp_path.glob("*.trials"))) == number
