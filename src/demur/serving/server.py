"""What all paths of the service share: the service once it is open, its queue, and its figures."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Event
from typing import TypeVar

from fastapi import Request

from demur.errors import DemurError
from demur.kb.folder import KnowledgeBase
from demur.serving.answering.base import Base
from demur.serving.answering.service import NotHere, Service
from demur.serving.answering.together import Together
from demur.serving.guards.shield import Rules
from demur.serving.guards.uploads import Sent
from demur.serving.messages.problems import Refusal
from demur.serving.process.jobs import Jobs
from demur.serving.process.metrics import Figures, apart, note
from demur.serving.process.queue import Queue
from demur.serving.process.writer import Writer

T = TypeVar("T")
_log = logging.getLogger("demur.serving")
_FOLLOW = 1.0  # seconds that figures wait for the base


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
    read_only: bool = False
    """Whether documents and labels may not be changed over HTTP."""
    keep_questions: bool = False
    """Whether the questions that people ask are kept in the base, to be labelled."""


@dataclass
class Server:
    """A service that is being opened or is open, and what asks it."""

    settings: Settings = field(default_factory=Settings)
    figures: Figures = field(default_factory=Figures)
    service: Service | None = None
    failed: DemurError | None = None
    """Why the service could not be opened."""
    together: Together = field(default_factory=Together)
    """The requests that wait to be ranked."""
    jobs: Jobs = field(default_factory=Jobs)
    put_off: list[Sent] = field(default_factory=list)
    """Changes that wait for the next start, as the base was out of reach."""
    new: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when there are passages that may have no vectors yet."""
    stopping: Event = field(default_factory=Event)
    """Set when the server is told to stop."""

    def __post_init__(self) -> None:
        self.writer = Writer(self.stopping)
        self.queue = Queue(self.settings.pairs, self.settings.deadline, self.figures.stage)
        self.figures.room.set(self.settings.pairs)
        self.figures.queue.set_function(lambda: self.queue.waiting)
        self.figures.ready.set_function(lambda: float(self.service is not None))
        self.figures.passages.set_function(lambda: float(self._passages()))
        self.figures.generation.set_function(lambda: float(self._generation()))
        self.figures.changed.set_function(lambda: self._of_gate("changed"))
        self.figures.lapsed.set_function(lambda: self._of_gate("lapsed"))
        self.figures.drift.set_function(self._drift)

    def ready(self) -> Service:
        """The service; a refusal while it is being opened."""
        if self.service is None:
            raise Refusal(503, "the models are being loaded; try again in a moment", 1)
        return self.service

    async def do(self, request: Request, pairs: int, work: Callable[[Service], T]) -> T:
        """What the work on the service comes to, in its turn."""
        service = self.ready()
        note(request.scope, pairs=pairs)
        found = await self.queue.do(pairs, lambda: work(service), lambda: _gone(request))
        self.figures.pairs.inc(pairs)
        return found

    def base(self, to_change: bool = False) -> Base:
        """The knowledge base; a refusal if there is none, or if it may not be changed."""
        base = self.ready().base
        if base is None:
            raise NotHere("this server has no knowledge base; start it with --kb BASE, or with --example")
        if to_change and self.settings.read_only:
            raise Refusal(403, "documents and labels cannot be changed: the server runs with --read-only")
        return base

    async def written(self, work: Callable[[KnowledgeBase], T]) -> T:
        """What a change of the base comes to, after all that came before it and whoever else writes."""
        base = self.base()
        return await self.writer.do(lambda: base.written(work), busy)

    async def looked(self, work: Callable[[KnowledgeBase], T]) -> T:
        """What is seen of the knowledge base, beside all questions."""
        base = self.base()
        try:
            return await asyncio.to_thread(base.looked, work)
        except DemurError as error:
            raise busy(error) or error from None

    async def kept(self, question: str) -> None:
        """Keep a question to be labelled; its answer is out, so that what prevents it is only logged."""
        try:
            await self.looked(lambda kb: kb.keep_questions([question], logged=True))
        except (DemurError, Refusal) as error:
            _log.warning(f"a question was not kept to be labelled: {error}")

    async def follow(self) -> None:
        """Let the figures be those of the base as it is now; as they were, if it is away or takes long."""
        base = None if self.service is None else self.service.base
        if base is None:
            return
        with suppress(DemurError, TimeoutError):
            await asyncio.wait_for(asyncio.to_thread(base.follow), _FOLLOW)

    def heard(self, request: Request, question: str) -> None:
        """Note a question for the log, if questions are to be logged."""
        if self.settings.log_questions:
            note(request.scope, question=question)

    def _generation(self) -> int:
        base = None if self.service is None else self.service.base
        return 0 if base is None else base.library.generation

    def _of_gate(self, fact: str) -> float:
        gate = None if self.service is None else self.service.of_base
        return 0.0 if gate is None else float(getattr(gate, fact))

    def _drift(self) -> float:
        gates = [] if self.service is None else [self.service.gate, self.service.of_rows]
        last = self.figures.last
        return max(
            (apart(last[each.plain_threshold], each.confidences) for each in gates if each), default=0.0
        )

    def _passages(self) -> int:
        service = self.service
        return 0 if service is None or service.session is None else len(service.session.library)


def busy(error: Exception) -> Refusal | None:
    """A refusal for an error that says that somebody else writes just now."""
    told = str(error)
    if "another process writes" not in told and "being written to by another" not in told:
        return None
    return Refusal(429, "the knowledge base is being written to; try again in a moment", 2)


async def _gone(request: Request) -> None:
    """Wait until the client has closed the connection; the body is there already, so only that can come."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
