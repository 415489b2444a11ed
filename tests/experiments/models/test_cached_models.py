"""Models of tables that learn are made once, also where two runs ask for the same at the same time."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from demur import store
from demur.experiments.models import cached_models
from demur.experiments.models.cached_models import Step, folder_of, model_folder
from demur.training import trainer
from demur.training.recipes.run_stages import StageJob, run_stages
from laws import toys

pytestmark = pytest.mark.extras


@pytest.fixture
def steps(experiments: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Step]:
    """Two stages, in a cache of their own."""
    monkeypatch.setenv("DEMUR_CACHE", str(tmp_path / "cache"))
    by = trainer(f"concat(features='words(vectors={toys.vectors()})', loss=pointwise, early=none, epochs=1)")
    return [Step(str(experiments.parent / "animals.jsonl"), "", "", by)] * 2


def held_up(
    steps: list[Step], monkeypatch: pytest.MonkeyPatch
) -> tuple[threading.Thread, list[int], threading.Event]:
    """A run that has begun to learn, how many stages each run learns, and what lets this one go on."""
    runs: list[int] = []
    waits, may_go_on = threading.Event(), threading.Event()

    def slowly(jobs: list[StageJob]) -> None:
        runs.append(sum(not job.is_kept for job in jobs))
        if len(runs) == 1:
            waits.set()
            assert may_go_on.wait(60)
        run_stages(jobs)

    monkeypatch.setattr(cached_models, "run_stages", slowly)
    first = threading.Thread(target=folder_of, args=(steps,))
    first.start()
    assert waits.wait(60)
    return first, runs, may_go_on


def test_a_run_waits_for_another_that_makes_the_model(
    steps: list[Step], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, runs, may_go_on = held_up(steps, monkeypatch)
    second = threading.Thread(target=folder_of, args=(steps[:1],))  # what begins as the first does
    second.start()
    while second.is_alive() and "waiting for it" not in caplog.text:
        second.join(0.01)
    may_go_on.set()
    first.join(60)
    second.join(60)
    assert runs == [2, 0], "the second run found the model, and made none"
    assert store.is_model(model_folder(steps)) and store.is_model(model_folder(steps[:1]))
    assert not list(model_folder(steps).parent.glob("*.lock"))


def test_a_lock_that_a_killed_run_left_holds_nobody_up(
    steps: list[Step], caplog: pytest.LogCaptureFixture
) -> None:
    place = model_folder(steps[:1])
    place.with_name(f"{place.name}.lock").touch()
    assert store.is_model(folder_of(steps[:1]))
    assert "waiting" not in caplog.text


def test_runs_that_go_on_from_one_model_do_not_wait_for_each_other(
    steps: list[Step], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder_of(steps[:1])
    first, _, may_go_on = held_up(steps, monkeypatch)
    other = replace(steps[1], by=trainer(steps[1].by.spec, epochs=2))
    second = threading.Thread(target=folder_of, args=([steps[0], other],))
    second.start()
    second.join(60)
    alone = not second.is_alive()
    may_go_on.set()
    first.join(60)
    second.join(60)
    assert alone and "waiting for it" not in caplog.text
