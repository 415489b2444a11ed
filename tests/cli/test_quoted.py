from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from demur.cli.main import app
from demur.data import formats
from laws import toys
from training.test_readers import POOLS


def demur(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def data(tmp_path: Path) -> Path:
    formats.write(tmp_path / "toy.json", POOLS)
    right = {pool.id: pool.extra["answers"][0]["text"] if pool.positives else "" for pool in POOLS}
    (tmp_path / "right.json").write_text(json.dumps(right))
    return tmp_path


def test_answers_in_a_file_are_measured(data: Path) -> None:
    done = demur("evaluate", data / "toy.json", "--answers", data / "right.json", "--json")
    assert done.exit_code == 0
    said = json.loads(done.stdout)
    assert said["convention"] == "squad-2.0" and "best" not in said
    assert {name: found["mean"] for name, found in said["measures"].items()} == dict.fromkeys(
        ["EM", "F1", "HasAns-EM", "HasAns-F1", "NoAns-EM"], 1
    )
    (data / "none.json").write_text(json.dumps({pool.id: "" for pool in POOLS}))
    for name in ("right", "none"):
        words = ("--answers", data / f"{name}.json", "-o", data / f"{name}.report")
        done = demur("evaluate", data / "toy.json", *words)
        assert done.exit_code == 0 and "HasAns-F1" in done.stdout
    done = demur("compare", data / "none.report", data / "right.report", "--json")
    assert done.exit_code == 0
    gains = {row["measure"]: row["difference"] for row in json.loads(done.stdout)["rows"]}
    assert gains["HasAns-EM"] == 1 and gains["NoAns-EM"] == 0


def test_a_reader_is_trained_and_measured(data: Path) -> None:
    trainer = f'span-reader(base="{toys.bert()}", epochs=2, tokens=120, max_length=32)'
    done = demur("train", "--trainer", trainer, "--data", data / "toy.json", "-o", data / "model", "--json")
    assert done.exit_code == 0 and json.loads(done.stdout)["ranker"].startswith("span-reader(")
    done = demur("evaluate", data / "toy.json", "--reader", data / "model", "--json")
    assert done.exit_code == 0
    said = json.loads(done.stdout)
    for name in ("EM", "F1"):
        assert said["best"][name]["mean"] >= said["measures"][name]["mean"] - 1e-12
    done = demur("evaluate", data / "toy.json", "--reader", data / "model")
    assert done.exit_code == 0 and "in hindsight, EM is" in done.stdout


def test_misuse_is_one_line(data: Path) -> None:
    for words in (
        ("--reader", "a", "--answers", "b"),
        ("--reader", "a", "--ranker", "bm25"),
        ("--answers", "a", "--qrels", "b"),
        ("--answers", "a", "-m", "MAP"),
        ("--reader", "a", "--convention", "trec"),
    ):
        done = demur("evaluate", data / "toy.json", *words)
        assert done.exit_code != 0
    assert demur("evaluate", "--reader", "a").exit_code != 0
