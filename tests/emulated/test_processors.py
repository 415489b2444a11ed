"""The packaged model says the same on other processors, which qemu-user stands in for."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demur.reading.readers.mini import Mini
from emulated import looks

PROCESSORS = ("Haswell", "Nehalem")
"""The first has AVX2 without VNNI; the second neither AVX2 nor FMA, so that each float rounds otherwise."""
NEAR = 0.01
NUMBERS = ("score", "span", "none", "confidence")
_UNKNOWN = ("pcid", "x2apic", "tsc-deadline", "hle", "invpcid", "rtm")  # qemu warns of each that it lacks

Said = list[list[dict[str, Any]]]

pytestmark = [
    pytest.mark.emulated,
    pytest.mark.skipif(
        shutil.which("qemu-x86_64") is None, reason="qemu-x86_64 is missing; apt-get install qemu-user"
    ),
]


def emulated(processor: str) -> Said:
    """What mini says on another processor."""
    lacks = "".join(f",-{each}" for each in _UNKNOWN) if processor == "Haswell" else ""
    command = ["qemu-x86_64", "-cpu", processor + lacks, sys.executable, str(Path(looks.__file__))]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=looks.environment())
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


def gaps(native: Said, other: Said) -> dict[str, np.ndarray[Any, Any]]:
    """By how much each number of each passage differs."""

    def table(said: Said, what: str) -> np.ndarray[Any, Any]:
        return np.array([each[what] for passages in said for each in passages])

    return {what: np.abs(table(native, what) - table(other, what)) for what in NUMBERS}


def firsts(said: Said) -> list[tuple[int, str, str]]:
    """Of each question the first passage, its quotation, and whether it answers."""
    found = []
    for passages in said:
        at = max(range(len(passages)), key=lambda place: passages[place]["score"])
        found.append((at, passages[at]["quote"], passages[at]["answers"]))
    return found


def test_with_avx2_all_is_the_same(native: Said, others: dict[str, Said]) -> None:
    found = gaps(native, others["Haswell"])
    assert max(each.max() for each in found.values()) < NEAR
    assert firsts(others["Haswell"]) == firsts(native)


def test_without_fma_it_is_near(native: Said, others: dict[str, Said]) -> None:
    """Which passages a tipped byte reaches is chance: most are near, none is held exactly."""
    found = gaps(native, others["Nehalem"])
    assert found["score"].max() < 0.7, "their standard deviation is 3.5"
    assert found["score"].mean() < 0.03
    assert max(found[what].max() for what in NUMBERS[1:]) < 0.1
    for what in NUMBERS[1:]:
        assert np.quantile(found[what], 0.95) < NEAR, what
    same = [a == b for a, b in zip(firsts(native), firsts(others["Nehalem"]), strict=True)]
    assert np.mean(same) > 0.94


def test_there_is_enough_to_compare() -> None:
    assert len(looks.questions()) == 40 + 30
