"""No test holds a time against a limit: what passes here must pass on a slower or busier machine."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
CLOCKS = {"perf_counter", "process_time", "monotonic", "thread_time", "times", "getrusage", "getloadavg"}


@pytest.mark.parametrize("path", sorted(TESTS.rglob("*.py")), ids=lambda path: str(path.relative_to(TESTS)))
def test_it_reads_no_clock(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    named = {each.attr for each in ast.walk(tree) if isinstance(each, ast.Attribute)}
    assert not named & CLOCKS
    if path.name != "test_clocks.py":
        assert "mark.timeout" not in path.read_text("utf-8")
