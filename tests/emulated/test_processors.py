"""The packaged model says the same on other processors, which qemu-user stands in for."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demur.reading.mini import Mini
from emulated import looks

PROCESSORS = ("Haswell", "Nehalem")  # AVX2 without VNNI; SSE4.2 alone
NEAR = 0.01
NUMBERS = ("score", "span", "none", "confidence")
_UNKNOWN = ("pcid", "x2apic", "tsc-deadline", "hle", "invpcid", "rtm")  # qemu warns of each that it lacks

Said = list[list[dict[str, Any]]]

pytestmark = [
    pytest.mark.emulated,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(
        shutil.which("qemu-x86_64") is None, reason="qemu-x86_64 is missing; apt-get install qemu-user"
    ),
]


def emulated(processor: str) -> Said:
    """What mini says on another processor."""
    lacks = "".join(f",-{each}" for each in _UNKNOWN) if processor == "Haswell" else ""
    here = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    command = ["qemu-x86_64", "-cpu", processor + lacks, sys.executable, str(Path(looks.__file__))]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=here)
    assert done.returncode == 0, done.stderr[-2000:]
    found: Said = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def native() -> Said:
    return looks.said(Mini(threads=1))


@pytest.fixture(scope="module")
def others() -> dict[str, Said]:
    with ThreadPoolExecutor(2) as workers:
        return dict(zip(PROCESSORS, workers.map(emulated, PROCESSORS), strict=True))


@pytest.mark.parametrize("processor", PROCESSORS)
def test_numbers_are_the_same(native: Said, others: dict[str, Said], processor: str) -> None:
    def table(said: Said, what: str) -> np.ndarray[Any, Any]:
        return np.array([each[what] for passages in said for each in passages])

    gaps = {
        what: float(np.abs(table(native, what) - table(others[processor], what)).max()) for what in NUMBERS
    }
    assert max(gaps.values()) < NEAR, gaps


@pytest.mark.parametrize("processor", PROCESSORS)
def test_first_answers_are_the_same(native: Said, others: dict[str, Said], processor: str) -> None:
    def first(passages: list[dict[str, Any]]) -> tuple[int, str, str]:
        at = max(range(len(passages)), key=lambda place: passages[place]["score"])
        return at, passages[at]["quote"], passages[at]["answers"]

    assert [first(each) for each in others[processor]] == [first(each) for each in native]


def test_there_is_enough_to_compare() -> None:
    assert len(looks.questions()) == 40 + 30
