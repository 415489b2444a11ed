from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import demur
from demur import store, toml
from demur.data import formats
from demur.errors import Astray, DataError, UsageError
from demur.evaluation import evaluate
from demur.rankers import open_model
from demur.training.recipes.make_model import make
from demur.training.recipes.stages import Recipe, Scale, Stage, pools_of, run
from demur.training.small_nets import loop as small_loop
from laws import toys
from training import made

FAST = "epochs=3, learning_rate=0.01"


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """Files of pools: first, second, dev."""
    for name, count, seed in (("first", 40, 5), ("second", 20, 6), ("dev", 10, 7)):
        formats.write_pools(tmp_path / f"{name}.jsonl", made.pools(count, seed))
    return {name: str(tmp_path / f"{name}.jsonl") for name in ("first", "second", "dev")}


def recipe(files: dict[str, str], **settings: Any) -> Recipe:
    stages = [
        Stage(files["first"], files["dev"], settings=FAST),
        Stage(files["second"], files["dev"], settings=f"{FAST}, margin=0.2"),
    ]
    trainer = f'siamese(features="{made.words()}", loss=pairwise)'
    return Recipe(**{"trainer": trainer, "stage": stages, **settings})


def weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


def test_a_stage_goes_on_from_the_one_before(files: dict[str, str]) -> None:
    wanted = recipe(files)
    ranker, done = run(wanted)
    first = wanted.by(wanted.stage[0]).train(pools_of(files["first"]), pools_of(files["dev"]))
    second = wanted.by(wanted.stage[1])
    assert "margin=0.2" in second.spec and "margin=0.05" in done[0].trainer
    expected = second.train(pools_of(files["second"]), pools_of(files["dev"]), start=first)
    assert ranker.fingerprint == expected.fingerprint
    alone = second.train(pools_of(files["second"]), pools_of(files["dev"]))
    assert ranker.fingerprint != alone.fingerprint
    assert [stage.counts["pools"] for stage in done] == [40, 20]


