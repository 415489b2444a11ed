"""What all benchmarks share: medians of several turns, and texts that look like language."""

from __future__ import annotations

import re
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypedDict

import numpy as np


class Row(TypedDict):
    """One line of the report."""

    what: str
    found: str
    goal: str
    met: bool


def seconds(action: Callable[[], object], turns: int = 5) -> float:
    """The median time of an action, after one turn that is not counted."""
    action()
    times = []
    for _ in range(turns):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def ratio(ours: Callable[[], object], theirs: Callable[[], object], turns: int = 5) -> tuple[float, float]:
    """How many times longer theirs takes (median of turns taken in turn), and our median time."""
    ours(), theirs()
    ratios, times = [], []
    for _ in range(turns):
        a = seconds_once(ours)
        ratios.append(seconds_once(theirs) / a)
        times.append(a)
    return statistics.median(ratios), statistics.median(times)


def seconds_once(action: Callable[[], object]) -> float:
    """The time of one turn."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def faster(what: str, found: float, goal: float) -> Row:
    """A row for a ratio that must reach its goal."""
    return Row(what=what, found=f"{found:.1f}x", goal=f">= {goal:g}x", met=found >= goal)


def below(what: str, found: float, goal: float) -> Row:
    """A row for a time that must stay below its goal."""
    shown = f"{found:.2f} s" if found >= 1 else f"{found * 1000:.1f} ms"
    limit = f"{goal:g} s" if goal >= 1 else f"{goal * 1000:g} ms"
    return Row(what=what, found=shown, goal=f"< {limit}", met=found < goal)


def at_most(what: str, gigabytes: float, goal: float) -> Row:
    """A row for memory or disk that must not pass its goal."""
    return Row(what=what, found=f"{gigabytes:.2f} GB", goal=f"<= {goal:g} GB", met=gigabytes <= goal)


def memory() -> float:
    """Gigabytes that this process has taken at its highest."""
    status = Path("/proc/self/status")
    if status.is_file() and (found := re.search(r"VmHWM:\s*(\d+)", status.read_text("utf-8"))):
        return int(found[1]) / 2**20  # what its parent had counts in ru_maxrss, but not here
    unit = 2**30 if sys.platform == "darwin" else 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def disk(folder: Path) -> float:
    """Gigabytes of a folder's files."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e9


def told(what: str, found: str) -> Row:
    """A row for what is told beside others and has no goal of its own."""
    return Row(what=what, found=found, goal="–", met=True)


def sentences(number: int, words: int, seed: int = 0) -> list[str]:
    """Made-up sentences of about so many words, drawn as a language draws them (Zipf)."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    vocabulary = ["".join(rng.choice(letters, rng.integers(2, 10))) for _ in range(30_000)]
    lengths = rng.integers(words // 2, words + words // 2 + 1, number)
    shares = 1 / np.arange(1, len(vocabulary) + 1)
    drawn = rng.choice(len(vocabulary), int(lengths.sum()), p=shares / shares.sum())
    ends = np.cumsum(lengths)
    return [
        " ".join(vocabulary[place] for place in drawn[end - length : end]).capitalize() + "."
        for length, end in zip(lengths, ends, strict=True)
    ]
