"""Strangers' files are read in a process apart: one that hangs, crashes or eats memory harms only itself.

One process reads many files, one after the other, as starting it takes longer than reading a short file.
It ends with this one, or when it is in the way.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import demur
from demur.errors import DataError
from demur.kb.files.limits import Limits, more
from demur.kb.passages import Passage


def read_apart(reader: str, path: Path) -> Iterator[Passage]:
    """The passages of a file, all or none, by a reader such as ``demur.kb.formats.pdf:passages_of_pdf``.

    What goes wrong is one clear line.
    """
    limits = Limits.of_environment()
    child = _taken(limits)
    try:
        passages = child.read(reader, path)
    except BaseException:
        child.end()
        raise
    _given_back(child)
    yield from passages


class Child:
    """A process that reads files within limits. Its errors leave it of no further use: end it then."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.owner = os.getpid()
        paths = [str(Path(demur.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "OPENBLAS_NUM_THREADS": "1",  # each thread would count as memory
        }
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-W", "ignore", "-m", "demur.kb.files.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        with suppress(OSError):
            self._say(asdict(limits))

    def read(self, reader: str, path: Path) -> list[Passage]:
        """The passages of a file."""
        late = threading.Event()

        def stop() -> None:
            late.set()
            self._process.kill()

        timer = threading.Timer(self.limits.seconds, stop)
        timer.daemon = True
        timer.start()
        try:
            return self._asked(reader, path)
        except (OSError, EOFError):
            if late.is_set():
                what = f"is not read after {self.limits.seconds:,} seconds"
                raise DataError(what, path=path, fix=more("seconds")) from None
            code = self._process.wait()
            why = f"signal {-code}" if code < 0 else f"code {code}"
            what = f"the process that reads it has died ({why}), of a broken file or for want of memory"
            raise DataError(what, path=path, fix=f"save it again; {more('memory')}") from None
        finally:
            timer.cancel()

    def _asked(self, reader: str, path: Path) -> list[Passage]:
        self._say({"reader": reader, "path": str(path)})
        assert self._process.stdout
        passages = []
        most = self.limits.unpacked << 20
        for line in self._process.stdout:
            told = json.loads(line)
            if isinstance(told, list):
                most -= len(line)
                if most < 0:
                    what = f"has more than {self.limits.unpacked:,} MB of text"
                    raise DataError(what, path=path, fix=more("unpacked"))
                passages.append(Passage(*told))
            elif "error" in told:
                raise DataError(told["error"])
            elif "memory" in told:
                what = f"takes more than {self.limits.memory:,} MB of memory to read"
                raise DataError(what, path=path, fix=more("memory"))
            else:
                return passages
        raise EOFError

    def _say(self, what: object) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(what).encode() + b"\n")
        self._process.stdin.flush()

    @property
    def runs(self) -> bool:
        """Whether it can be asked, by this process: one forked from it must not."""
        return self.owner == os.getpid() and self._process.poll() is None

    def end(self) -> None:
        """Kill the process and wait for it, so that nothing of it stays."""
        if self.owner != os.getpid():
            return
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                if pipe:
                    pipe.close()


_idle: list[Child] = []  # one at most; changed by single steps, which threads cannot part


def _taken(limits: Limits) -> Child:
    with suppress(IndexError):
        child = _idle.pop()
        if child.runs and child.limits == limits:
            return child
        child.end()
    return Child(limits)


def _given_back(child: Child) -> None:
    _idle.append(child)
    while len(_idle) > 1:
        with suppress(IndexError):
            _idle.pop().end()


@atexit.register
def close() -> None:
    """End the process that waits for files, if there is one; the next file starts another."""
    while _idle:
        with suppress(IndexError):
            _idle.pop().end()
