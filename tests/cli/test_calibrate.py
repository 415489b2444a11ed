"""`demur calibrate` as a user meets it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from cli.calling import process, run
from demur.data import formats
from demur.risk import Gate
from demur.types import Pool


def pools(number: int, seed: int = 0, name: str = "q", good: bool = True) -> list[Pool]:
    """Questions whose first answer shares 1 to 3 words: 3 are right, 1 is wrong half of the time."""
    rng = np.random.default_rng(seed)
    made = []
    for place, words in enumerate(rng.integers(1, 4, number).tolist()):
        texts = [" ".join(["which", "ship", "sailed"][:words]), "nothing at all"]
        right = good and rng.random() > 0.03 + 0.25 * (3 - words)
        labels = [1, 0] if right else [0, 1]
        made.append(Pool.of(f"which ship sailed, {name}{place}", texts, labels, id=f"{name}{place}"))
    return made


def demur(*words: object) -> subprocess.CompletedProcess[str]:
    return process("calibrate", *words)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    formats.write_pools(folder / "old.jsonl", pools(400))
    formats.write_pools(folder / "new.jsonl", pools(200, seed=1, name="new"))
    formats.write_pools(folder / "bad.jsonl", pools(200, seed=1, name="new", good=False))
    return folder


@pytest.fixture(scope="module")
def gate(data: Path) -> Path:
    done = demur("overlap", data / "old.jsonl", "--confidence", 0.9, "-o", data)
    assert done.returncode == 0 and done.stderr == f"gate written to {data / 'gate.json'}\n"
    assert done.stdout.startswith("Answers at this threshold were wrong at most 10 % of the time")
    return data / "gate.json"


def test_gate_is_written_and_told_as_json(data: Path, gate: Path, tmp_path: Path) -> None:
    done = demur("overlap", data / "old.jsonl", "--confidence", 0.9, "-o", tmp_path / "g.json", "--json")
    told = json.loads(done.stdout)
    made = Gate.load(gate)
    assert (told["threshold"], told["promise"]) == (made.threshold, made.promise)
    assert told["certificate"] == dict(made.certificate)
    assert Gate.load(tmp_path / "g.json") == made


def test_no_threshold_is_a_failure_not_a_misuse(data: Path, tmp_path: Path) -> None:
    done = demur("overlap", data / "old.jsonl", "--risk", 0.02, "-o", tmp_path / "g.json", "--json")
    assert done.returncode == 1 and "; for 2 % " in done.stderr
    assert done.stderr.count("\n") == 1 and not (tmp_path / "g.json").exists()
    told = json.loads(done.stdout)
    assert told["threshold"] is None and told["lowest_risk"] > 0.02 and told["reason"] in done.stderr


def test_plan(data: Path) -> None:
    done = demur("overlap", data / "old.jsonl", "--plan", "--confidence", 0.9)
    assert done.returncode == 0 and "10 %" in done.stdout and "enough" in done.stdout
    told = json.loads(demur("overlap", data / "old.jsonl", "--plan", "--json").stdout)
    assert [level["risk"] for level in told["levels"]] == [0.01, 0.02, 0.05, 0.1, 0.2, 0.3]
    plain = demur("overlap", data / "old.jsonl", "--plan")
    assert (
        f"The lowest risk that these labels can promise: {100 * told['lowest']:.4g} % wrong." in plain.stdout
    )


def test_plan_names_what_can_be_kept_where_too_many_are_wrong(data: Path) -> None:
    bad = demur("overlap", data / "bad.jsonl", "--plan")
    assert bad.stdout.count("too many are wrong at every threshold") == 6
    least = json.loads(demur("overlap", data / "bad.jsonl", "--plan", "--json").stdout)["lowest"]
    said = "no risk below 99 %" if least is None else f"{100 * least:.4g} % wrong"
    assert f"The lowest risk that these labels can promise: {said}." in bad.stdout


def test_three_labels_do_not_say_that_more_would_not_help(data: Path, tmp_path: Path) -> None:
    few = tmp_path / "few.jsonl"
    few.write_text("".join((data / "bad.jsonl").read_text("utf-8").splitlines(keepends=True)[:3]), "utf-8")
    said = "label more: it takes 36 answers if none is wrong"
    assert f"; for 10 % {said}\n" in demur("overlap", few).stderr
    plan = demur("overlap", few, "--plan").stdout
    assert said in plan and plan.count("label more: it takes ") == 6, "the same advice"


def test_check_has_exit_codes(data: Path, gate: Path) -> None:
    good = demur("overlap", data / "new.jsonl", "--check", gate)
    assert good.returncode == 0 and "does not contradict" in good.stdout and "look like" in good.stdout
    bad = demur("overlap", data / "bad.jsonl", "--check", gate, "--json")
    assert bad.returncode == 1 and json.loads(bad.stdout)["contradicted"]
    for words in (("overlap", data / "old.jsonl"), ("bm25", data / "new.jsonl")):
        refused = demur(*words, "--check", gate)
        assert refused.returncode == 2 and refused.stderr.count("\n") == 1


def test_misuse_is_one_line(data: Path, gate: Path) -> None:
    for words in (
        ("overlap", data / "old.jsonl", "--risk", 10),
        ("overlap", data / "old.jsonl", "--plan", "--check", gate),
        ("overlap", data / "old.jsonl", "--method", "lttt"),
        ("overlap", data / "new.jsonl", "--check", data / "new.jsonl"),
        ("overlap", data / "new.jsonl", "--check", gate, "-o", data / "other.json"),
        ("overlap", data / "new.jsonl", "--check", gate, "--confidence", 0.5),
        ("overlap", data / "new.jsonl", "--check", gate, "--method", "sgr"),
        ("overlap", data / "old.jsonl", "--set", 0.9, "--seed", 3),
        ("overlap", data / "old.jsonl", "--apart", 0.5),
        ("overlap", data / "old.jsonl", "--stem", "german"),
        ("overlap", data / "old.jsonl", "--method", "sgr", "--grid", data / "new.jsonl"),
    ):
        done = demur(*words)
        assert done.returncode == 2 and done.stderr.startswith("demur: ") and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        ["bm25", "away.jsonl", "-o", "no/gate.json"],
        ["bm25", "away.jsonl", "--set", "0.9", "-o", "no/gate.json"],
        ["mini", "away.jsonl", "--doubt", "learned", "-o", "no/gate.json"],
        ["--without-labels", "--from", "away.csv", "-o", "no/gate.json"],
    ],
)
def test_a_gate_that_could_not_be_written_is_refused_before_any_work(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    assert run(monkeypatch, "calibrate", *words) == 2
    said = "demur: no/gate.json: the folder to write into does not exist; make it first\n"
    assert capsys.readouterr().err == said


def test_meaning_needs_files(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "calibrate", "meaning", "labelled.jsonl") == 2
    told = capsys.readouterr().err
    assert "name the files with --from, or a knowledge base with --kb" in told and told.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        ["score", "", "-o", "x.jsonl"],
        ["score", "", "-o", "x.jsonl", "--engine", "ray"],
        ["evaluate", " "],
        ["calibrate", "bm25", "", "-o", "g.json"],
    ],
)
def test_an_empty_name_of_data_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(monkeypatch, *words) == 2
    assert "the name of the data is empty; name a dataset, a file or a folder" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["rank", "evaluate", "calibrate", "ask"])
def test_an_empty_ranker_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], data: Path, verb: str
) -> None:
    old = str(data / "old.jsonl")
    words = {
        "rank": ["who?", "--candidates", old, "--ranker", ""],
        "evaluate": [old, "--ranker", ""],
        "calibrate": [" ", old, "-o", str(data / "none.json")],
        "ask": ["who?", "--example", "--ranker", ""],
    }
    assert run(monkeypatch, verb, *words[verb]) == 2
    told = capsys.readouterr().err
    assert "the name of the ranker is empty; name one such as bm25" in told
