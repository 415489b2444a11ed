"""A process with one library in it, which ranks what it is told to and says how long that took.

Requests and replies are lines of JSON. What the library prints goes to stderr.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from demur import data
from demur.types import Pool

Reply = dict[str, Any]
ASKED = 30  # questions asked one after the other of an FAQ


class Worker:
    """The process, from outside."""

    def __init__(self, kind: str, contender: str, folder: Path, threads: int) -> None:
        command = [sys.executable, "-W", "ignore", "-m", "bench.peers.worker", kind, contender, str(folder)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=around(threads), text=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def ask(self, **request: Any) -> Reply:
        """What it replies."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the worker stopped (exit code {self._process.wait()})")
        reply: Reply = json.loads(line)
        if "error" in reply:
            raise RuntimeError(reply["error"])
        return reply


def around(threads: int) -> dict[str, str]:
    """An environment with so many threads for all, in which no hub is asked."""
    libraries = ("OMP", "OPENBLAS", "MKL", "RAYON")
    limits = {f"{name}_NUM_THREADS": str(threads) for name in libraries} | {"DEMUR_THREADS": str(threads)}
    quiet = {"HF_HUB_OFFLINE": "1", "HAYSTACK_TELEMETRY_ENABLED": "False", "TOKENIZERS_PARALLELISM": "false"}
    return {**os.environ, **limits, **quiet}


def pools(name: str, first: int = 0) -> list[Pool]:
    """Pools with right candidates and wrong ones, labelled 1 and 0; the `first` so many, or all."""
    some = data.pools(name)
    least = data.relevant(some)
    found = []
    for pool in some:
        labels = [int((label or 0) >= least) for label in pool.labels]
        if 0 < sum(labels) < len(labels):
            found.append(Pool.of(pool.question, pool.answers, labels, pool.id))
    return found[: first or len(found)]


def timed(action: Callable[[], Any]) -> Reply:
    """What an action returns, the processor time of this process, and the time on the clock."""
    processor, clock = time.process_time(), time.perf_counter()
    found = action()
    return {
        "found": found,
        "processor": time.process_time() - processor,
        "clock": time.perf_counter() - clock,
    }


def replied(contender: Any, request: Reply) -> Reply:
    """The reply to a request: scores of pools, or questions asked one by one of an FAQ."""
    some = pools(request["data"], request.get("first", 0))
    if request["do"] == "score":
        reply = timed(lambda: [list(map(float, each)) for each in contender.score(some)])
        return reply if request.get("scores") else {**reply, "found": None}
    ask = contender.faq(list(some[0].answers))
    ask("What is this?")
    start = (
        request.get("turn", 0) * ASKED
    )  # each turn has new questions, as some libraries keep what they computed
    questions = [some[place % len(some)].question for place in range(start, start + ASKED)]
    return {**timed(lambda: [ask(question) for question in questions]), "found": None}


def main() -> None:
    """Reply to requests until there are no more."""
    from bench.peers.contenders import opened

    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    kind, name, folder = sys.argv[1:]
    contender: Any = None
    for line in sys.stdin:
        try:
            contender = contender or opened(kind, name, Path(folder))
            reply = replied(contender, json.loads(line))
        except Exception as error:  # a library may raise anything, and its row then says so
            reply = {"error": f"{type(error).__name__}: {error}"}
        out.write(json.dumps(reply) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
