"""One bounded queue, counted in pairs, and one worker for the model."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event
from typing import Generic, TypeVar

from demur import runtime
from demur.serving.messages.bodies import WINDOW
from demur.serving.messages.problems import Gone, Refusal

T = TypeVar("T")
_LONGEST_WAIT = 60  # seconds that a client is told to wait, at most
_AT_ONCE = 0.1  # of the deadline: work that waits no longer than that has the time for itself
_AT_FIRST = 100.0  # pairs a second, until there is something to measure


@dataclass
class _Piece(Generic[T]):
    """Work that waits for the worker, or is being done."""

    pairs: int
    work: Callable[[], T]
    stop: Event = field(default_factory=Event)
    began: float = math.inf  # when the worker took it

    def done(self) -> T:
        """What the work comes to, unless it is stopped before that."""
        self.began = time.monotonic()
        with runtime.until(self.stop):
            return self.work()


class Queue:
    """Takes work until so many pairs wait, and does one piece after the other, in the order they came."""

    def __init__(self, room: int, deadline: float, seen: Callable[[str, float], None]) -> None:
        self.room, self.deadline = room, deadline
        self.waiting = 0
        """Pairs in the queue or being scored."""
        self._seen = seen  # told of the seconds of each stage
        self._speed = _AT_FIRST
        self._turn = asyncio.Lock()  # gives turns in the order in which they were asked for
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="demur")

    async def do(
        self, pairs: int, work: Callable[[], T], gone: Callable[[], Awaitable[object]] | None = None
    ) -> T:
        """What the work comes to; or a refusal where there is no room, or no time.

        The work is stopped once nobody wants its result any more. `gone` returns when the client has closed
        the connection.
        """
        self._admit(pairs)
        piece, asked = _Piece(pairs, work), time.monotonic()
        task = asyncio.ensure_future(self._in_turn(piece))
        watch = asyncio.ensure_future(gone()) if gone is not None else None
        both = {task} if watch is None else {task, watch}
        try:
            done, _ = await asyncio.wait(both, timeout=self.deadline, return_when=asyncio.FIRST_COMPLETED)
            if task in done:
                return task.result()
            if done:
                raise Gone
            if piece.began - asked < _AT_ONCE * self.deadline:
                what = f"this takes more than {self.deadline:g} s even when nothing else waits"
                raise Refusal(413, f"{what}; send fewer or shorter texts")
            what = f"this was not finished within {self.deadline:g} s"
            what = f"{what}; send fewer or shorter texts, or try again when there is less to do"
            raise Refusal(429, what, self.wait())
        finally:
            piece.stop.set()
            for each in both:
                each.cancel()

    def wait(self) -> int:
        """The whole seconds after which there may be room again."""
        return max(1, min(_LONGEST_WAIT, math.ceil(self.waiting / self._speed)))

    def close(self) -> None:
        """Let the worker end what it has begun."""
        self._worker.shutdown()

    def _admit(self, pairs: int) -> None:
        """Count the pairs in, if there is room for them."""
        if pairs > self.room:
            what = f"{pairs:,} texts are too many at once, where each {WINDOW:,} characters count as one"
            raise Refusal(413, f"{what}; send {self.room:,} at most")
        if self.waiting + pairs > self.room:
            raise Refusal(429, f"{self.waiting:,} pairs are waiting already; try again later", self.wait())
        self.waiting += pairs

    async def _in_turn(self, piece: _Piece[T]) -> T:
        """What the work comes to, once it is its turn; its pairs are counted out when the worker is free."""
        asked = time.monotonic()
        begun = False
        try:
            async with self._turn:
                began = time.monotonic()
                self._seen("wait", began - asked)
                future = asyncio.get_running_loop().run_in_executor(self._worker, piece.done)
                begun = True
                future.add_done_callback(lambda done: self._free(done, piece.pairs, time.monotonic() - began))
                return await asyncio.shield(future)
        finally:
            if not begun:
                self.waiting -= piece.pairs

    def _free(self, done: asyncio.Future[T], pairs: int, seconds: float) -> None:
        self.waiting -= pairs
        if not done.cancelled():
            done.exception()  # of work that was dropped, nobody else asks for it
        self._seen("work", seconds)
        if pairs > 1:
            self._speed += 0.2 * (pairs / max(seconds, 1e-6) - self._speed)
