"""Connections whose clients take their time: one that sends no whole head is closed."""

from __future__ import annotations

import asyncio
from typing import ClassVar, cast

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle


class Timely(H11Protocol):
    """A connection that is closed when the head of a request does not come in time.

    uvicorn waits for a head as long as its client likes. Bodies have a time of their own, in the shield, and
    a connection between two requests has uvicorn's.
    """

    patience: ClassVar[float] = 30.0
    """Seconds from the first byte of a head, or from the start of the connection, to the head's end."""
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first head."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Take what came; wait on, if it is part of a head."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._settle()
        super().connection_lost(exc)

    def _watch(self) -> None:
        if not self._without_head():
            self._settle()
        elif self._late is None:
            self._late = self.loop.call_later(self.patience, self._give_up)

    def _without_head(self) -> bool:
        cycle = cast("RequestResponseCycle | None", self.cycle)  # none before the first request
        return cycle is None or cycle.response_complete

    def _settle(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _give_up(self) -> None:
        self._late = None
        if self._without_head():
            self.transport.close()