def test_a_run_killed_anywhere_goes_on_and_ends_the_same(
    files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = recipe(files)
    make(wanted, tmp_path / "whole")
    monkeypatch.setattr(small_loop, "KEEP", 0.0)
    for stage, epoch in ((1, 2), (2, 1), (2, 3)):

        def killed(facts: dict[str, Any], at: tuple[int, int] = (stage, epoch)) -> None:
            if (facts["stage"], facts["epoch"]) == at:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            make(wanted, tmp_path / "model", killed)
        assert not (tmp_path / "model").exists()
    told = list[dict[str, Any]]()
    finished = make(wanted, tmp_path / "model", told.append)
    assert {line["stage"] for line in told} == {2}, "the first stage is not run again"
    assert weights(tmp_path / "model") == weights(tmp_path / "whole")
    assert (tmp_path / "model/log.jsonl").read_text() == (tmp_path / "whole/log.jsonl").read_text()
    assert [len(stage.log) for stage in finished.stages] == [3, 3]
    assert not list(tmp_path.glob("*.parts"))


def test_another_recipe_takes_nothing_over(
    files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(facts: dict[str, Any]) -> None:
        if facts["stage"] == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make(recipe(files), tmp_path / "model", killed)
    told = list[dict[str, Any]]()
    make(recipe(files, seed=1), tmp_path / "model", told.append)
    assert {line["stage"] for line in told} == {1, 2}
    run_again = run(recipe(files, seed=1))[0]
    assert open_model(tmp_path / "model").fingerprint == run_again.fingerprint


def worked(facts: dict[str, Any]) -> None:
    pytest.fail("it was found too late")


def test_a_folder_of_other_things_is_refused_before_the_work(files: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "thesis.tex").write_text("mine")
    with pytest.raises(DataError, match="model: exists already and is not a model; name another folder"):
        make(recipe(files), tmp_path / "model", worked)
    (tmp_path / "other.parts").mkdir()
    (tmp_path / "other.parts" / "thesis.tex").write_text("mine")
    with pytest.raises(UsageError, match=r"holds something else \(thesis.tex\); move it away"):
        make(recipe(files), tmp_path / "other", worked)
    assert (tmp_path / "other.parts" / "thesis.tex").exists()


def test_a_model_of_another_making_is_not_lost(files: dict[str, str], tmp_path: Path) -> None:
    kept = make(recipe(files), tmp_path / "model").ranker.fingerprint
    assert make(recipe(files), tmp_path / "model").ranker.fingerprint == kept  # the same may run again
    others = [
        recipe(files, seed=1),
        recipe(files, stage=[Stage(files["second"], files["dev"], settings=FAST)]),
        recipe(files, stage=[*recipe(files).stage[:1], Stage(files["second"], files["dev"], settings=FAST)]),
    ]
    for other in others:
        with pytest.raises(DataError, match="holds a model that another recipe, other data or"):
            make(other, tmp_path / "model", worked)
    assert open_model(tmp_path / "model").fingerprint == kept


def test_two_runs_do_not_meet(files: dict[str, str], tmp_path: Path) -> None:
    def second(facts: dict[str, Any]) -> None:
        with pytest.raises(UsageError, match=r"another run is training into .*model; wait for its end"):
            make(recipe(files), tmp_path / "model")

    make(recipe(files), tmp_path / "model", second)


def test_the_model_says_what_it_is(files: dict[str, str], tmp_path: Path) -> None:
    found = make(recipe(files), tmp_path / "model")
    facts = store.open_folder(tmp_path / "model").made
    assert facts["seed"] == 0 and [stage["data"] for stage in facts["stages"]] == [
        files["first"],
        files["second"],
    ]
    expected = evaluate(str(tmp_path / "model"), pools_of(files["dev"]), "MAP").measures["MAP"]
    assert found.dev is not None and found.dev.measures["MAP"] == expected
    assert facts["dev"]["MAP"]["mean"] == expected.mean
    lines = [json.loads(line) for line in (tmp_path / "model/log.jsonl").read_text().splitlines()]
    assert [(line["stage"], line["epoch"]) for line in lines] == [(s, e) for s in (1, 2) for e in (1, 2, 3)]
    page = (tmp_path / "model/README.md").read_text("utf-8")
    for said in (
        "# A siamese ranker",
        f"`{files['second']}`",
        "20 questions",
        "margin=0.2",
        f"| MAP | {expected.mean:.4f} | {expected.low:.4f} – {expected.high:.4f} |",
        "of your own; its terms are for you to say",
        "seed 0",
        'demur.ranker("THIS FOLDER")',
    ):
        assert said in page
    assert f"| 3 | {lines[-1]['loss']:.4g} | {lines[-1]['dev']:.4g} |" in page
    assert demur.ranker(str(tmp_path / "model")).rank("hen eats", ["likes corn", "likes hay"])


def test_the_card_says_how_many_questions_of_dev_were_learnt_from(
    files: dict[str, str], tmp_path: Path
) -> None:
    new = [replace(pool, question=f"{pool.question} today") for pool in made.pools(9)]
    formats.write_pools(tmp_path / "new.jsonl", new)
    both = f"{files['first']} + {files['second']} + {tmp_path / 'new.jsonl'}"
    by, warned = f'siamese(features="{made.words()}", early=none)', "60 of these questions were learnt from"
    for dev, said in ((str(tmp_path / "new.jsonl"), "Training has not looked at them."), (both, warned)):
        stages = [Stage(files["first"], settings=FAST), Stage(files["second"], dev, settings=FAST)]
        found = make(recipe(files, stage=stages, trainer=by), tmp_path / said[:2])
        assert said in (found.folder / "README.md").read_text("utf-8")


def test_what_a_failed_run_leaves_is_nothing(files: dict[str, str], tmp_path: Path) -> None:
    by = f'hyperqa(vectors="{toys.vectors()}", epochs=1, margin=1e300)'
    with pytest.raises(Astray):
        make(recipe(files, trainer=by, stage=[Stage(files["first"])]), tmp_path / "m")
    assert not (tmp_path / "m.parts").exists() and not (tmp_path / "m").exists()


def test_where_no_model_can_be_put_is_said_before_the_work(
    files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    nameless, taken = "no name of its own", "exists already"
    places = {".": nameless, "..": nameless, "../link": taken, "../pipe": taken}
    for place, said in places.items():
        with pytest.raises(DataError, match=said):
            make(recipe(files), Path(place), worked)


def test_part_of_the_data_lies_within_more_of_it(files: dict[str, str]) -> None:
    ids = {
        n: {pool.id for pool in pools_of(f"{files['first']}+{files['second']}", n, 3)} for n in (5, 20, 99)
    }
    assert [len(found) for found in ids.values()] == [5, 20, 60]
    assert ids[5] < ids[20] < ids[99]
    assert ids[5] != {pool.id for pool in pools_of(f"{files['first']} + {files['second']}", 5, 4)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "trainer = 'siamese'\n[[stage]]\ndata = 'x'\nepochs = 3",
            r"unknown key stage\[0\].epochs; known: data, dev",
        ),
        ("trainer = 'siamese'", "the key stage is missing"),
        ("trainer = 'siamese'\nstage = []", r"a recipe needs at least one \[\[stage\]\]"),
        ("trainer = 'siamise'\n[[stage]]\ndata = 'x'", "unknown trainer 'siamise'; did you mean 'siamese'"),
        (
            "trainer = 'siamese'\n[[stage]]\ndata = 'x'\nsettings = 'margins=1'",
            "trainer 'siamese' has no setting 'margins'",
        ),
        ("trainer = 3\n[[stage]]\ndata = 'x'", "trainer is 3, which must be of type str"),
        ("trainer = [", "not TOML"),
    ],
)
def test_recipes_that_mean_nothing_are_one_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "r.toml").write_text(text)
    with pytest.raises(DataError, match=f"r.toml: {message}"):
        toml.read_toml(Recipe, tmp_path / "r.toml")


