"""The service as it starts, and under load: pairs a second, waiting times, memory, and /health.

1, 8 and 64 clients ask a server of its own process on loopback, each over a connection that it keeps.
`DEMUR_SECONDS` is how long each load lasts (60), `DEMUR_MINUTES` how long memory is watched under 8 clients
(10; 0 leaves it out).
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import demur
from bench.common import Row, below, sentences, told

CLIENTS, TEXTS, WORDS = (1, 8, 64), 20, 22
RANKER = "mini(threads=2)"
SHARE, HEALTH, FLAT = 0.9, 0.05, 0.05
START, STARTS = 3.0, 5  # seconds to /ready, and how often that is tried


@dataclass
class Load:
    """What some clients met: seconds of each answer, statuses, and pairs that were scored."""

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    pairs: int = 0
    lasted: float = 0.0
    health: list[float] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)


def run() -> list[Row]:
    """All rows."""
    lasts = float(os.environ.get("DEMUR_SECONDS", "60"))
    minutes = float(os.environ.get("DEMUR_MINUTES", "10"))
    texts = sentences(TEXTS * 50, WORDS)
    pools = [(texts[at][:60], texts[at : at + TEXTS]) for at in range(0, len(texts), TEXTS)]
    here = _in_process(pools, min(lasts, 20))
    rows = [
        below("from the start to /ready, only to rank: median", _start(), START),
        below("from the start to /ready, --example: median", _start("--example"), START),
        told("in this process", f"{here:.0f} pairs/s"),
    ]
    with server() as (port, process):
        for clients in CLIENTS:
            rows += _rows(clients, asyncio.run(_load(port, process, pools, clients, lasts)), here)
        if minutes:
            long = asyncio.run(_load(port, process, pools, 8, 60 * minutes))
            tenth = max(1, len(long.memory) // 10)
            grown = float(np.median(long.memory[-tenth:]) / np.median(long.memory[tenth : 2 * tenth]) - 1)
            met = abs(grown) <= FLAT
            what = f"memory, last tenth of {minutes:g} minutes against the second"
            rows.append(Row(what=what, found=f"{100 * grown:+.1f} %", goal=f"±{100 * FLAT:g} %", met=met))
    return rows


def _rows(clients: int, load: Load, here: float) -> list[Row]:
    speed = load.pairs / load.lasted
    share = speed / here
    p50, p95, p99 = np.percentile(load.seconds, (50, 95, 99)) if load.seconds else (np.nan,) * 3
    other = sum(count for status, count in load.statuses.items() if status not in (200, 429))
    who = f"{clients} client{'s' if clients > 1 else ''}"
    goal = clients > 1  # a lone client waits for each answer before it asks again
    found = f"{speed:.0f} pairs/s, {share:.2f}"
    times = f"{1000 * p50:.0f}, {1000 * p95:.0f}, {1000 * p99:.0f} ms"
    return [
        Row(
            what=f"{who}: of the speed in process",
            found=found,
            goal=f">= {SHARE:g}" if goal else "–",
            met=not goal or share >= SHARE,
        ),
        told(f"{who}: p50, p95, p99 of an answer", times),
        Row(what=f"{who}: neither 200 nor 429", found=str(other), goal="0", met=other == 0),
        below(f"{who}: the slowest /health", max(load.health, default=0.0), HEALTH),
    ]


def _in_process(pools: list[tuple[str, list[str]]], lasts: float) -> float:
    """Pairs a second, as `bench rank` counts them."""
    ranker = demur.ranker(RANKER)
    ranker.score(*pools[0])
    began, pairs = time.perf_counter(), 0
    while time.perf_counter() - began < lasts:
        question, texts = pools[pairs // TEXTS % len(pools)]
        ranker.score(question, texts)
        pairs += len(texts)
    return pairs / (time.perf_counter() - began)


def _start(*words: str) -> float:
    """The median seconds from a start until the models are in memory, after one that is not counted."""
    times = []
    for _ in range(STARTS + 1):
        began = time.perf_counter()
        with served(*words):
            times.append(time.perf_counter() - began)
    return float(np.median(times[1:]))


@contextmanager
def server() -> Iterator[tuple[int, int]]:
    """The port and the process id of a server that is ready, for the loads."""
    with served("--ranker", RANKER, "--gate", "none") as found:
        yield found


@contextmanager
def served(*words: str) -> Iterator[tuple[int, int]]:
    """The port and the process id of a server with these options, once it is ready."""
    command = [sys.executable, "-m", "demur", "serve", "--port", "0", "--no-access-log", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            port = int(process.stderr.readline().split()[3].rstrip(";").rpartition(":")[2])
            assert '"ready"' in process.stderr.readline()
            yield port, process.pid
        finally:
            process.terminate()


async def _load(
    port: int, process: int, pools: list[tuple[str, list[str]]], clients: int, lasts: float
) -> Load:
    """What clients met that ask without a pause, each over one connection."""
    load = Load()
    bodies = [json.dumps({"query": question, "texts": texts}).encode() for question, texts in pools]
    began = time.perf_counter()
    until = began + lasts

    async def client(first: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        at = first
        while time.perf_counter() < until:
            asked = time.perf_counter()
            status = await _asked(reader, writer, "POST", "/rerank", bodies[at % len(bodies)])
            load.seconds.append(time.perf_counter() - asked)
            load.statuses[status] += 1
            load.pairs += TEXTS * (status == 200)
            at += clients
            if status == 429:
                await asyncio.sleep(0.1)
        writer.close()

    async def watch() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.perf_counter() < until:
            asked = time.perf_counter()
            status = await _asked(reader, writer, "GET", "/health", b"")
            load.health.append(time.perf_counter() - asked)
            load.statuses[status] += status != 200
            load.memory.append(_memory(process))
            await asyncio.sleep(0.25)
        writer.close()

    await asyncio.gather(watch(), *(client(n) for n in range(clients)))
    load.lasted = time.perf_counter() - began
    return load


async def _asked(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, method: str, path: str, body: bytes
) -> int:
    """The status of an answer, which is read to its end."""
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    await writer.drain()
    lines = (await reader.readuntil(b"\r\n\r\n")).decode().lower().split("\r\n")
    length = next(int(line.partition(":")[2]) for line in lines if line.startswith("content-length:"))
    await reader.readexactly(length)
    return int(lines[0].split()[1])


def _memory(process: int) -> int:
    """The resident bytes of a process, where the system tells them; else 1."""
    status = Path(f"/proc/{process}/statm")
    return int(status.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if status.is_file() else 1
