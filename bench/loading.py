"""Loading datasets and starting the command, each in a fresh process."""

from __future__ import annotations

import os
import subprocess
import sys

from bench.common import Row, below, seconds

LOAD = "import demur; print(len(demur.load({!r})))"


def run() -> list[Row]:
    """All rows."""
    rows = [below("demur --help, process and all", _process("-m", "demur", "--help"), 0.3)]
    if os.environ.get("DEMUR_DATA"):
        for name, goal in (("wikiqa/train", 0.5), ("trecqa/train-all", 2.0)):
            rows.append(below(f"loading {name}, process and all", _process("-c", LOAD.format(name)), goal))
    return rows


def _process(*words: str) -> float:
    return seconds(lambda: subprocess.run([sys.executable, *words], check=True, capture_output=True))
