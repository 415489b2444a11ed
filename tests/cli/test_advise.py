"""`demur advise` as a user meets it; two small methods stand in for all, so that it takes no minutes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from advice import made
from demur.advice import labelling, methods
from demur.advice.trials import measuring
from demur.advice.trials.measuring import Cost
from demur.cli.main import app
from demur.data import formats
from demur.errors import DemurError
from demur.training.labels.self_training import unlabelled


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(methods, "METHODS", made.methods(made.vectors(tmp_path))[:2])
    monkeypatch.setattr(measuring, "cost", lambda *_: Cost(0.5, 1.25, None, 3.5))
    monkeypatch.setattr(labelling, "installed", lambda extra: False)
    monkeypatch.setenv("COLUMNS", "90")
    pools = made.pools(30, by_words=True)
    formats.write_pools(tmp_path / "labelled.jsonl", pools)
    formats.write_pools(tmp_path / "bare.jsonl", [unlabelled(pool) for pool in pools])
    return tmp_path


def advise(*words: object) -> Any:
    return CliRunner().invoke(app, ["advise", *map(str, words)], catch_exceptions=False)


def test_a_table_and_one_recommendation(data: Path) -> None:
    result = advise(data / "labelled.jsonl", "--risk", "0.3", "--minutes", "2")
    assert result.exit_code == 0
    rows = [line.split() for line in result.stdout.splitlines()]
    assert rows[0] == [
        "method",
        "MAP",
        "95",
        "%",
        "interval",
        "expected",
        "P@1",
        "training",
        "ms",
        "memory",
        "disk",
        "answered",
    ]
    assert rows[1][:9] == ["bm25", "1.000", "1.000–1.000", "1.000", "1.000", "–", "1.2", "–", "3.5"]
    assert "Take bm25" in result.stdout and "To use it: --ranker bm25" in result.stdout
    assert "30 labelled pools" in result.stdout and "convention fixed" in result.stdout
    assert "30 % with 95 % confidence" in result.stdout
    assert "bm25: tried" in result.stderr


def test_no_figure_is_cut_where_there_is_no_window(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    own = "fusion(rankers='bm25; overlap; random(seed=1)', weights='3, 2, 1')"
    lines = advise(data / "labelled.jsonl", "--risk", "0.3", "--also", own).stdout.splitlines()
    assert next(line for line in lines if line.startswith(own)).endswith(" %")
    assert all("…" not in line for line in lines)


def test_what_the_user_names_is_tried_first(data: Path) -> None:
    said = advise(data / "labelled.jsonl", "--also", "overlap").stderr
    assert said.index("overlap: tried") < said.index("bm25: tried")


def test_json_is_all_of_it_and_nothing_else(data: Path) -> None:
    result = advise(data / "labelled.jsonl", "--json", "--seed", "2")
    told = json.loads(result.stdout)
    assert told["method"] == "bm25" and told["labelled"] == 30 and told["seed"] == 2
    assert [row["method"] for row in told["measured"]] == ["bm25", "average"]
    assert told["measured"][0]["cost"]["ms_per_question"] == 1.25


def test_save_writes_a_model_that_ranks(data: Path) -> None:
    result = advise(data / "labelled.jsonl", "--save", data / "model", "--json")
    assert result.exit_code == 0 and f"bm25 written to {data / 'model'}" in result.stderr
    facts = json.loads((data / "model" / "ranker.json").read_text("utf-8"))
    assert facts["made"]["evidence"]["chosen"] == "bm25"
    ranked = CliRunner().invoke(
        app, ["evaluate", str(data / "labelled.jsonl"), "--ranker", str(data / "model")]
    )
    assert ranked.exit_code == 0, ranked.stderr


def test_without_labels_it_says_that_nothing_was_measured(data: Path) -> None:
    result = advise(data / "bare.jsonl")
    assert result.exit_code == 0
    assert "0 of your 30 pools have both a right and a wrong answer marked" in result.stdout.replace(
        "\n", " "
    )
    assert "More labels: 8 more allow" in result.stdout  # of the most similar data with a learning curve
    assert "add --label-next 20" in result.stdout and "at that risk" not in result.stdout
    risky = advise(data / "bare.jsonl", "--risk", "0.1")
    assert "Without labels, how many" in risky.stdout


def test_the_questions_to_label_next(data: Path) -> None:
    lines = advise(data / "bare.jsonl", "--label-next", "3").stdout.splitlines()
    assert len(lines) == 3 and all(line.split("\t")[0].startswith("q") for line in lines)
    told = json.loads(advise(data / "bare.jsonl", "--label-next", "3", "--json").stdout)
    assert [f"{each['id']}\t{each['question']}" for each in told] == lines
    none = advise(data / "labelled.jsonl", "--label-next", "3")
    assert none.stdout == "" and "no question left to label" in none.stderr


def test_what_is_not_installed_is_said(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(methods, "METHODS", (*methods.METHODS, methods.Method("net", "x", extra="encoder")))
    monkeypatch.setattr(methods, "find_spec", lambda module: None)
    result = advise(data / "labelled.jsonl")
    assert "Not installed: net; pip install 'demur[encoder]' adds them." in result.stdout


def test_misuse_is_one_line(data: Path) -> None:
    with pytest.raises(DemurError, match="minutes must be a number above 0"):
        advise(data / "labelled.jsonl", "--minutes", "0")
    with pytest.raises(DemurError, match="no such file"):
        advise(data / "nowhere.jsonl")
    for name in ("labelled", "bare"):
        with pytest.raises(DemurError, match="above 0 and below 1"):
            advise(data / f"{name}.jsonl", "--risk", "7")
    (data / "full").mkdir()
    (data / "full" / "notes.txt").write_text("mine", "utf-8")
    with pytest.raises(DemurError, match="is not a model"):  # before anything is read
        advise(data / "nowhere.jsonl", "--save", data / "full")
    for place in ("/proc/nowhere", data / "full" / "notes.txt" / "model"):
        with pytest.raises(
            DemurError, match=r"does not exist; make it|lies in a file, not in a folder|may not be"
        ):
            advise(data / "nowhere.jsonl", "--save", place)
