"""Colours and bars are for terminals, and NO_COLOR is respected, whatever verb is called."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cli.calling import run
from demur.data import formats
from demur.types import Pool

COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;\d+)*m")
VERBS = [
    ("ask", "lost card?", "--example", "--ranker", "bm25"),
    ("ask", "who won the cup?", "--example", "--ranker", "bm25", "--explain"),
    ("rank", "which ape?", "--candidates", "answers.txt", "--explain"),
    ("evaluate", "pools.jsonl", "--ranker", "bm25"),
    ("calibrate", "bm25", "pools.jsonl", "--plan"),
    ("reproduce", "mini", "--cached"),
    ("kb", "add", "a.kb", "guide.md", "--words-only"),
    ("data", "list"),
    ("data", "show", "wikiqa"),
    ("data", "show", "pools.jsonl"),
]


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def shown(words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, stream: io.StringIO) -> str:
    """What a verb writes to both of its streams."""
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setattr(sys, "stderr", stream)
    assert run(monkeypatch, *words) == 0, stream.getvalue()
    return stream.getvalue()


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    pools = [Pool.of(f"which ape {n}", ["an ape", f"a bee {n}"], [1, 0], id=str(n)) for n in range(9)]
    formats.write_pools("pools.jsonl", pools)
    Path("answers.txt").write_text("an ape eats figs\na bee flies\n", "utf-8")
    Path("guide.md").write_text("# Apes\n\nAn ape eats figs.\n", "utf-8")


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_no_color_is_respected(words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert not COLOUR.search(shown(words, monkeypatch, Terminal()))


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_a_file_gets_plain_text(words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(words, monkeypatch, io.StringIO())
    assert text.strip() and "\x1b" not in text and "\r" not in text


def test_a_terminal_has_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    assert COLOUR.search(shown(("data", "list"), monkeypatch, Terminal()))


def completed(*words: str) -> list[str]:
    """What bash is offered after these words."""
    environment = {
        **os.environ,
        "_DEMUR_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(("demur", *words)),
        "COMP_CWORD": str(len(words)),
    }
    command = [
        sys.executable,
        "-c",
        "import sys; sys.argv[0] = 'demur'; import demur.cli.main as d; d.main()",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.stderr == ""
    return done.stdout.split()


def test_bash_completes_verbs_and_options() -> None:
    assert completed("c") == ["compare", "calibrate"]
    assert completed("kb", "re") == ["remove", "rebuild"]
    assert "--without-labels" in completed("calibrate", "--w")
