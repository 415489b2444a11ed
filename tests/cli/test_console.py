from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

import demur
from cli.calling import run
from demur.cli.asking.answers import show
from demur.cli.console import harmless


def test_what_could_command_a_terminal_is_marked() -> None:
    assert harmless("a\x1b]0;title\x07b\tc\nd\x9be é") == "a\ufffd]0;title\ufffdb\tc\nd\ufffde é"


def test_a_strangers_text_commands_no_terminal() -> None:
    text = "The ship \x1b]0;owned\x07 sails \x1b[31m red."
    out = io.StringIO()
    show(demur.ask("which ship sails?", [text], "bm25"), Console(file=out, force_terminal=True, width=80))
    assert "\x1b]0;" not in out.getvalue() and "\x07" not in out.getvalue()
    assert "\ufffd[31m" in out.getvalue()


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
