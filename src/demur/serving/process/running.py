"""A server that runs until it is told to stop: what it has taken on is finished, and then it ends well."""

from __future__ import annotations

import gc
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from demur.errors import DemurError, UsageError
from demur.serving.answering.service import Service
from demur.serving.app import create_app
from demur.serving.guards.connections import Timely
from demur.serving.guards.shield import Rules, Shield
from demur.serving.process.logs import log_as_json
from demur.serving.process.metrics import Figures, Watch
from demur.serving.server import Settings

_AFTER_DEADLINE = 5  # seconds more for answers to be sent
_IDLE = 75  # seconds that a connection may be quiet, longer than usual proxies hold one


class _Stoppable(uvicorn.Server):
    """Ends with exit code 0 on SIGTERM and SIGINT, as it was asked to; a second one ends it at once."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.force_exit = self.should_exit
        self.should_exit = True


def run(
    opening: Callable[[], Service],
    settings: Settings,
    host: str,
    port: int,
    announce: Callable[[str], None],
) -> None:
    """Run the server until it is told to stop; raise an error if its service cannot be opened."""
    failures: list[DemurError] = []

    def failed(error: DemurError) -> None:
        failures.append(error)
        server.should_exit = True

    def opened() -> Service:
        try:
            return opening()
        finally:
            gc.freeze()  # what is in memory now stays there, and need not be looked through again
            gc.enable()

    listening = listen(host, port)
    server = _server(create_app(opened, settings, failed), settings.deadline)
    _run(server, listening, announce)
    if failures:
        raise failures[0]


def run_mcp(service: Service, rules: Rules, host: str, port: int, announce: Callable[[str], None]) -> None:
    """Run the server for assistants until it is told to stop."""
    from mcp.server.transport_security import TransportSecuritySettings

    from demur.serving.assistants import create_mcp

    ours = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # as the shield checks names
    log_as_json()  # before the kit sets up a log of its own
    app = create_mcp(service).streamable_http_app(transport_security=ours, stateless_http=True)
    watched = Watch(Shield(app, rules), Figures())
    _run(_server(watched, Settings().deadline), listen(host, port), announce)


def _server(app: ASGIApp, deadline: float) -> _Stoppable:
    config = uvicorn.Config(
        app,
        http=Timely,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        timeout_keep_alive=_IDLE,
        timeout_graceful_shutdown=int(deadline) + _AFTER_DEADLINE,
    )
    return _Stoppable(config)


def _run(server: uvicorn.Server, listening: socket.socket, announce: Callable[[str], None]) -> None:
    log_as_json()
    host, port = listening.getsockname()[:2]
    announce(f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}")
    server.run(sockets=[listening])


def listen(host: str, port: int) -> socket.socket:
    """A socket on this address.

    It is said to be TCP's, as asyncio looks at that before it lets answers go at once; else each waits 40 ms
    for the client's system to confirm its head.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        made = socket.create_server((host, port), family=family, backlog=2048)
        return socket.socket(family, made.type, socket.IPPROTO_TCP, fileno=made.detach())
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or error
        what = f"demur cannot listen on {host}:{port} ({why})"
        raise UsageError(f"{what}; choose another with --port or --host") from None
