"""What it takes to have a library there: its files on disk, and the time until it does something."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.size import megabytes

from bench.peers.known import BY_NAME, DEMUR
from bench.peers.turns import CLOCKS, THREADS
from bench.peers.worker import around

TURNS = 3  # the first reads from the disk, and the median leaves it out
READY = "from pathlib import Path; from bench.peers.contenders import TEN, opened"
NOTHING = [sys.executable, "-c", "pass"]
FIRST = {"encode": "encoder", "rerank": "int8"}
Times = dict[str, dict[str, float]]


def sizes(peer: str) -> dict[str, float]:
    """Megabytes of the peer and of demur's core, with all that each requires, and of both together."""
    return {name: megabytes(*install) for name, install in ((DEMUR, (DEMUR,)), (peer, BY_NAME[peer].install))}


def started(peer: str, folder: Path) -> dict[str, Times]:
    """Seconds of each step for demur and the peer, in turns, beyond those that Python itself takes."""
    steps = {"import": {DEMUR: _python("import demur"), peer: _python(f"import {BY_NAME[peer].module}")}}
    steps["help"] = {DEMUR: [_script("demur"), "--help"]}  # no other has a command
    found = {step: in_turns(commands, NOTHING) for step, commands in steps.items()}
    kind = next((kind for kind in ("encode", "rerank") if kind in BY_NAME[peer].kinds), "")
    if kind:
        first = {DEMUR: _first(kind, FIRST[kind], folder), peer: _first(kind, peer, folder)}
        found["first"] = in_turns(first, {DEMUR: NOTHING, peer: _python(READY)})
    return found


def _script(name: str) -> str:
    return shutil.which(name, path=str(Path(sys.executable).parent)) or name


def _python(code: str) -> list[str]:
    return [sys.executable, "-W", "ignore", "-c", code]


def _first(kind: str, contender: str, folder: Path) -> list[str]:
    """Python that ranks ten candidates, once."""
    return _python(f"{READY}; opened({kind!r}, {contender!r}, Path({str(folder)!r})).score([TEN])")


def in_turns(
    commands: Mapping[str, Sequence[str]], without: Sequence[str] | Mapping[str, Sequence[str]]
) -> Times:
    """The median seconds of each command, in turns, less those of a command `without` what is measured."""
    bare = without if isinstance(without, Mapping) else dict.fromkeys(commands, without)
    times: dict[str, list[list[float]]] = {name: [] for name in commands}
    for _ in range(TURNS):
        for name, command in commands.items():
            both = zip(seconds(command), seconds(bare[name]), strict=True)
            times[name].append([max(0.0, taken - off) for taken, off in both])
    return {
        name: dict(
            zip(CLOCKS, (round(statistics.median(each), 3) for each in zip(*some, strict=True)), strict=True)
        )
        for name, some in times.items()
    }


def seconds(command: Sequence[str]) -> tuple[float, float]:
    """The processor time of a process and of those it started, and the time on the clock."""
    start = time.perf_counter()
    process = subprocess.Popen(
        command, env=around(THREADS), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr
    with process.stderr as told:
        said = told.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError((said.strip().splitlines() or ["it stopped"])[-1])
    return used.ru_utime + used.ru_stime, time.perf_counter() - start
