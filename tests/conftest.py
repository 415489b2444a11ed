from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")  # the suite runs in as many processes as there are cores
os.environ["DEMUR_CACHE"] = tempfile.mkdtemp(prefix="demur-cache-")  # nobody's own cache is read or filled

DATA = os.environ.get("DEMUR_DATA", "")
HAS_DATA = bool(DATA) and Path(DATA).is_dir()


@pytest.fixture(autouse=True)
def same_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    """On any processor the race is a draw, so that precision=auto is fp32."""
    monkeypatch.setattr("demur.precision.ratio", lambda: 1.0)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if HAS_DATA:
        return
    away = pytest.mark.skip(reason="DEMUR_DATA does not point at the real datasets")
    for item in items:
        if item.get_closest_marker("needs_data"):
            item.add_marker(away)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    marked = [r for r in terminalreporter.getreports("passed") if "needs_data" in r.keywords]
    where = "real datasets" if HAS_DATA else "real datasets (DEMUR_DATA is not set)"
    terminalreporter.write_line(f"{len(marked)} tests ran on the {where}")


def pytest_unconfigure() -> None:
    shutil.rmtree(os.environ["DEMUR_CACHE"], ignore_errors=True)
