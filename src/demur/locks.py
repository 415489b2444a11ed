"""Locks that one run at a time can have: they end with the process, also by a kill."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from demur.errors import UsageError


@contextmanager
def locked(path: Path, busy: str) -> Iterator[None]:
    """A block that one run at a time may be in; another that comes meanwhile gets the error `busy`.

    The lock ends with the process, also by a kill. Whoever holds it may remove the file.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
        path.stat()
    except (Timeout, FileNotFoundError):  # the other run may just have ended, and have taken the file along
        lock.release()
        raise UsageError(busy) from None
    try:
        yield
    finally:
        lock.release()


@contextmanager
def in_turn(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """A block that one run at a time may be in; others wait until it is free, and call `waiting` before.

    The lock ends with the process, also by a kill.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        waiting()
        lock.acquire(poll_interval=1)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)  # first, so that whoever waits takes a new file
        lock.release()
