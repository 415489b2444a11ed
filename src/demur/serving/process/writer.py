"""Changes of the base, made one after the other in the order in which they came."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event
from typing import TypeVar

from demur.errors import DemurError
from demur.serving.messages.problems import Refusal

T = TypeVar("T")
_PAUSE = 2.0  # seconds until a change is tried again that found another process writing
_MOST = 1_000  # changes that may wait


@dataclass
class Writer:
    """Makes one change at a time, in a thread of its own.

    Those that wait take no thread, so everything else goes on, however many there are. The first one is tried
    again for as long as another process writes: if a later one went first, it would be undone.
    """

    stopping: Event = field(default_factory=Event)
    """Set when the server is told to stop: nothing is tried again then."""
    waiting: int = 0
    """Changes that wait or are being made."""

    def __post_init__(self) -> None:
        self._turn = asyncio.Lock()  # gives turns in the order in which they were asked for
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="demur-write")

    def check_room(self) -> None:
        """Refuse one more change if too many wait already."""
        if self.waiting >= _MOST:
            raise Refusal(429, f"{self.waiting:,} changes are waiting already; try again later", 10)

    async def do(self, work: Callable[[], T], again: Callable[[Exception], object]) -> T:
        """What the change comes to; it is tried again after errors of which `again` says so."""
        self.waiting += 1
        try:
            async with self._turn:
                while True:
                    try:
                        return await asyncio.get_running_loop().run_in_executor(self._worker, work)
                    except DemurError as error:
                        if not again(error) or self.stopping.is_set():
                            raise
                        await asyncio.sleep(_PAUSE)
        finally:
            self.waiting -= 1

    def close(self) -> None:
        """Begin nothing more; what has begun ends by itself."""
        self._worker.shutdown(wait=False, cancel_futures=True)
