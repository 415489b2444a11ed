from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

import demur
from cli.calling import run
from cli.test_colours import COLOUR, Terminal
from demur.cli import console
from demur.cli.asking.answers import show
from demur.cli.console import harmless


def test_what_could_command_a_terminal_is_marked() -> None:
    assert harmless("left \u202eright\u2066") == "left \ufffdright\ufffd"
    assert harmless("a\x1b]0;title\x07b\tc\nd\x9be é") == "a\ufffd]0;title\ufffdb\tc\nd\ufffde é"


def test_a_strangers_text_commands_no_terminal() -> None:
    text = "The ship \x1b]0;owned\x07 sails \x1b[31m red."
    out = io.StringIO()
    show(demur.ask("which ship sails?", [text], "bm25"), Console(file=out, force_terminal=True, width=80))
    assert "\x1b]0;" not in out.getvalue() and "\x07" not in out.getvalue()
    assert "\ufffd[31m" in out.getvalue()


def terminal(monkeypatch: pytest.MonkeyPatch, **more: str) -> Terminal:
    """What stderr is from now on; called in a test, as pytest sets it anew before each."""
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"TERM": "xterm-256color", **more}.items():
        monkeypatch.setenv(name, value)
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    return stream


def work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a minute of it, in steps of a second; whoever waits for anything is told first."""
    seconds = iter(range(1000))
    monkeypatch.setattr(console, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    with console.status("opening") as tell:
        for second in range(30):
            tell(f"step {second}")
    for _ in console.tracked(range(30), "scoring", "pairs", 3000):
        pass


def test_a_bar_has_colours_unless_they_are_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = terminal(monkeypatch)
    work(monkeypatch)
    assert "scoring" in shown.getvalue() and COLOUR.search(shown.getvalue())
    shown = terminal(monkeypatch, NO_COLOR="1")
    work(monkeypatch)
    assert "scoring" in shown.getvalue() and not COLOUR.search(shown.getvalue())


@pytest.mark.parametrize(("name", "value"), [("TERM", "dumb"), ("TTY_INTERACTIVE", "0")])
def test_nothing_moves_where_a_screen_reader_reads(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = terminal(monkeypatch, **{name: value})
    work(monkeypatch)
    assert "\x1b" not in shown.getvalue() and "\r" not in shown.getvalue()
    lines = shown.getvalue().splitlines()
    steps, scored = ([line for line in lines if line.startswith(by)] for by in ("step", "scoring: "))
    assert lines == ["opening …", *steps, *scored] and 2 <= len(steps) <= 3 and 2 <= len(scored) <= 4
    assert scored[0].endswith(" of 3,000 pairs")


def test_work_that_is_over_soon_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = terminal(monkeypatch, TERM="dumb")
    for _ in console.tracked(range(30), "scoring", "pairs"):
        pass
    assert shown.getvalue() == ""


def test_a_file_is_told_nothing_of_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    work(monkeypatch)
    assert stream.getvalue() == ""


@pytest.mark.parametrize(
    "words", [("rank", "q", "--candidates", "a\nb\x1b[31m"), ("kb", "add", "x.kb", "a\nb\x1b[31m")]
)
def test_an_error_is_one_line_whatever_a_file_is_called(
    words: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(monkeypatch, *words) == 2
    first, *_ = capsys.readouterr().err.splitlines()
    assert "a b\ufffd[31m" in first


def test_a_log_has_a_line_a_minute_of_a_training_and_nothing_of_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seconds = iter(range(10_000))
    monkeypatch.setattr(console, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    for logged, wanted in ((60, ["step 59", "step 119"]), (0, [])):
        stream = io.StringIO()
        monkeypatch.setattr(sys, "stderr", stream)
        with console.status("getting ready", logged=logged) as tell:
            for second in range(150):
                tell(f"step {second}")
        assert [line.strip() for line in stream.getvalue().splitlines()] == wanted
    work(monkeypatch)
    assert not stream.getvalue()


def test_a_log_has_a_line_a_minute_of_runs_where_it_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter(range(10_000))
    monkeypatch.setattr(console, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    for logged, wanted in ((60, ["reproducing: 60 of 130 runs", "reproducing: 120 of 130 runs"]), (0, [])):
        stream = io.StringIO()
        monkeypatch.setattr(sys, "stderr", stream)
        with console.meter("reproducing", "runs", 130, logged=logged) as advance:
            for _ in range(130):
                advance(1)
        assert [line.strip() for line in stream.getvalue().splitlines()] == wanted


@pytest.mark.parametrize(
    ("words", "closed", "name"),
    [
        ("rank x --candidates - ", "<&-", "input"),
        ("rank x --candidates -", ">&-", "output"),
        ("data list --json", ">&-", "output"),
    ],
)
def test_a_stream_that_is_closed_is_one_line(words: str, closed: str, name: str) -> None:
    command = f"echo tea | '{sys.executable}' -m demur {words} {closed}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == f"demur: standard {name} is closed; open it, or redirect it to a file\n"
