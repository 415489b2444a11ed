from __future__ import annotations

import os
import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import printed
from laws.toy_berts import without_torch

os.environ.setdefault("OMP_NUM_THREADS", "1")  # the suite runs in as many processes as there are cores
os.environ["DEMUR_CACHE"] = tempfile.mkdtemp(prefix="demur-cache-")  # nobody's own cache is read or filled
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

DATA = os.environ.get("DEMUR_DATA", "")
HAS_DATA = bool(DATA) and Path(DATA).is_dir()
HERE = Path(__file__).parent
printed.watch()
EXTRAS = {HERE / line for line in (HERE / "extras.txt").read_text("utf-8").split()}


@pytest.fixture(autouse=True)
def same_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    """On any processor the race is a draw, so that precision=auto is fp32."""
    monkeypatch.setattr("demur.precision.ratio", lambda: 1.0)


def pytest_addoption(parser: pytest.Parser) -> None:
    about = "only what the core can do: not tests/extras.txt, and nothing marked extras"
    parser.addoption("--core", action="store_true", help=about)


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--core") and find_spec("torch"):
        raise pytest.UsageError("--core is for a place without torch, and torch is here; see make test-core")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return True if config.getoption("--core") and collection_path in EXTRAS else None


def pytest_collection_modifyitems(items: list[pytest.Item], config: pytest.Config) -> None:
    if config.getoption("--core"):
        apart = [item for item in items if item.get_closest_marker("extras")]
        config.hook.pytest_deselected(items=apart)
        items[:] = [item for item in items if item not in apart]
    away = pytest.mark.skip(reason="DEMUR_DATA does not point at the real datasets")
    for item in items:
        if item.get_closest_marker("data"):
            item.user_properties.append(("data", HAS_DATA))
            if not HAS_DATA:
                item.add_marker(away)


def pytest_runtest_setup(item: pytest.Item) -> None:
    apart = item.get_closest_marker("extras") or EXTRAS & {item.path, *item.path.parents}
    without_torch[:] = [] if apart else [item.name]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    ran = [
        r for r in terminalreporter.getreports("passed") if ("data", True) in map(tuple, r.user_properties)
    ]
    where = "real datasets" if HAS_DATA else "real datasets (DEMUR_DATA is not set)"
    terminalreporter.write_line(f"{len(ran)} tests ran on the {where}")


def pytest_unconfigure() -> None:
    shutil.rmtree(os.environ["DEMUR_CACHE"], ignore_errors=True)
