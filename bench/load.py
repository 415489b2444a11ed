"""Clients that ask a server on loopback without a pause, and what they met."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

LOOK = 0.25  # seconds between two looks at /health and at memory
AGAIN = 0.1  # seconds until a client asks again that was refused
Body = tuple[bytes, int]
"""A request's body, and how many pairs it holds."""


@dataclass(frozen=True)
class Listening:
    """A server of its own process."""

    port: int
    process: int


@dataclass
class Load:
    """What some clients met: seconds of each answer, statuses, and pairs that were scored."""

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    pairs: int = 0
    lasted: float = 0.0
    health: list[float] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    took: float = 0.0
    """Processor seconds of the clients themselves."""

    @property
    def speed(self) -> float:
        """Pairs a second."""
        return self.pairs / self.lasted

    def with_more(self, other: Load) -> Load:
        """Both together."""
        return Load(
            self.seconds + other.seconds,
            self.statuses + other.statuses,
            self.pairs + other.pairs,
            self.lasted + other.lasted,
            self.health + other.health,
            self.memory + other.memory,
            self.took + other.took,
        )


def bodies(pools: Sequence[tuple[str, Sequence[str]]], key: str) -> list[Body]:
    """Requests to rank, with the texts under the key that a server wants."""
    return [
        (json.dumps({"query": question, key: texts, "return_documents": False}).encode(), len(texts))
        for question, texts in pools
    ]


def loaded(server: Listening, some: Sequence[Body], clients: int, lasts: float) -> Load:
    """What so many clients met, each over one connection that it keeps."""
    began = time.process_time()
    with beside():
        load = asyncio.run(_load(server, some, clients, lasts))
    load.took = time.process_time() - began
    return load


@contextmanager
def pinned(cores: Sequence[int]) -> Iterator[None]:
    """A block in which this thread, and what it starts, runs on these cores."""
    if not hasattr(os, "sched_setaffinity") or not cores:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def cores() -> tuple[list[int], list[int]]:
    """The two cores for servers, and those for clients: the others, where there are more than two."""
    here = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    return (here[:2], here[2:]) if len(here) > 2 else ([], [])


@contextmanager
def beside() -> Iterator[None]:
    """A block in which this thread runs beside the servers, where there is room."""
    with pinned(cores()[1]):
        yield


async def _load(server: Listening, some: Sequence[Body], clients: int, lasts: float) -> Load:
    load = Load()
    began = time.perf_counter()
    until = began + lasts

    async def client(first: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        at = first
        while time.perf_counter() < until:
            body, pairs = some[at % len(some)]
            asked = time.perf_counter()
            status = await _asked(reader, writer, "POST", "/rerank", body)
            load.seconds.append(time.perf_counter() - asked)
            load.statuses[status] += 1
            load.pairs += pairs * (status == 200)
            at += clients
            if status == 429:
                await asyncio.sleep(AGAIN)
        writer.close()

    async def watch() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        while time.perf_counter() < until:
            asked = time.perf_counter()
            status = await _asked(reader, writer, "GET", "/health", b"")
            load.health.append(time.perf_counter() - asked)
            if status != 200:
                load.statuses[status] += 1
            load.memory.append(memory(server.process))
            await asyncio.sleep(LOOK)
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


def memory(process: int) -> int:
    """The resident bytes of a process, where the system tells them; else 1."""
    status = Path(f"/proc/{process}/statm")
    return int(status.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if status.is_file() else 1
