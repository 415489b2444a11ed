"""`demur ask --interactive`: everything is opened once, and questions are answered line by line."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from asking.toys import SPEC, Toy
from cli.calling import invoke
from demur import registry
from demur.asking import packaged
from demur.cli.asking.ask import ask
from demur.errors import DataError, UsageError

WORDS = ("--from", "guide.md", "--ranker", "mini")


@pytest.fixture(autouse=True)
def guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(registry.OURS["ranker"], "mini", SPEC)
    monkeypatch.setattr(packaged, "FOLDER", tmp_path / "mini")  # whose gate is not the toy's
    Path("guide.md").write_text("Saws are lent for three weeks.\n\nDrills weigh two kilos.\n", "utf-8")
    Toy.calls.clear()
    yield tmp_path
    Toy.calls.clear()


def call(*arguments: str, input: str | bytes = "") -> Any:
    return invoke(ask, *arguments, input=input)


def test_a_line_is_a_question_until_an_empty_one(guide: Path) -> None:
    result = call("--interactive", *WORDS, "--json", input="saws?\nviolins?\n\ndrills?\n")
    told = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(one["question"], one["abstained"]) for one in told] == [("saws?", False), ("violins?", True)]
    assert result.stderr == "" and result.exit_code == 0
    assert Toy.calls == [1, 1], "once to be warm, and once for the question that found something"


def test_the_end_of_the_input_is_the_end(guide: Path) -> None:
    shown = call("-i", *WORDS, input="saws?\ndrills?").stdout
    assert "“three weeks”" in shown and "“two kilos”" in shown and "? saws" not in shown
    assert call("-i", *WORDS, input="").stdout == ""


def test_a_first_question_may_be_given(guide: Path) -> None:
    lines = call("drills?", "-i", *WORDS, "--json", input="saws?\n").stdout.splitlines()
    assert [json.loads(line)["question"] for line in lines] == ["drills?", "saws?"]


def test_a_mistake_is_one_line_and_the_next_question_may_follow(
    guide: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(self: Toy, question: str, passages: object) -> Any:
        if "saws" in question:
            raise UsageError("no more of that")
        return original(self, question, passages)  # type: ignore[arg-type]

    original = Toy.look
    monkeypatch.setattr(Toy, "look", look)
    result = call("-i", *WORDS, input="saws?\ndrills?\n")
    assert result.stderr == "demur: no more of that\n" and "“two kilos”" in result.stdout
    with pytest.raises(UsageError, match="no more of that"):
        call("-", *WORDS, input="saws?\ndrills?\n")


def test_what_is_no_text_is_one_clear_line(guide: Path) -> None:
    with pytest.raises(DataError, match="byte 0xff is not UTF-8"):
        call("-i", *WORDS, input=b"saws?\n\xff\n")


def test_no_question_is_misuse(guide: Path) -> None:
    with pytest.raises(UsageError, match="there is no question; write one, or - for questions from stdin"):
        call(*WORDS)


def listening() -> None:
    """Take Ctrl-C, which what runs behind a shell (`pytest &`) does not, nor what it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Terminal:
    """`demur ask --interactive` at a terminal of its own."""

    def __init__(self) -> None:
        self.keys, theirs = pty.openpty()
        command = [sys.executable, "-m", "demur", "ask", "-i", "--from", "guide.md", "--ranker", "bm25"]
        self.process = subprocess.Popen(
            command,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "TERM": "dumb", "COLUMNS": "80"},
            start_new_session=True,
            preexec_fn=listening,
        )
        os.close(theirs)
        self.shown = ""

    def until_asked(self, times: int) -> None:
        """Wait for a prompt, and for the terminal to listen."""
        while self.shown.count("\n? ") < times:
            self.shown += os.read(self.keys, 4096).decode()
        time.sleep(0.2)

    def end(self) -> int:
        """Read what is left; the exit code."""
        try:
            while more := os.read(self.keys, 4096):
                self.shown += more.decode()
        except OSError:  # how a terminal ends whose process has gone
            pass
        os.close(self.keys)
        return int(self.process.wait(30))


@pytest.mark.parametrize("leaving", ["\n", "\x04", "ctrl-c"])
def test_at_a_terminal_there_is_a_prompt_and_three_ways_to_leave(guide: Path, leaving: str) -> None:
    there = Terminal()
    try:
        there.until_asked(1)
        os.write(there.keys, b"saws?\n")
        there.until_asked(2)
        if leaving == "ctrl-c":
            there.process.send_signal(signal.SIGINT)
        else:
            os.write(there.keys, leaving.encode())
        assert there.end() == 0
    finally:
        there.process.kill()
        there.process.wait()
    assert "2 passages are ready; an empty line or Ctrl-D leaves." in there.shown
    assert "“Saws are lent for three weeks.”" in there.shown
    assert there.shown.endswith("\n") and "Traceback" not in there.shown and "Aborted" not in there.shown


@pytest.mark.parametrize("asks", ["-", "--interactive"])
def test_stdin_is_asked_or_asks(asks: str) -> None:
    with pytest.raises(UsageError, match="stdin cannot be both the questions and what is asked"):
        call(asks, "--from", "-", input="The fee is 5 euros.\n")
