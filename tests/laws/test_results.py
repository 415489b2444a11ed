"""What is kept of runs can be read anywhere: it names no folder of the machine that they ran on."""

from __future__ import annotations

import re
from pathlib import Path

RESULTS = Path(__file__).parents[2] / "results"


def test_no_result_names_a_folder() -> None:
    files = list(RESULTS.rglob("*.json"))
    assert files
    named = [str(file) for file in files if re.search(r"""[="' ]/\w""", file.read_text("utf-8"))]
    assert not named
