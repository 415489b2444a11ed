"""A promise on questions that the ranker has learnt from does not hold, and it is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import demur
from cli.calling import run
from demur import data
from demur.data import formats
from demur.export.export import export
from demur.training import trainer
from demur.training.recipes.learnt_from import learnt_from
from demur.types import Pool
from laws import toys
from training import made


def asked(who: str) -> list[Pool]:
    return [replace(pool, question=f"{pool.question} {who} {n}?") for n, pool in enumerate(made.pools(20))]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    formats.write_pools(tmp_path / "train.jsonl", asked("ada"))
    formats.write_pools(tmp_path / "dev.jsonl", asked("ada")[18:])
    formats.write_pools(tmp_path / "others.jsonl", asked("bea"))
    net = trainer(f"match-pyramid(vectors={toys.vectors()}, epochs=1)").train(asked("ada"))
    stage = {"data": str(tmp_path / "train.jsonl"), "dev": str(tmp_path / "dev.jsonl")}
    net.save(tmp_path / "model", {"stages": [stage, {"data": str(tmp_path / "gone.jsonl")}]})
    return tmp_path / "model"


def test_what_was_learnt_from_is_found_by_its_questions(model: Path) -> None:
    pools = data.pools(model.parent / "train.jsonl")
    found = [(str(model.parent / "train.jsonl"), 20), (str(model.parent / "dev.jsonl"), 2)]
    for spec in (str(model), f"committee(rankers=[{model}; bm25])"):
        assert list(learnt_from(demur.ranker(spec), pools)) == found
    assert not list(learnt_from(demur.ranker("bm25"), pools))
    assert not list(learnt_from(demur.ranker(str(model)), data.pools(model.parent / "others.jsonl")))


def test_an_exported_model_still_says_what_it_was_taught_on(model: Path) -> None:
    export(demur.ranker(str(model)), model.parent / "fast", "fp32", str(model.parent / "others.jsonl"))
    taught_on = data.pools(model.parent / "dev.jsonl")
    assert [shared for _, shared in learnt_from(demur.ranker(str(model.parent / "fast")), taught_on)] == [
        2,
        2,
    ]


@pytest.mark.parametrize("how", [("--plan",), ("--risk", "0.9", "-o", "g.json")])
def test_calibrate_says_so(
    model: Path, how: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(model.parent)
    run(monkeypatch, "calibrate", "model", "train.jsonl", *how)
    assert "20 of these 20 questions are in what the ranker has learnt from" in capsys.readouterr().err
    run(monkeypatch, "calibrate", "model", "others.jsonl", *how)
    assert "learnt from" not in capsys.readouterr().err
