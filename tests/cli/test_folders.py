"""A model's folder in place of a ranker's name: what it was calibrated for is kept, wherever it lies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import demur
from cli.calling import invoke
from demur.cli.asking.ask import ask
from demur.cli.ranking.rank import rank
from demur.cli.ranking.score import score
from demur.cli.risk.calibrate import calibrate
from demur.data import formats
from demur.errors import UsageError
from demur.types import Pool

QUESTION = "Are saws lent?"
TEXTS = ["Saws are lent for three weeks.", "Ladders go out for days."]
PROMISE = "Answers at this threshold were wrong at most 20 % of the time"


def call(verb: Any, *arguments: object) -> Any:
    result = invoke(verb, *arguments)
    assert result.exit_code == 0, result.output
    return result


def said(verb: Any, *arguments: object) -> Any:
    return json.loads(call(verb, *arguments, "--json").stdout)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model in a folder of its own, with a gate beside it, and files to ask."""
    monkeypatch.chdir(tmp_path)
    Path("answers.txt").write_text("\n".join(TEXTS), "utf-8")
    Path("guide.md").write_text("\n\n".join(TEXTS), "utf-8")
    pools = [Pool.of(QUESTION, TEXTS, [int(n % 10 > 0), 0], id=str(n)) for n in range(300)]
    formats.write_pools("labelled.jsonl", pools)
    formats.write_pools("grid.jsonl", [Pool.of(QUESTION, TEXTS, id=f"g{n}") for n in range(9)])
    demur.ranker("bm25", k1=0.7).save("model")
    return tmp_path / "model"


def calibrated(*more: str) -> str:
    words = ("model", "labelled.jsonl", "--grid", "grid.jsonl", "--risk", "0.2", *more)
    return str(call(calibrate, *words).stdout)


def test_a_folder_ranks_and_its_gate_is_used(folder: Path) -> None:
    words = (QUESTION, "--candidates", "answers.txt", "--ranker", "model")
    plain = said(rank, *words)
    assert "k1=0.7" in plain["ranker"] and "abstained" not in plain
    assert calibrated().startswith(PROMISE)
    assert json.loads((folder / "gate.json").read_text("utf-8"))["certificate"]["ranker"] == plain["ranker"]
    gated = said(rank, *words)
    assert gated["promise"].startswith(PROMISE) and gated["abstained"] is False
    assert said(rank, *words, "--gate", "none") == plain
    assert said(rank, *words[:3], "--gate", "model") == gated, "the gate's folder names the ranker"
    assert said(rank, *words[:3], "--gate", "model/gate.json") == gated
    folder.rename("moved")
    assert said(rank, *words[:3], "--ranker", "moved") == gated
    assert said(rank, *words[:3], "--gate", "moved") == gated


def test_the_gate_of_another_model_is_refused(folder: Path) -> None:
    calibrated()
    demur.ranker("bm25", k1=0.9).save("other")
    (folder / "gate.json").rename("other/gate.json")
    with pytest.raises(UsageError, match="calibrated for the ranker bm25"):
        call(rank, QUESTION, "--candidates", "answers.txt", "--ranker", "other")


def test_a_gate_for_given_candidates_is_not_used_for_files(folder: Path) -> None:
    calibrated()
    result = call(ask, QUESTION, "--from", "guide.md", "--ranker", "model", "--json")
    assert json.loads(result.stdout)["confidence"] is None
    said = "no gate is set: the one in model is for given candidates, and promises nothing for questions to"
    assert result.stderr.startswith(said) and "files" in result.stderr


def test_a_gate_for_files_is_not_used_for_given_candidates(folder: Path) -> None:
    assert calibrated("--from", "guide.md").startswith(PROMISE)
    asked = said(ask, QUESTION, "--from", "guide.md", "--ranker", "model")
    assert asked["confidence"] is not None
    assert said(ask, QUESTION, "--from", "guide.md", "--gate", "model") == asked
    assert (
        said(ask, QUESTION, "--from", "guide.md", "--ranker", "model", "--gate", "none")["confidence"] is None
    )
    result = call(rank, QUESTION, "--candidates", "answers.txt", "--ranker", "model")
    assert "is for questions to files, and promises nothing for given candidates" in result.stderr
    assert PROMISE not in result.stdout
    Path("guide.md").write_text("Other things.", "utf-8")
    other = call(ask, QUESTION, "--from", "guide.md", "--ranker", "model")  # nobody asked for this gate
    assert PROMISE not in other.stdout
    with pytest.raises(UsageError, match="calibrated on other files"):
        call(ask, QUESTION, "--from", "guide.md", "--ranker", "model", "--gate", "model")


def test_a_name_looks_in_no_folder(folder: Path) -> None:
    calibrated()
    Path("overlap").mkdir()
    (folder / "gate.json").rename("overlap/gate.json")
    assert "abstained" not in said(rank, QUESTION, "--candidates", "answers.txt", "--ranker", "overlap")


def test_other_verbs_take_folders(folder: Path) -> None:
    call(score, "labelled.jsonl", "-o", "out.jsonl", "--ranker", "model")
    call(score, "labelled.jsonl", "-o", "same.jsonl", "--ranker", "bm25(k1=0.7)")
    assert Path("out.jsonl").read_text("utf-8") == Path("same.jsonl").read_text("utf-8")
