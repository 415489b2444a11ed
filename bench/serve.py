"""The service as it starts and under load, beside one process and another server with the same weights.

1, 8 and 64 clients ask on loopback, each over a connection that it keeps, for 50 texts of SelQA's dev set
(or made-up ones) at a time. Servers take turns, in three rounds; each round begins with the speed in this
process: of all texts at once, as `bench rank` counts it, and of one request after the other. All have two
threads. Where there are more than two cores, servers run on the first two and clients on the others; what
clients take of a core is told.

`DEMUR_SECONDS` is how long each load lasts in all (60), `DEMUR_MINUTES` how long memory is watched under
8 clients (10; 0 leaves it out). All takes 9 times the first, and the second, and some three minutes.
`DEMUR_INFINITY` names a command `infinity_emb`, of an environment of its own, to be asked too (three more
loads): pip install torch 'infinity-emb[server,torch]==0.0.78' 'transformers<4.50'
"""

from __future__ import annotations

import itertools
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from statistics import median

import numpy as np

import demur
from bench import rank
from bench.common import Row, below, told
from bench.load import Body, Listening, Load, bodies, cores, loaded, pinned
from demur.export.export import export
from demur.rankers import Ranker
from demur.rankers.cross_encoders.cross_encoder import CrossEncoder
from demur.types import Pool

CLIENTS, TEXTS, ROUNDS, MANY = (1, 8, 64), 50, 3, 8
SHARE, HEALTH, FLAT = 0.9, 0.05, 0.05
START, STARTS = 3.0, 5  # seconds to /ready, and how often that is tried
PATIENCE = 300.0  # seconds until a server must be there


@dataclass
class Asked:
    """A server under its loads."""

    name: str
    server: Listening
    some: list[Body]
    clients: tuple[int, ...] = CLIENTS
    rounds: dict[int, list[Load]] = field(default_factory=dict)

    def whole(self, clients: int) -> Load:
        """All rounds with so many clients together."""
        first, *others = self.rounds[clients]
        for each in others:
            first = first.with_more(each)
        return first


def run() -> list[Row]:
    """All rows."""
    lasts = float(os.environ.get("DEMUR_SECONDS", "60")) / ROUNDS
    minutes = float(os.environ.get("DEMUR_MINUTES", "10"))
    rows = [
        below("from the start to /ready, only to rank: median", _start(), START),
        below("from the start to /ready, --example: median", _start("--example"), START),
    ]
    with tempfile.TemporaryDirectory() as place, pinned(cores()[0]), ExitStack() as running:
        folder, texts = Path(place), pools()
        named = rank.model(folder)
        network = demur.ranker(named)
        assert isinstance(network, CrossEncoder)
        for precision in ("int8", "fp32"):
            export(network, folder / precision, precision)
        inside = demur.ranker(folder / "int8", threads=rank.THREADS)
        some, ours = bodies(texts, "texts"), {}
        for precision in ("int8", "fp32"):
            words = ("--ranker", str(folder / precision), "--gate", "none")
            ours[precision] = running.enter_context(served(*words))
        asked = [Asked("ours int8", ours["int8"], some), Asked("ours fp32", ours["fp32"], some, (MANY,))]
        here: list[float] = []
        in_turn: list[float] = []
        others, skipped = _others(running, named, texts)
        for _ in range(ROUNDS):
            here.append(_in_process(inside, texts, len(texts), lasts))
            in_turn.append(_in_process(inside, texts, 1, lasts))
            for each in asked + others:
                for clients in each.clients:
                    load = loaded(each.server, each.some, clients, lasts)
                    each.rounds.setdefault(clients, []).append(load)
        rows.append(told("in this process, ours int8: all at once", f"{median(here):.0f} pairs/s"))
        rows.append(
            told("in this process, ours int8: one request after the other", f"{median(in_turn):.0f} pairs/s")
        )
        for clients in CLIENTS:
            rows += _rows(clients, asked[0], here, in_turn)
        rows += _beside(asked[0], asked[1:] + others) + skipped
        if minutes:
            rows += _memory(minutes, loaded(asked[0].server, asked[0].some, MANY, 60 * minutes))
    return rows


def pools() -> list[tuple[str, list[str]]]:
    """Questions with 50 texts each: their own, and those of the questions after them."""
    some = rank.pools()
    texts = [text for pool in some for text in pool.answers]
    return [
        (some[at % len(some)].question, texts[start : start + TEXTS])
        for at, start in enumerate(range(0, len(texts) - TEXTS + 1, TEXTS))
    ]


def _rows(clients: int, asked: Asked, here: list[float], in_turn: list[float]) -> list[Row]:
    """What so many clients met at our server."""
    load = asked.whole(clients)
    both = zip(asked.rounds[clients], here, in_turn, strict=True)
    shares = [(each.speed / inside, each.speed / slower) for each, inside, slower in both]
    share, of_slower = (median(some) for some in zip(*shares, strict=True))
    other = sum(count for status, count in load.statuses.items() if status not in (200, 429))
    who = _who(clients)
    goal = clients > 1  # a lone client waits for each answer before it asks again
    return [
        Row(
            what=f"{who}: of the speed in process, all at once",
            found=f"{load.speed:.0f} pairs/s, {share:.2f}",
            goal=f">= {SHARE:g}" if goal else "–",
            met=not goal or share >= SHARE,
        ),
        told(f"{who}: of that, one request after the other", f"{of_slower:.2f}"),
        told(f"{who}: p50, p95, p99 of an answer", _times(load)),
        told(f"{who}: answers 200, and 429", f"{load.statuses[200]}, {load.statuses[429]}"),
        Row(what=f"{who}: neither 200 nor 429", found=str(other), goal="0", met=other == 0),
        below(f"{who}: the slowest /health", max(load.health, default=0.0), HEALTH),
        told(f"{who}: what they take themselves, of one core", f"{100 * load.took / load.lasted:.1f} %"),
    ]


