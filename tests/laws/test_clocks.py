"""No test holds a time against a limit: what passes here must pass on a slower or busier machine."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
CLOCKS = {"perf_counter", "process_time", "monotonic", "thread_time", "times", "getrusage", "getloadavg"}
CLOCKS |= {f"{name}_ns" for name in CLOCKS} | {"time.time", "time_ns", "timeit", "default_timer"}


def read(tree: ast.AST) -> Iterator[str]:
    """What a file reads of other modules, however it is imported."""
    for each in ast.walk(tree):
        if isinstance(each, ast.Attribute):
            yield each.attr
            yield f"{ast.unparse(each.value)}.{each.attr}"
        elif isinstance(each, ast.ImportFrom):
            yield from (name for alias in each.names for name in (alias.name, f"{each.module}.{alias.name}"))
        elif isinstance(each, ast.Import):
            yield from (alias.name for alias in each.names)


@pytest.mark.parametrize(
    "said", ["from time import perf_counter", "import time\ntime.time()", "import timeit"]
)
def test_a_clock_is_seen(said: str) -> None:
    assert set(read(ast.parse(said))) & CLOCKS


@pytest.mark.parametrize("path", sorted(TESTS.rglob("*.py")), ids=lambda path: str(path.relative_to(TESTS)))
def test_it_reads_no_clock(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    assert not set(read(tree)) & CLOCKS
    if path.name != "test_clocks.py":
        assert "mark.timeout" not in path.read_text("utf-8")
