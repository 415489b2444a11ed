"""What teaches nothing is said before the first stage of a recipe begins, and not after hours."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from demur import data
from demur.data import formats
from demur.embedders import embedder
from demur.errors import DemurError, UsageError
from demur.training import Trainer, trainer
from demur.training.dev_set import judges
from demur.training.recipes.stages import Recipe, Stage, pools_of, run
from demur.training.small_nets.dev_measures import Margins
from demur.training.small_nets.vector_nets import Small
from demur.types import Pool
from laws import toys
from training import made

LABELLED = made.pools(6)


def bare(label: int | None) -> list[Pool]:
    """The pools with one label for all candidates."""
    return [
        replace(pool, candidates=tuple(replace(each, label=label) for each in pool.candidates))
        for pool in LABELLED
    ]


def built(spec: str) -> Trainer:
    return trainer(spec.format(toy=toys.bert(), words=made.words(), vectors=toys.vectors()))


def test_pools_may_come_from_a_generator_and_what_is_none_is_told() -> None:
    net = built("match-pyramid(vectors={vectors}, epochs=1)")
    again = net.train(pool for pool in LABELLED)  # type: ignore[arg-type]
    assert again.fingerprint == net.train(LABELLED).fingerprint
    for wrong in (None, "labelled.jsonl", LABELLED[0]):
        with pytest.raises(UsageError, match=r"pools are a list of demur\.Pool, not"):
            net.train(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "spec",
    [
        "siamese(features='{words}')",
        "concat(features='{words}', loss=pairwise)",
        "match-pyramid(vectors={vectors})",
        "confident(student='match-pyramid(vectors={vectors})')",
        "ensemble(by='match-pyramid(vectors={vectors})', of=seeds, take=all)",
        pytest.param("cross-encoder(base={toy})", marks=pytest.mark.extras),
        pytest.param("distilled(base={toy}, teacher=length, labels=0.5)", marks=pytest.mark.extras),
        pytest.param("bi-encoder(base={toy})", marks=pytest.mark.extras),
        pytest.param("span-reader(base={toy})", marks=pytest.mark.extras),
        pytest.param("mini(base={toy})", marks=pytest.mark.extras),
    ],
)
@pytest.mark.parametrize("label", [0, None])
def test_pools_without_a_right_answer_teach_nothing(spec: str, label: int | None) -> None:
    with pytest.raises(DemurError, match=r"right|answers"):
        built(spec).check(bare(label))


def test_a_later_stage_that_teaches_nothing_is_found_before_the_first_begins(tmp_path: Path) -> None:
    formats.write_pools(tmp_path / "first.jsonl", LABELLED)
    formats.write_pools(tmp_path / "second.jsonl", bare(0))
    stages = [
        Stage(str(tmp_path / "first.jsonl"), settings="epochs=1"),
        Stage(str(tmp_path / "second.jsonl")),
    ]
    told: list[dict[str, Any]] = []
    with pytest.raises(DemurError, match="judged answers are right, and nothing can be learnt"):
        run(Recipe(f"siamese(features='{made.words()}')", stages), report=told.append)
    assert not told


@pytest.mark.extras
def test_mini_learns_by_what_its_task_is() -> None:
    answers = {"answers": [{"text": "ship", "answer_start": 4}]}
    read = [replace(Pool.of("who?", ["the ship"]), extra=answers)]
    for settings, pools in (("rank", LABELLED), ("read", read), ("both", read), ("rank, teacher=bm25", read)):
        built(f"mini(base={{toy}}, tasks={settings})").check(pools)
    built("mini(base={toy}, tasks=rank, teacher=bm25, more=2, entries=4)").check(bare(1))
    for settings, pools in (("rank", read), ("read", LABELLED), ("both", bare(1))):
        with pytest.raises(DemurError, match="so nothing can be learnt; give some of either kind"):
            built(f"mini(base={{toy}}, tasks={settings})").check(pools)


@pytest.mark.extras
def test_the_worst_group_needs_both_kinds_in_dev() -> None:
    by = built("cross-encoder(base={toy}, early=worst)")
    by.check(LABELLED, LABELLED)
    with pytest.raises(DemurError, match="no pool of dev has both a right and a wrong answer; label more"):
        by.check(LABELLED, bare(1))
    by.check(LABELLED, [Pool.of("who?", ["a", "b"], [1, None])])  # what nobody judged counts as wrong
    with pytest.raises(DemurError, match="call the keys anchor and positive"):
        built("bi-encoder(base={toy})").check(bare(None))


@pytest.mark.extras
def test_a_dev_set_with_grades_is_measured_as_it_says() -> None:
    graded = [Pool.of("goat eats", ["likes hay", "daily grass"], [1, 3], id="g")]
    dev = data.Pools("graded", (), lambda: iter(graded), 2)
    by = built("siamese(features='{words}', loss=pairwise)")
    assert isinstance(by, Small)
    assert isinstance(by._dev_measure(dev, embedder(by.features)), Margins)
    low = data.Pools("graded", (), lambda: iter(graded), 4)
    assert not judges(low) and by._dev_measure(low, embedder(by.features)) is None


@pytest.mark.extras
def test_a_reader_is_told_early_that_dev_holds_no_answers() -> None:
    answers = [{"text": "ship", "answer_start": 4}]
    asked = [replace(Pool.of("who?", ["the ship"]), extra={"answers": answers})]
    for settings in ("early=F1", "null=EM", "epochs=1"):  # what is there is measured in the end
        with pytest.raises(DemurError, match="has no answers; take a file of SQuAD"):
            built(f"span-reader(base={{toy}}, {settings})").check(asked, LABELLED)


def test_graded_labels_are_learnt_as_their_data_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graded = [Pool.of("ship?", ["a", "b", "c"], [0, 1, 3], id="g")]
    named = data.Pools("graded", (), lambda: iter(graded), 2)
    monkeypatch.setattr(data, "pools", lambda name: named)
    taught, dev = Recipe(f"siamese(features='{made.words()}')", [Stage("x", "x")]).pools(Stage("x", "x"))
    assert [pool.labels for pool in taught] == [[0, 0, 1]]
    assert [pool.labels for pool in dev] == [[0, 1, 3]], "its measures may ask for grades"
    assert [pool.labels for pool in pools_of("x + x")] == [[0, 0, 1]] * 2


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("concat(loss=pairwise, balance=true)", "balance is of single pairs; set loss=pointwise"),
        ("distilled(smoothing=0.1)", "smoothing and focal are of labels; set labels, or leave them out"),
        ("distilled(focal=2)", "smoothing and focal are of labels"),
        ("comp-agg(clusters=-1)", "clusters=-1 must be 0 or more"),
        ("debiased(method=mixin, entropy=-5)", "entropy=-5 is a price; write 0 or more"),
        ("span-reader(learning_rate=0)", "learning_rate=0 must be above 0"),
        ("hyperqa(batch=99999999999999999999)", "batch=99999999999999999999 .* must be a whole number"),
        ("confident(student=[bidaf(epochs=1)])", "confident changes labels alone; leave confident out"),
        ("self(student=span-reader)", "self changes labels alone; leave self out"),
        ("drcn(weight=-1.0)", "weight=-1.0 must be 0 or more"),
    ],
)
def test_settings_that_would_do_nothing_or_harm_are_refused(spec: str, message: str) -> None:
    with pytest.raises(DemurError, match=message):
        trainer(spec)


def test_a_reader_looks_at_its_dev_set_and_at_what_comes_before_it_first() -> None:
    asked = [replace(pool, candidates=pool.candidates[:1], extra={"answers": []}) for pool in LABELLED]
    trainer("bidaf").check(asked, asked)
    with pytest.raises(DemurError, match="has no answers"):
        trainer("bidaf").check(asked, LABELLED)
    wide = [replace(pool, extra={"answers": []}) for pool in LABELLED]
    with pytest.raises(DemurError, match=r"has \d passages"):
        trainer("bidaf").check(asked, wide)
    trainer("span-reader").follows(trainer("span-reader(epochs=1)"))
    for before in ("bidaf", "cross-encoder", f"siamese(features='{made.words()}')"):
        with pytest.raises(DemurError, match="span-reader cannot start from what"):
            trainer("span-reader").follows(trainer(before))


@pytest.mark.parametrize(
    ("by", "before", "fix"),
    [
        ("cross-encoder", "siamese", "start from cross-encoder"),
        ("scan", "bi-encoder", "start from cross-encoder"),
        ("support", "mini", "start from cross-encoder"),
        ("bi-encoder", "cross-encoder", "start from bi-encoder"),
        ("siamese", "concat", "start from siamese"),
        ("concat", "confident(student=siamese)", "start from concat"),
        ("mini", "bi-encoder", "start from mini or cross-encoder"),
        ("cross-encoder", "ensemble(by=cross-encoder)", "start from cross-encoder"),
    ],
)
def test_what_a_stage_cannot_start_from_is_said_before_the_first_one(by: str, before: str, fix: str) -> None:
    with pytest.raises(DemurError, match=f"{by} cannot start from what .*; {fix}$"):
        trainer(by).follows(trainer(before))


@pytest.mark.parametrize(
    ("by", "before"),
    [
        ("scan", "cross-encoder"),
        ("cross-encoder", "joint"),
        ("cross-encoder", "ensemble(by=cross-encoder, take=best)"),
        ("bi-encoder", "bi-encoder(epochs=2)"),
        ("siamese", "confident(student=siamese)"),
        ("mini", "cross-encoder"),
        ("mini", "mini(tasks=rank)"),
    ],
)
def test_what_a_stage_can_start_from_is_let(by: str, before: str) -> None:
    trainer(by).follows(trainer(before))


def test_folds_are_counted_before_the_work() -> None:
    with pytest.raises(DemurError, match="2 pools are too few for folds=4"):
        built("confident(student='match-pyramid(vectors={vectors})')").check(LABELLED[:2])


@pytest.mark.extras
@pytest.mark.parametrize(
    "spec", ["distilled(base={base}, teacher=length)", "self(student='cross-encoder(base={base})')"]
)
def test_what_lies_in_the_base_counts(spec: str, tmp_path: Path) -> None:
    base = tmp_path / "base"
    shutil.copytree(toys.bert(), base)
    before = trainer(spec.format(base=base)).depends
    assert trainer(spec.format(base=base)).depends == before
    config = base / "config.json"
    config.write_text(config.read_text() + "\n")
    assert trainer(spec.format(base=base)).depends != before


@pytest.mark.extras
def test_a_setting_that_does_nothing_is_told(caplog: pytest.LogCaptureFixture) -> None:
    built("siamese(features='{words}', epochs=1, negatives=1)").train(LABELLED)
    assert "negatives does nothing here: with loss=pointwise all answers are learnt from" in caplog.messages
    built("siamese(features='{words}', epochs=1, margin=0.3)").train(LABELLED)
    assert "margin does nothing here: with loss=pointwise each answer is learnt by itself" in caplog.messages


def test_another_teacher_teaches_another_student() -> None:
    student = f"student=\"concat(features='{made.words()}')\""
    one, other = (trainer(f"self(teacher={teacher}, {student})") for teacher in ("bm25", "length"))
    assert one.depends != other.depends