def _beside(ours: Asked, others: list[Asked]) -> list[Row]:
    """Other servers, and how many times faster ours is; rounds are compared one by one."""
    rows = []
    for other in others:
        for clients in other.clients:
            load = other.whole(clients)
            both = zip(ours.rounds[clients], other.rounds[clients], strict=True)
            times = median(mine.speed / theirs.speed if theirs.pairs else np.inf for mine, theirs in both)
            what = f"{_who(clients)}: {other.name}: {load.speed:.0f} pairs/s; ours int8 against it"
            rows.append(told(what, f"{times:.1f}x"))
            rows.append(told(f"{_who(clients)}: {other.name}: p50, p95, p99 of an answer", _times(load)))
    return rows


def _memory(minutes: float, load: Load) -> list[Row]:
    """The last tenth of the time against the second, which is minute 1 to 2 of ten."""
    tenth = max(1, len(load.memory) // 10)
    first, last = (float(np.median(some)) for some in (load.memory[tenth : 2 * tenth], load.memory[-tenth:]))
    grown = last / first - 1
    other = sum(count for status, count in load.statuses.items() if status not in (200, 429))
    return [
        Row(
            what=f"memory, last tenth of {minutes:g} minutes against the second",
            found=f"{last / 2**20:.0f} MiB, {100 * grown:+.1f} %",
            goal=f"±{100 * FLAT:g} %",
            met=abs(grown) <= FLAT,
        ),
        Row(
            what=f"in these {minutes:g} minutes: neither 200 nor 429",
            found=str(other),
            goal="0",
            met=other == 0,
        ),
        below(f"in these {minutes:g} minutes: the slowest /health", max(load.health, default=0.0), HEALTH),
    ]


def _who(clients: int) -> str:
    return f"{clients} client{'s' if clients > 1 else ''}"


def _times(load: Load) -> str:
    if not load.seconds:
        return "–"
    p50, p95, p99 = np.percentile(load.seconds, (50, 95, 99))
    return f"{1000 * p50:.0f}, {1000 * p95:.0f}, {1000 * p99:.0f} ms"


def _in_process(ranker: Ranker, texts: list[tuple[str, list[str]]], together: int, lasts: float) -> float:
    """Pairs a second in this process, of so many requests at once."""
    some = [Pool.of(question, answers) for question, answers in texts]
    ranker.score_pools(some[:1])
    began, done = time.perf_counter(), 0
    for at in itertools.cycle(range(0, len(some), together)):
        portion = some[at : at + together]
        ranker.score_pools(portion)
        done += sum(map(len, portion))
        if time.perf_counter() - began >= lasts:
            break
    return done / (time.perf_counter() - began)


def _start(*words: str) -> float:
    """The median seconds from a start until the models are in memory, after one that is not counted."""
    times = []
    for _ in range(STARTS + 1):
        began = time.perf_counter()
        with served(*words):
            times.append(time.perf_counter() - began)
    return median(times[1:])


@contextmanager
def served(*words: str) -> Iterator[Listening]:
    """A server of ours with these options, once it is ready."""
    command = [sys.executable, "-m", "demur", "serve", "--port", "0", "--no-access-log", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=_environment()) as process:
        assert process.stderr is not None
        try:
            port = int(process.stderr.readline().split()[3].rstrip(";").rpartition(":")[2])
            if not any('"ready"' in line for line in process.stderr):
                raise RuntimeError("demur serve ended before it was ready")
            yield Listening(port, process.pid)
        finally:
            process.terminate()


def _others(
    running: ExitStack, named: str, texts: list[tuple[str, list[str]]]
) -> tuple[list[Asked], list[Row]]:
    """Other servers with the weights in a folder, as far as they are here; and what is told of the others."""
    found, skipped = [], []
    if find_spec("sentence_transformers"):
        port = _free()
        command = [sys.executable, "-m", "bench.plain_server", named, str(port), str(rank.LENGTH)]
        server = running.enter_context(_another(command, port))
        found.append(Asked("FastAPI with sentence-transformers", server, bodies(texts, "texts")))
    else:
        skipped.append(told("FastAPI with sentence-transformers", "skipped: it is not installed"))
    infinity = os.environ.get("DEMUR_INFINITY")
    if infinity:
        port = _free()
        address = ("--host", "127.0.0.1", "--port", str(port))
        command = [infinity, "v2", "--model-id", named, *address, "--device", "cpu"]
        server = running.enter_context(_another(command, port))
        found.append(Asked("Infinity", server, bodies(texts, "documents")))
    else:
        skipped.append(told("Infinity", "skipped: DEMUR_INFINITY names no infinity_emb"))
    return found, skipped


@contextmanager
def _another(command: list[str], port: int) -> Iterator[Listening]:
    """A server that is no part of demur, once it says that it is healthy."""
    with subprocess.Popen(
        command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=_environment()
    ) as one:
        try:
            until = time.monotonic() + PATIENCE
            while time.monotonic() < until and one.poll() is None:
                with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/health") as answer:
                    if answer.status == 200:
                        break
                time.sleep(0.1)
            else:
                raise RuntimeError(f"{command[0]} does not serve; run {' '.join(command)} to see why")
            yield Listening(port, one.pid)
        finally:
            one.terminate()


def _environment() -> dict[str, str]:
    """Two threads, whichever part asks for how many."""
    threads = str(rank.THREADS)
    return {**os.environ, "DEMUR_THREADS": threads, "OMP_NUM_THREADS": threads, "HF_HUB_OFFLINE": "1"}


def _free() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as some:
        port: int = some.getsockname()[1]
        return port