def test_a_stage_may_set_the_seed(files: dict[str, str]) -> None:
    wanted = recipe(files, seed=1, stage=[Stage(files["first"], settings="seed=3"), Stage(files["second"])])
    assert ["seed=3" in wanted.by(stage).spec for stage in wanted.stage] == [True, False]
    assert "seed=1" in wanted.by(wanted.stage[1]).spec


def test_a_stage_may_have_a_seed_of_its_own_in_the_trainer(files: dict[str, str]) -> None:
    wanted = recipe(files, seed=7)
    assert "seed=7" in wanted.by(wanted.stage[0]).spec
    own = recipe(files, seed=7, trainer="siamese(seed=2)")
    assert "seed=2" in own.by(own.stage[0]).spec


def test_at_another_scale_all_stages_are_others(files: dict[str, str], tmp_path: Path) -> None:
    scales = {"cpu": Scale("epochs=1, learning_rate=0.02", 15), "full": Scale()}
    stages = [Stage(files["first"]), Stage(files["second"], files["dev"], 5, "epochs=2")]
    trainer = f'siamese(features="{made.words()}", loss=pairwise)'
    small = Recipe(trainer, stages, scale="cpu", scales=scales)
    _, done = run(small)
    assert [stage.counts["pools"] for stage in done] == [15, 5], "a stage's own word goes before"
    assert ["epochs=1," in stage.trainer for stage in done] == [True, False]
    assert all("learning_rate=0.02" in stage.trainer for stage in done)
    full = Recipe(trainer, [stages[0]], scale="full", scales=scales)
    assert full.by(full.stage[0]).spec == Recipe(trainer, [stages[0]]).by(stages[0]).spec
    assert len(full.pools(stages[0])[0]) == 40
    folder = make(small, tmp_path / "model").folder
    assert store.open_folder(folder).made["scale"] == "cpu"
    assert "scale `cpu`, seed 0" in (folder / "README.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("scale", "scales", "message"),
    [
        ("huge", {"cpu": Scale()}, "scale='huge' is not one of the recipe's; its scales are cpu"),
        ("", {"cpu": Scale(), "full": Scale()}, "its scales are cpu, full"),
        ("full", {}, "it has no scales"),
        ("cpu", {"cpu": Scale(), "full": Scale("layers=3")}, "layers"),
    ],
)
def test_a_scale_that_cannot_be_is_refused(scale: str, scales: dict[str, Scale], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Recipe("siamese", [Stage("some.jsonl")], scale=scale, scales=scales)


@pytest.mark.extras
def test_settings_that_do_nothing_are_told(
    files: dict[str, str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    by = f'siamese(features="{made.words()}", loss=pairwise, early=MAP, {FAST})'
    make(Recipe(by, [Stage(files["second"], questions=300)]), tmp_path / "one")
    assert "early=MAP does nothing without a dev set; name one with --dev, or as a stage's dev" in caplog.text
    assert "second.jsonl has 20 questions, not 300; all are taken" in caplog.text
    caplog.clear()
    make(Recipe(by, [Stage(files["second"], files["dev"], questions=20)]), tmp_path / "two")
    make(Recipe(by.replace("early=MAP, ", ""), [Stage(files["second"])]), tmp_path / "three")
    assert "does nothing" not in caplog.text and "are taken" not in caplog.text
