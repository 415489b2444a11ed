"""The paths that say how the server is: health, readiness, what it promises, and figures."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse

from demur import __version__
from demur.serving.answering.service import Service
from demur.serving.messages.bodies import LONGEST, Info, Limits, State
from demur.serving.messages.problems import responses
from demur.serving.server import Server
from demur.specs import Spelled


def _of_base(service: Service) -> dict[str, Any]:
    """The facts of the base as it is now, with its gate taken up."""
    assert service.base is not None
    service.base.current()
    return service.base.facts()


_PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


def paths(server: Server) -> APIRouter:
    """The router with these paths."""
    router = APIRouter()
    settings = server.settings

    @router.get("/health", responses=responses(403, 415), summary="Whether the server runs")
    async def health() -> State:
        """It does."""
        return State(status="ok")

    @router.get("/ready", responses=responses(403, 415, 503), summary="Whether the models are loaded")
    async def ready() -> State:
        """It is ready, or says that it loads."""
        server.ready()
        return State(status="ready")

    @router.get(
        "/info", responses=responses(401, 403, 415, 503), summary="What answers, and what is promised"
    )
    async def info() -> Info:
        """Model, reader, documents, gate, limits."""
        service = server.ready()
        facts = {} if service.base is None else await asyncio.to_thread(_of_base, service)
        gate, session, of_base = service.gate, service.session, service.of_base
        waits = service.waits_for_vectors
        of_rows = None if waits else service.of_rows
        ranker, reader = service.given.ranker, service.given.reader
        return Info(
            version=__version__,
            model_id=ranker.spec,
            model_fingerprint=ranker.fingerprint,
            reader=reader.spec if isinstance(reader, Spelled) else None,
            documents=service.name,
            ranker=service.ranker,
            passages=facts["passages"] if facts else None if session is None else len(session.library),
            promise=service.promise,
            risks=[of_base.gate.certificate.risk] if of_base is not None else sorted(service.sessions),
            promise_waits=waits,
            threshold=None if gate is None or waits else gate.plain_threshold,
            faq_promise=None if of_rows is None else of_rows.promise,
            faq_threshold=None if of_rows is None else of_rows.plain_threshold,
            knowledge_base=bool(facts),
            read_only=settings.read_only,
            generation=facts.get("generation"),
            embedded=facts.get("embedded"),
            calibrated_on=None if of_base is None else of_base.generation,
            changed_since=None if of_base is None else of_base.changed,
            lapsed=None if of_base is None else of_base.lapsed,
            limits=Limits(
                body_bytes=settings.rules.body,
                text_characters=LONGEST,
                queue_pairs=settings.pairs,
                deadline_seconds=settings.deadline,
            ),
        )

    @router.get(
        "/metrics", responses=responses(403, 415), response_class=PlainTextResponse, summary="For Prometheus"
    )
    async def metrics() -> PlainTextResponse:
        """Counts, gauges and histograms as text."""
        await server.follow()
        return PlainTextResponse(server.figures.page(), media_type=_PROMETHEUS)

    return router
