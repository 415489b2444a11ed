"""`demur ask` with what reads: mini where it is there, another reader, gates for several risks."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import demur
from asking.toys import SPEC, Toy, labelled
from cli.calling import invoke
from demur import registry
from demur.asking import packaged
from demur.cli.asking.answers import show
from demur.cli.asking.ask import ask
from demur.cli.ranking.rank import rank
from demur.embedders.encoders import packaged as encoder
from demur.errors import UsageError
from demur.risk.gates.gate import Gate
from demur.types import Pool
from laws import toys

GUIDE = """# Loans

Ask at the desk. Saws are lent for three weeks. Late saws cost a pound.

Saws are sharp.
"""
QUESTION = "For how long are saws lent?"


@pytest.fixture
def guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a guide and, in place of the packaged model, a folder for the toy."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(registry.OURS["ranker"], "mini", SPEC)
    monkeypatch.setattr(packaged, "FOLDER", tmp_path / "mini")
    monkeypatch.setattr(encoder, "there", lambda: False)  # so that mini ranks if nobody names a ranker
    Path("guide.md").write_text(GUIDE, encoding="utf-8")
    Path("mini").mkdir()
    Path("mini/model.onnx").write_bytes(b"x")
    Toy.calls.clear()
    yield tmp_path
    Toy.calls.clear()


def asked(*arguments: str) -> Any:
    return json.loads(invoke(ask, QUESTION, "--from", "guide.md", "--json", *arguments).stdout)


def gate(risk: float, least: float | None = None) -> Gate:
    """A gate for the toy, as it ranks given candidates."""
    texts = ["Saws are lent for three weeks.", "Saws are sharp."]
    grid = [Pool.of(QUESTION, texts, id=f"g{n}") for n in range(9)]
    made = demur.calibrate(Toy(), labelled(QUESTION, texts), risk, grid=grid, data="toys/dev")
    return made if least is None else replace(made, threshold=least)


def test_mini_ranks_and_reads_if_nothing_else_is_said(guide: Path) -> None:
    result = invoke(ask, QUESTION, "--from", "guide.md")
    assert result.stdout == (
        "For how long are saws lent?\n"
        "\n"
        "1  Ask at the desk. Saws are lent for “three weeks”. Late saws cost a pound.\n"
        "   guide.md:3 · Loans · 3 of 3 words: long, saws, lent\n"
        "\n"
        "2  Saws are sharp.\n"
        "   guide.md:5 · Loans\n"
        "\n"
        "   Confidence 0.9, by the reader. No gate is set, so nothing is promised about errors.\n"
        "\n"
    ).replace("3 of 3 words: long, saws, lent", "2 of 3 words: saws, lent")
    assert result.stderr == ""
    assert Toy.calls == [2]


def test_where_it_is_not_there_bm25_answers_and_a_line_says_so(guide: Path) -> None:
    Path("mini/model.onnx").unlink()
    result = invoke(ask, QUESTION, "--from", "guide.md", "--json")
    assert result.stderr == "the model mini did not come with this copy of demur: BM25 answers alone\n"
    assert json.loads(result.stdout) == asked("--ranker", "bm25") == asked("--ranker", "none")
    assert Toy.calls == []


def test_bm25_alone_is_as_it_was(guide: Path) -> None:
    told = asked("--ranker", "bm25")
    plain = demur.ask(QUESTION, Path("guide.md"), "bm25")
    assert [entry["score"] for entry in told["ranking"]] == list(plain.ranking.scores)
    assert told["answer"]["span"] == told["answer"]["sentence"]
    assert told["answer"]["read"] is None and told["confidence"] is None


def test_json_has_the_span_its_sentence_and_what_was_read(guide: Path) -> None:
    told = asked()
    answer = told["answer"]
    assert answer["text"][answer["span"]["start"] : answer["span"]["end"]] == "three weeks"
    assert answer["sentence"]["text"] == "Saws are lent for three weeks."
    assert answer["read"] == {"answers": True, "confidence": 0.9}
    assert told["ranking"][1]["read"] == {"answers": False, "confidence": 0.2}
    assert (told["confidence"], told["nearest"]) == (0.9, None)


def test_another_reader_or_none(guide: Path) -> None:
    assert asked("--ranker", "length", "--reader", "mini", "--top", "1")["answer"]["read"]["answers"]
    assert asked("--reader", "none")["answer"]["read"] is None
    with pytest.raises(UsageError, match="ranks and does not read"):
        asked("--reader", "bm25")


def test_a_gate_for_minis_quotes_promises_nothing_about_anothers(guide: Path) -> None:
    found = gate(0.2)
    own = demur.ranker("mini").fingerprint
    certificate = replace(
        found.certificate, qualifier=f"mini(folder=, of={own})", ranker="mini", ranker_fingerprint=own
    )
    replace(found, certificate=certificate).save("mini/gate.json")
    assert asked("--gate", "none", "--reader", toys.bidaf())["certificate"] is None
    shown = invoke(ask, QUESTION, "--from", "guide.md", "--reader", toys.bidaf())
    assert "no gate is set: this gate goes by what mini quotes" in shown.stderr
    assert "Answers at this threshold" not in shown.stdout
    with pytest.raises(UsageError, match="leave the reader out, or the gate"):
        asked("--gate", "mini/gate.json", "--reader", toys.bidaf())


def test_the_gate_of_the_packaged_model_is_used_and_says_where_it_was_made(guide: Path) -> None:
    gate(0.2).save("mini/gate.json")
    shown = invoke(ask, QUESTION, "--from", "guide.md").stdout
    assert "Answers at this threshold were wrong at most 20 % of the time" in shown
    assert (
        "Those labelled questions were of toys/dev, not of your files: "
        "`demur calibrate mini LABELLED --from FILES` makes a promise about those." in shown
    )
    assert asked()["certificate"]["risk"] == 0.2
    assert asked("--ranker", "mini")["certificate"]["risk"] == 0.2
    assert asked("--gate", "mini")["certificate"]["risk"] == 0.2, "the gate names the ranker"
    assert asked("--gate", "none")["certificate"] is None
    assert asked("--ranker", "bm25")["certificate"] is None
    assert (
        "Answers at this threshold"
        in invoke(rank, QUESTION, "--candidates", "guide.md", "--ranker", "mini").stdout
    ), "it is for given candidates too"
    with pytest.raises(UsageError, match="calibrated for the ranker mini"):
        asked("--gate", "mini/gate.json", "--ranker", "length")


def test_a_folder_with_gates_for_several_risks(guide: Path) -> None:
    gate(0.2).save("mini/gate.json")
    gate(0.3).save("mini/gate-30.json")
    gate(0.15, 99.0).save("mini/gate-15.json")
    assert asked()["certificate"]["risk"] == 0.2
    for words in ((), ("--ranker", "mini"), ("--gate", "mini")):
        assert asked(*words, "--risk", "0.3")["certificate"]["risk"] == 0.3
    assert asked("--risk", "0.15")["abstained"]
    with pytest.raises(
        UsageError,
        match=r"^mini has no gate for a risk of 0\.05 \(5 %\); choose among --risk 0\.15, 0\.2",
    ):
        asked("--risk", "0.05")
    with pytest.raises(UsageError, match=r"choose among --risk 0\.2, or make a gate with demur calibrate"):
        asked("--gate", "mini/gate.json", "--risk", "0.3")
    for words in (("--ranker", "bm25"), ("--gate", "none")):
        with pytest.raises(UsageError, match=r"a risk of 0\.3 chooses among gates, and there is none"):
            asked("--risk", "0.3", *words)


def test_a_refused_answer_is_the_nearest_miss(guide: Path) -> None:
    gate(0.2, 99.0).save("mini/gate.json")
    lines = invoke(ask, QUESTION, "--from", "guide.md").stdout.splitlines()
    assert lines[2].startswith("   No answer: its confidence ") and " is below 99, " in lines[2]
    assert lines[4:8] == [
        "   Nearest miss, which is not given as an answer:",
        "",
        "1  Saws are lent for “three weeks”.",
        "   guide.md:3 · Loans",
    ]
    told = asked()
    assert told["answer"] is None and told["nearest"] == told["ranking"][0]
    assert told["nearest"]["span"]["text"] == "three weeks"


def terminal(result: Any, width: int = 80) -> str:
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=True, highlight=False, color_system="standard")
    show(result, console)
    return file.getvalue()


def test_a_terminal_sets_off_the_span_and_dims_a_miss(guide: Path) -> None:
    shown = terminal(demur.ask(QUESTION, Path("guide.md"), ranker="mini"))
    assert "\x1b[1;32m“three weeks”\x1b[0m" in shown
    missed = terminal(demur.ask("Are saws sharp, or lent?", Path("guide.md"), ranker="mini", top=1))
    assert "\x1b[2mNearest miss, which is not given as an answer:\x1b[0m" in missed
    assert "\x1b[2;4mSaws\x1b[0m" in missed


def test_a_long_sentence_is_shown_around_its_span() -> None:
    text = "Saws " + "and planes " * 40 + "are lent for three weeks " + "or longer " * 40 + "at times."
    for texts in ([text], ["Saws are lent for three weeks.", text]):
        plain = re.sub(r"\x1b\[[0-9;]*m", "", terminal(demur.ask(QUESTION, texts, ranker=Toy())))
        last = plain.split("\n\n")[len(texts)]
        assert "lent for “three weeks” or longer" in " ".join(last.split())
        assert last.count("…") == 2 and max(map(len, plain.splitlines())) <= 80
