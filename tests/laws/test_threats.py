"""Every threat on its page has tests, and they are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| (?!threat \||---)(.+?) \| (.+) \| (.+) \|$", re.M)


def missing(page: str) -> list[str]:
    """The threats without a test, and the tests that are named but not there."""
    found = []
    for threat, _, tests in ROW.findall(page):
        named = re.findall(r"`([^`]+)`", tests)
        found += named or [threat]
        for test in named:
            file, _, name = test.partition("::")
            path = ROOT / file
            if path.is_file() and re.search(rf"^(?:async )?def {name}\(", path.read_text("utf-8"), re.M):
                found.remove(test)
    return found


def test_every_threat_has_tests_that_are_there() -> None:
    page = (ROOT / "docs" / "threats.md").read_text("utf-8")
    assert len(ROW.findall(page)) > 20
    assert missing(page) == []


def test_a_threat_without_a_test_is_noticed() -> None:
    here = "`tests/laws/test_threats.py::test_a_threat_without_a_test_is_noticed`"
    page = f"| threat | what | test |\n|---|---|---|\n| a | b | {here} |\n| c | d | none |\n"
    page += "| e | f | `tests/laws/test_threats.py::test_nothing` |\n| g | h | `tests/no.py::test_x` |\n"
    assert missing(page) == ["c", "tests/laws/test_threats.py::test_nothing", "tests/no.py::test_x"]
