"""What all paths of the service share: the service once it is open, its queue, and its figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event
from typing import TypeVar

from fastapi import Request

from demur.errors import DemurError
from demur.serving.problems import Refusal
from demur.serving.service import Service
from demur.serving.shield import Rules
from demur.serving.watching import Figures, note
from demur.serving.work import Queue

T = TypeVar("T")


@dataclass(frozen=True)
class Settings:
    """How a server behaves."""

    rules: Rules = field(default_factory=Rules)
    pairs: int = 20_000
    """Pairs that may wait."""
    deadline: float = 120.0
    """Seconds in which a request must be answered."""
    access_log: bool = True
    log_questions: bool = False


@dataclass
class Server:
    """A service that is being opened or is open, and what asks it."""

    settings: Settings = field(default_factory=Settings)
    figures: Figures = field(default_factory=Figures)
    service: Service | None = None
    failed: DemurError | None = None
    """Why the service could not be opened."""

    def __post_init__(self) -> None:
        self.queue = Queue(self.settings.pairs, self.settings.deadline, self.figures.stage)
        self.figures.room.set(self.settings.pairs)
        self.figures.queue.set_function(lambda: self.queue.waiting)
        self.figures.ready.set_function(lambda: float(self.service is not None))
        self.figures.passages.set_function(lambda: float(self._passages()))

    def ready(self) -> Service:
        """The service; a refusal while it is being opened."""
        if self.service is None:
            raise Refusal(503, "the models are being loaded; try again in a moment", 1)
        return self.service

    async def do(self, request: Request, pairs: int, work: Callable[[Service, Event], T]) -> T:
        """What the work on the service comes to, in its turn."""
        service = self.ready()
        note(request.scope, pairs=pairs)
        found = await self.queue.do(pairs, lambda stop: work(service, stop), lambda: _gone(request))
        self.figures.pairs.inc(pairs)
        return found

    def heard(self, request: Request, question: str) -> None:
        """Note a question for the log, if questions are to be logged."""
        if self.settings.log_questions:
            note(request.scope, question=question)

    def _passages(self) -> int:
        service = self.service
        return 0 if service is None or service.session is None else len(service.session.library)


async def _gone(request: Request) -> None:
    """Nothing, once the client has hung up; the body is there already, so only that can come."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
