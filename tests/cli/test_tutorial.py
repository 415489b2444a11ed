"""What the documents say a command prints is what it prints."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
BLOCKS = [
    (path.name, command, expected)
    for path in sorted(DOCS.glob("*.md"))
    for command, expected in re.findall(
        r"^```console\n\$ (.+)\n((?:.*\n)*?)```$", path.read_text("utf-8"), re.M
    )
]


@pytest.mark.parametrize(("page", "command", "expected"), BLOCKS)
def test_a_command_prints_what_its_page_says(page: str, command: str, expected: str) -> None:
    words = shlex.split(command)
    assert words[0] == "demur"
    done = subprocess.run(
        [sys.executable, "-m", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert done.stdout == expected


def test_there_are_such_commands() -> None:
    assert len(BLOCKS) >= 2
