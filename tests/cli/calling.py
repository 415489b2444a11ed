"""The command line as tests call it: whole, one verb of it, or as a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from demur.cli.main import main


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """The exit code of `demur` with these words."""
    monkeypatch.setattr(sys, "argv", ["demur", *words])
    with pytest.raises(SystemExit) as end:
        main()
    return int(end.value.code or 0)


def printed(capsys: pytest.CaptureFixture[str]) -> Any:
    """What JSON it has printed."""
    return json.loads(capsys.readouterr().out)


def invoke(verb: Any, *arguments: object, input: str | bytes = "") -> Result:
    """What comes of one verb; an error is raised."""
    app = typer.Typer()
    app.command()(verb)
    return CliRunner().invoke(app, [*map(str, arguments)], input=input, catch_exceptions=False)


def process(*words: object, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """`demur` as a process of its own."""
    command = [sys.executable, "-m", "demur", *map(str, words)]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, encoding="utf-8", check=False)
