"""Verbs called in this process, in a folder of their own, without a network; what must be true of them."""

from __future__ import annotations

import io
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from unittest import mock

import typer.main

from demur.cli import main as command_line

LIMIT = float(os.environ.get("DEMUR_FUZZ_SECONDS", "5"))
"""Seconds after which a verb gets what Ctrl-C would give it."""
STARTS = ("demur: ", "Error: ", "skipped ")
COMMAND = typer.main.get_command(command_line.app)
"""All verbs, which typer would put together for each call anew."""


@dataclass(frozen=True)
class Ended:
    """How a verb ended, and what it has printed."""

    words: tuple[str, ...]
    code: int
    interrupted: bool
    out: str
    err: str

    def check(self) -> None:
        """Raise an error unless it ended as every verb should."""
        said = f"demur {self.words!r} ended with {self.code}: {self.err[-2000:]}"
        assert self.code in (0, 1, 2) or (self.interrupted and self.code == 130), said
        assert "Traceback (most recent call last)" not in self.err, said
        if self.code == 2 and not self.err.rstrip().endswith("Show this message and exit."):
            lines = self.err.splitlines()
            errors = [number for number, line in enumerate(lines) if line.startswith(STARTS[:2])]
            assert any(line.startswith(STARTS) for line in lines), said
            assert errors in ([], [len(lines) - 1]), said
            assert all(c.isprintable() or c == "\t" for c in lines[-1]) and len(lines[-1]) < 3000, said


def called(words: Sequence[str], folder: Path, stdin: bytes = b"", limit: float = LIMIT) -> Ended:
    """What comes of a command line in a folder."""
    printed, complained = io.BytesIO(), io.BytesIO()
    out, err = (io.TextIOWrapper(each, "utf-8", errors="backslashreplace") for each in (printed, complained))
    given = io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
    code, stops = 0, list[str]()
    with (
        inside(folder),
        offline(stops),
        mock.patch.multiple(sys, argv=["demur", *words], stdin=given, stdout=out, stderr=err),
        mock.patch("typer.main.get_command", lambda _: COMMAND),
        restored(),
    ):
        try:
            with limited(limit, stops):
                command_line.main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    for stream in (out, err):
        stream.flush()
    texts = [each.getvalue().decode("utf-8", "replace") for each in (printed, complained)]
    return Ended(tuple(words), code, bool(stops), *texts)


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    """A block in which this folder is the working directory."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@contextmanager
def offline(stops: list[str]) -> Iterator[None]:
    """A block in which no socket connects, and a server gets at once what Ctrl-C would give it."""
    variables = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "DEMUR_DATA": "data", "NO_COLOR": "1"}

    def unreachable(*_: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    def stopped(*_: object, sockets: Sequence[socket.socket] = (), **__: object) -> None:
        for each in sockets:
            each.close()
        stops.append("server")
        raise KeyboardInterrupt

    serving = mock.patch("uvicorn.Server.run", stopped) if find_spec("uvicorn") else nullcontext()
    with (
        mock.patch.dict(os.environ, variables),
        mock.patch("socket.socket.connect", unreachable),
        mock.patch("socket.getaddrinfo", unreachable),
        serving,
    ):
        yield


@contextmanager
def restored() -> Iterator[None]:
    """A block after which logs are handled as before."""
    root, ours = logging.getLogger(), logging.getLogger("demur")
    before = [(each, each.handlers[:], each.level, each.propagate) for each in (root, ours)]
    try:
        yield
    finally:
        for each, handlers, level, propagate in before:
            each.handlers[:], each.propagate = handlers, propagate
            each.setLevel(level)


@contextmanager
def limited(seconds: float, stops: list[str]) -> Iterator[None]:
    """A block that gets what Ctrl-C would give it after so many seconds."""

    def stop() -> None:
        stops.append("time")
        signal.pthread_kill(caller, signal.SIGINT)

    caller, timer = threading.get_ident(), threading.Timer(seconds, stop)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it is ignored
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        signal.signal(signal.SIGINT, before)
