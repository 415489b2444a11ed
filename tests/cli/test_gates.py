"""`demur ask` and `demur rank` with a gate: the answer with its promise, or the reason why there is none."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import demur
from cli.calling import invoke
from demur.asking import Library, read_documents
from demur.asking import calibrate as calibrate_library
from demur.cli.asking.ask import ask
from demur.cli.ranking.rank import rank
from demur.cli.risk.calibrate import calibrate
from demur.cli.risk.promises import confident
from demur.data import formats
from demur.errors import UsageError
from demur.risk.gates.gate import Gate
from demur.risk.sets import AnswerSets
from demur.types import Candidate, Pool

GUIDE = "Saws are lent for three weeks.\n\nLadders go out for days.\n\nDrills are neither lent nor sold.\n"
PROMISE = (
    "Answers at this threshold were wrong at most 20 % of the time, with 95 % confidence, on 300 labelled "
)


def call(verb: Any, *arguments: object, input: str = "") -> str:
    result = invoke(verb, *arguments, input=input)
    assert result.exit_code == 0, result.output
    return result.stdout


def questions(positive: Candidate, *others: Candidate) -> list[Pool]:
    """Three hundred labelled questions, of which one in ten has no right answer."""
    candidates = (positive, *others)
    wrong = tuple(replace(candidate, label=0) for candidate in candidates)
    return [Pool(str(n), "Are saws lent?", candidates if n % 10 else wrong) for n in range(300)]


@pytest.fixture
def guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("guide.md").write_text(GUIDE, encoding="utf-8")
    library = Library(read_documents(Path("guide.md")))
    pools = questions(Candidate("x", "Saws are lent for three weeks.", 1))
    grid = [Pool.of("Are saws lent?", ["?"], id=f"g{n}") for n in range(9)]
    gate = calibrate_library(library, pools, 0.2, grid=grid)
    gate.save("gate.json")
    replace(gate, threshold=1e6).save("strict.json")
    calibrate_library(library, pools, 0.2, grid=grid, ranker="overlap").save("overlap.json")
    return tmp_path


def test_ask_answers_with_confidence_and_promise(guide: Path) -> None:
    shown = call(ask, "Are saws lent?", "--from", "guide.md", "--gate", "gate.json")
    assert "1  “Saws are lent for three weeks.”" in shown
    assert "   Confidence 0." in shown
    assert f"is enough. {PROMISE}" in shown
    assert "No gate is set" not in shown
    told = json.loads(call(ask, "Are saws lent?", "--from", "guide.md", "--gate", "gate.json", "--json"))
    assert (told["abstained"], told["reason"]) == (False, None)
    assert told["confidence"] == told["answer"]["confidence"]
    assert told["certificate"]["risk"] == 0.2


@pytest.mark.parametrize(
    ("confidence", "threshold", "said"),
    [
        (0.83412, 0.71234, "Confidence 0.83, where 0.71 is enough."),
        (0.71391, 0.71234, "Confidence 0.714, where 0.712 is enough."),
        (0.5, 0.5, "Confidence 0.5, where 0.5 is enough."),
        (123.456, 4.5678, "Confidence 123.5, where 4.568 is enough."),
        (0.25, float("-inf"), "Confidence 0.25, where any is enough."),
    ],
)
def test_confidence_has_the_digits_that_tell_it_from_the_threshold(
    guide: Path, confidence: float, threshold: float, said: str
) -> None:
    assert confident(replace(Gate.load("gate.json"), threshold=threshold), confidence) == said


def test_ask_abstains_and_shows_the_nearest_miss_as_such(guide: Path) -> None:
    shown = call(ask, "Are saws lent?", "--from", "guide.md", "--gate", "strict.json").splitlines()
    assert shown[2].startswith("   No answer: its confidence 0.")
    assert shown[4] == "   Nearest miss, which is not given as an answer:"
    assert shown[6] == "1  Saws are lent for three weeks."
    told = json.loads(call(ask, "Are saws lent?", "--from", "guide.md", "--gate", "strict.json", "--json"))
    assert told["abstained"] and told["answer"] is None
    assert "is below" in told["reason"]
    assert told["confidence"] < 1


def test_explain_says_how_far_the_promise_goes(guide: Path) -> None:
    shown = call(ask, "Are saws lent?", "--from", "guide.md", "--gate", "gate.json", "--explain")
    lines = [line.strip() for line in shown.splitlines()]
    notes = lines[lines.index("How far the promise goes:") + 1 : -1]
    assert notes == [f"– {line}" for line in Gate.load("gate.json").scope]
    assert len(notes) > 2


def test_ask_takes_the_gates_second_ranker(guide: Path) -> None:
    told = json.loads(call(ask, "Are saws lent?", "--from", "guide.md", "--gate", "overlap.json", "--json"))
    plain = json.loads(call(ask, "Are saws lent?", "--from", "guide.md", "--ranker", "overlap", "--json"))
    assert told["ranking"] == plain["ranking"]


def test_a_gate_for_other_passages_or_another_ranker_is_refused(guide: Path) -> None:
    for name, other in (("ranker", "overlap"), ("stem", "none")):
        with pytest.raises(UsageError, match=rf"calibrated with {name}=\w+, not with {name}={other}"):
            call(ask, "saws", "--from", "guide.md", "--gate", "gate.json", f"--{name}", other)
    with pytest.raises(UsageError, match="calibrated on other files"):
        call(ask, "-", "--example", "--gate", "gate.json")
    with pytest.raises(UsageError, match="use it with demur ask"):
        call(rank, "saws", "--candidates", "guide.md", "--gate", "gate.json")


def test_calibrate_asks_the_library(guide: Path) -> None:
    formats.write_pools("questions.jsonl", questions(Candidate("x", "Saws are lent for three weeks.", 1)))
    formats.write_pools("grid.jsonl", [Pool.of("Are saws lent?", ["?"], id=f"g{n}") for n in range(9)])
    words = ("none", "questions.jsonl", "--from", "guide.md", "--risk", "0.2", "--grid", "grid.jsonl")
    assert call(calibrate, *words, "-o", "again.json").startswith(PROMISE)
    again, known = Gate.load("again.json"), Gate.load("gate.json")
    assert again.threshold == known.threshold
    assert {**again.certificate, "data": ""} == dict(known.certificate)
    assert "20 %" in call(calibrate, *words[:4], "--plan")
    with pytest.raises(UsageError, match="proves nothing"):
        call(calibrate, *words[:4], "--check", "gate.json")
    right = "Saws are lent for three weeks."
    formats.write_pools(
        "fresh.jsonl", [Pool.of("Are saws lent out?", [right], [1], f"f{n}") for n in range(9)]
    )
    fresh = ("fresh.jsonl", *words[2:4], "--check", "gate.json")
    assert call(calibrate, "none", *fresh).startswith("0 of 9 answers are wrong")
    with pytest.raises(UsageError, match="not with ranker=overlap"):
        call(calibrate, "overlap", *fresh)
    with pytest.raises(UsageError, match="unknown ranker 'none'"):
        call(calibrate, *words[:2])


def test_the_examples_labels_promise_little_and_that_is_said() -> None:
    app = typer.Typer()
    app.command()(calibrate)
    result = CliRunner().invoke(app, ["none", "example/questions", "--example"])
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "38 labelled questions cannot promise that at most 10 % of the answers are wrong" in result.stderr


def test_calibrate_writes_answer_sets(tmp_path: Path) -> None:
    pools = [
        Pool.of("saw drill", ["saw drill", "saw", "no"], [n % 2, 1 - n % 2, 0], str(n)) for n in range(40)
    ]
    formats.write_pools(tmp_path / "pools.jsonl", pools)
    words = ("overlap", tmp_path / "pools.jsonl", "--set", "0.9")
    shown = call(calibrate, *words, "-o", tmp_path / "sets.json")
    assert shown.startswith("On average, sets made this way hold a correct answer for at least 90 %")
    assert "There the sets had 2 of 3 candidates on average." in shown
    assert AnswerSets.load(tmp_path / "sets.json").n == 40
    assert json.loads(call(calibrate, *words, "--json"))["level"] == 0.9
    with pytest.raises(UsageError, match="leave out files and the options of gates"):
        call(calibrate, *words, "--plan")


def test_rank_answers_or_abstains(guide: Path) -> None:
    right, *others = (Candidate(str(n), line, 0) for n, line in enumerate(GUIDE.split("\n\n")))
    gate = demur.calibrate(
        "overlap",
        questions(replace(right, label=1), *others),
        0.2,
        grid=[Pool.of("saws?", ["?"], id="g")],
    )
    gate.save("rank.json")
    replace(gate, threshold=5.0).save("strict.json")
    words = ("Are saws lent?", "--candidates", "guide.md", "--gate")
    lines = call(rank, *words, "rank.json").splitlines()
    assert lines[0].startswith("Confidence ") and PROMISE in lines[0]
    assert lines[1].endswith("Saws are lent for three weeks.")
    lines = call(rank, *words, "strict.json", "--explain").splitlines()
    assert lines[0].startswith("No answer: its confidence ")
    assert lines[1] == "Nearest miss, which is not given as an answer:"
    assert lines[-1].startswith("– ")
    told = json.loads(call(rank, *words, "strict.json", "--json"))
    assert told["ranker"].startswith("overlap")
    assert (told["abstained"], told["certificate"]["risk"]) == (True, 0.2)
    assert told["confidence"] < 5 and told["promise"].startswith(PROMISE)
    nothing = json.loads(call(rank, "q", "--candidates", "-", "--gate", "rank.json", "--json"))
    assert (nothing["abstained"], nothing["confidence"]) == (True, None)
    with pytest.raises(UsageError, match="not for bm25"):
        call(rank, *words, "rank.json", "--ranker", "bm25")
