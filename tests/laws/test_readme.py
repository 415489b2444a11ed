"""What README.md shows works: its Python runs, and its commands are ones that demur has."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from demur.cli.main import app

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.M | re.S)


COMMANDS = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("demur ")]


def test_its_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "readme"}
    assert blocks("python")
    for number, block in enumerate(blocks("python"), 1):
        exec(compile(block, f"README.md, block {number}", "exec"), namespace)
        assert capsys.readouterr().out.strip(), "each block prints something"


def parsed(line: str) -> Any:
    """A command line as the parser of its verb takes it; nothing is run."""
    _, *words = shlex.split(line, comments=True)
    command: Any = typer.main.get_command(app)
    while hasattr(command, "commands"):
        command = command.commands[words.pop(0)]
    return command.make_context(command.name, words)


@pytest.mark.parametrize("line", COMMANDS)
def test_its_commands_exist(line: str) -> None:
    assert parsed(line).params


def test_the_picture_asks_what_make_run_asks() -> None:
    root = Path(__file__).parents[2]
    run = (root / "Makefile").read_text("utf-8").partition("\nrun:")[2].partition("\n\n")[0]
    asked = re.findall(r'ask "([^"]+)" --example --top 3', run)
    listed = (root / "tools" / "make_docs.py").read_text("utf-8").partition("QUESTIONS = [")[2]
    assert asked == re.findall(r'"([^"]+)",', listed.partition("]")[0]) and len(asked) == 3


def test_a_command_that_does_not_exist_would_be_noticed() -> None:
    for line in ("demur rank q --candidate a.txt", "demur rank", "demur score a -o b extra"):
        with pytest.raises(Exception, match=r"No such option|Missing parameter|unexpected extra"):
            parsed(line)
    with pytest.raises(KeyError):
        parsed("demur sing")
    assert len(COMMANDS) > 5
