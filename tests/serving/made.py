"""Servers for tests: one that is asked in the same thread, and one that listens on a port of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import uvicorn
from starlette.testclient import TestClient

import demur
from asking.toys import Toy, labelled
from demur.asking import Session
from demur.rankers import Ranker
from demur.risk.gates.gate import Gate
from demur.serving.answering.given import Given
from demur.serving.answering.service import Service
from demur.serving.app import create_app
from demur.serving.guards.connections import Timely
from demur.serving.server import Server, Settings
from demur.types import FloatArray, Pool

TEXTS = ["Saws are sharp.", "Saws are lent for three weeks.", "Ladders."]
QUESTION = "For how long are saws lent?"
HERE = "http://127.0.0.1:8000"


def gate() -> Gate:
    """A gate for the toy, as it ranks given texts: the best must be better than the next by half a word."""
    texts = [TEXTS[1], TEXTS[0]]
    grid = [Pool.of(QUESTION, texts, id=f"g{n}") for n in range(9)]
    return replace(demur.calibrate(Toy(), labelled(QUESTION, texts), 0.2, grid=grid), threshold=0.5)


def service(ranker: Ranker | None = None, documents: bool = True, gated: bool = False) -> Service:
    """A service of the toy, which ranks by shared words and quotes the first number."""
    built = ranker or Toy()
    judge = gate() if gated else None
    session = Session.open(TEXTS, built, judge or "none") if documents else None
    reader = built if isinstance(built, Toy) else None
    return Service(Given(built, reader, judge), session, "tools" if documents else None)


@contextmanager
def asked(
    made: Service | Callable[[], Service] | None = None, settings: Settings | None = None
) -> Iterator[TestClient]:
    """A client of a server that is ready."""
    given = made or service()
    app = create_app(given if callable(given) else lambda: given, settings)
    with TestClient(app, base_url=HERE, raise_server_exceptions=False) as client:
        wait_until(lambda: app.state.server.service is not None or app.state.server.failed is not None)
        yield client


def server_of(client: TestClient) -> Server:
    """The server behind a client."""
    app: Any = client.app
    found: Server = app.state.server
    return found


@dataclass(frozen=True)
class Held(Ranker):
    """Scores by length, once it is let go; it knows how many texts it was given."""

    name: ClassVar[str] = "held"
    alone: ClassVar[bool] = True
    go: threading.Event = field(default_factory=threading.Event)
    begun: threading.Event = field(default_factory=threading.Event)
    seen: list[int] = field(default_factory=list)

    def score_pools(self, pools: Any) -> list[FloatArray]:
        """The lengths."""
        self.seen.append(sum(len(pool) for pool in pools))
        self.begun.set()
        assert self.go.wait(60)
        return [np.array([len(text) for text in pool.answers], np.float64) for pool in pools]


@contextmanager
def live(made: Service, settings: Settings | None = None) -> Iterator[tuple[int, Server]]:
    """The port of a server that runs in a thread, and the server itself."""
    app = create_app(lambda: made, settings)
    config = uvicorn.Config(app, port=0, http=Timely, log_config=None, access_log=False, lifespan="on")
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run)
    thread.start()
    try:
        server: Server = app.state.server
        wait_until(lambda: running.started and server.service is not None)
        yield running.servers[0].sockets[0].getsockname()[1], server
    finally:
        running.should_exit = True
        thread.join(60)


def wait_until(true: Callable[[], bool]) -> None:
    """Wait until it is true; fail if it stays false for two minutes, which slow machines may need."""
    for _ in range(12_000):
        if true():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it did not come about")


def with_keys(*keys: str) -> Settings:
    """Settings with keys."""
    plain = Settings()
    return replace(plain, rules=replace(plain.rules, keys=keys))
