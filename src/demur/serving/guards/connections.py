"""Connections: one that sends no whole head in time is closed, one that sends no HTTP is told so first."""

from __future__ import annotations

import asyncio
from typing import ClassVar, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from demur.serving.messages.problems import problem_response

_NO_HTTP = "this is no valid HTTP; check the first line, Host, Content-Length, chunks and header sizes"


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

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP as all else is refused, unless an answer has begun; and close."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            told = problem_response(400, _NO_HTTP, {"Connection": "close"})
            head = h11.Response(status_code=400, headers=told.raw_headers, reason=b"Bad Request")
            for event in (head, h11.Data(data=bytes(told.body)), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _should_upgrade(self) -> bool:
        """Answer over HTTP, whatever else is asked for; uvicorn would advise to install a library."""
        return False

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
