"""`demur calibrate --without-labels`, `--kb`, and the same gate taken up by `ask`."""

from __future__ import annotations

import csv
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import demur
from asking.faq import ROWS, STRANGE
from cli.calling import run
from demur.asking.gates.withheld import Withheld
from demur.cli.risk import thresholds, without_labels


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "faq.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("question", "answer"), *ROWS.items()])
    (tmp_path / "a.txt").write_text("It rained.", "utf-8")
    monkeypatch.chdir(tmp_path)


def test_a_gate_from_an_faq_is_taken_up_by_ask(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = "calibrate", "--from", "faq.csv", "--without-labels", "--apart", "0.5", "--risk", "0.25"
    assert run(monkeypatch, *made, "-o", "gate.json", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["entries"], told["certificate"]["questions"]) == (40, 20)
    assert told["estimates"]["left_out_alone"] == 40 and told["scope"]
    assert run(monkeypatch, *made) == 0
    shown = capsys.readouterr()
    assert told["promise"] in shown.out and "this is not a promise" in shown.out and "not saved" in shown.err
    asking = "--from", "faq.csv", "--ranker", "meaning", "--gate", "gate.json", "--json"
    assert run(monkeypatch, "ask", "How long may I keep a drill?", *asking) == 0
    answer: Any = json.loads(capsys.readouterr().out)
    assert (
        answer["answer"]["id"] == "faq.csv:2" and answer["certificate"]["about"] == "unanswerable questions"
    )
    assert run(monkeypatch, "ask", STRANGE[0], *asking) == 0
    assert json.loads(capsys.readouterr().out)["abstained"]


def test_the_gate_is_written_before_its_promise_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(*told: object) -> None:
        assert Path("gate.json").is_file()
        raise SystemExit(1)  # as where whoever reads has had enough

    monkeypatch.setattr(without_labels, "_tell", cut)
    made = "calibrate", "--from", "faq.csv", "--without-labels", "--apart", "0.5", "--risk", "0.25"
    assert run(monkeypatch, *made, "-o", "gate.json") == 1 and Path("gate.json").is_file()


def test_a_gate_that_answers_next_to_nothing_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = "calibrate", "--from", "faq.csv", "--without-labels", "--apart", "0.5", "--risk", "0.25"
    assert run(monkeypatch, *made) == 0
    assert "answers next to nothing" not in capsys.readouterr().err
    monkeypatch.setattr(Withheld, "answered", lambda self, threshold: 0.01)
    assert run(monkeypatch, *made) == 0
    assert "answers next to nothing: near-twins hold the threshold up" in capsys.readouterr().err


def test_too_few_entries_are_a_failure_not_a_misuse(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "calibrate", "--from", "faq.csv", "--without-labels", "--json") == 1
    shown = capsys.readouterr()
    assert json.loads(shown.out)["threshold"] is None and "entries with --apart 0.5, or of" in shown.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--without-labels"], "name files with --from"),
        (["--from", "a.txt", "--without-labels"], "have no FAQ"),
        (["bm25", "--from", "faq.csv", "--without-labels"], "is for the ranker meaning"),
        (["meaning", "selqa/dev", "--from", "faq.csv", "--without-labels"], "leave the rest out"),
        (["--from", "faq.csv", "--without-labels", "--apart", "2"], "2 is not a share of the entries"),
        (["--from", "faq.csv"], "name both"),
        (["--kb", "faq.kb"], "write demur calibrate meaning --kb BASE"),
        (["bm25"], "name both"),
        ([], "name both"),
        (["bm25", "--kb", "away.kb"], "there is no knowledge base"),
    ],
)
def test_misuse_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert run(monkeypatch, "calibrate", *words) == 2
    shown = capsys.readouterr()
    assert said in shown.err and len(shown.err.splitlines()) == 1 and not shown.out


def test_a_base_is_calibrated_by_its_own_labels(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    base = demur.kb("faq.kb")
    base.add("faq.csv")
    base.embed()
    assert run(monkeypatch, "calibrate", "meaning", "--kb", "faq.kb") == 2
    assert "has no labels" in capsys.readouterr().err
    for place in base.all_places():
        base.label(base.passage(place).question, place, 1)
    made = "calibrate", "meaning", "--kb", "faq.kb", "--risk", "0.4", "-o", "gate.json", "--json"
    assert run(monkeypatch, *made) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["certificate"]["qualifier"] == "top" and told["certificate"]["data"].startswith(
        "labels of faq.kb, generation 1 ("
    )
    assert (
        run(monkeypatch, "ask", "Who repairs toasters?", "--kb", "faq.kb", "--gate", "gate.json", "--json")
        == 0
    )
    assert json.loads(capsys.readouterr().out)["certificate"]["risk"] == 0.4


def test_the_gate_of_labels_that_is_replaced_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(demur.kb("faq.kb")) as base:
        base.add("faq.csv")
        for place in base.all_places():
            base.label(base.passage(place).question, place, 1)
    assert run(monkeypatch, "calibrate", "bm25", "--kb", "faq.kb", "--risk", "0.4", "--json") == 0
    questions = json.loads(capsys.readouterr().out)["certificate"]["questions"]
    without = "calibrate", "--kb", "faq.kb", "--without-labels", "--apart", "0.5", "--risk", "0.25"
    assert run(monkeypatch, *without, "-o", "apart.json") == 0
    assert "replaces" not in capsys.readouterr().err
    said = f"it replaces the gate of {questions} labelled questions for a risk of 40 %; calibrate without"
    assert run(monkeypatch, *without, "--json") == 0
    told = capsys.readouterr().err.splitlines()
    assert told[-2] == "gate written to faq.kb" and told[-1].startswith(said)
    assert run(monkeypatch, *without) == 0
    assert "replaces" not in capsys.readouterr().err, "that gate was not of labels"
    assert not thresholds.replaced("-"), "nothing is read from there"


@pytest.mark.parametrize("verb", ["serve", "mcp"])
def test_servers_are_given_a_base(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], verb: str
) -> None:
    assert run(monkeypatch, verb, "--kb", "away.kb") == 2
    shown = capsys.readouterr().err
    assert "there is no knowledge base" in shown and len(shown.splitlines()) == 1
    assert run(monkeypatch, verb, "--kb", "away.kb", "--from", "faq.csv") == 2
    assert "not several" in capsys.readouterr().err


def test_a_service_asks_a_base(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fastapi")
    from demur.cli.options.services import opening

    demur.kb("faq.kb").add("faq.csv")
    service = opening(None, False, "bm25", None, None, None, "english", Path("faq.kb"))()
    assert service.name == "faq.kb"
    assert service.ask("Who repairs toasters?").ranking.candidates[0].id == "faq.csv:5"
