"""The service as an ASGI app: paths, layers, and a service that is opened while it answers /health."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from demur import __version__
from demur.errors import DemurError
from demur.serving.answering.service import Service
from demur.serving.guards.shield import Shield
from demur.serving.messages import problems
from demur.serving.paths import documents, labels, pages, questions, reranking, status
from demur.serving.paths.routes import Heads, Routes
from demur.serving.process.metrics import Watch
from demur.serving.server import Server, Settings

_LAST = 30.0  # seconds in which jobs may end when the server is stopped; what was sent is on the disk
_log = logging.getLogger("demur.serving")
_DESCRIPTION = "Ranks texts, quotes answers, and says nothing where it cannot keep its promise."


def create_app(
    opening: Callable[[], Service],
    settings: Settings | None = None,
    on_failure: Callable[[DemurError], None] | None = None,
) -> FastAPI:
    """An app that opens its service in the background; if that fails, `on_failure` is told why."""
    server = Server(settings or Settings())

    async def load() -> None:
        try:
            service = await asyncio.get_running_loop().run_in_executor(None, opening)
        except Exception as error:
            if not isinstance(error, DemurError):
                _log.exception("the service could not be opened")
                fix = "this is a bug of demur; please report what the log says"
                error = DemurError(f"{type(error).__name__}: {error}; {fix}")
            server.failed = error
            if on_failure is not None:
                on_failure(error)
            return
        await documents.begin(server, service)
        _log.info("ready")
        if service.base is not None:
            await documents.tend(server)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        loading = asyncio.create_task(load())
        yield
        loading.cancel()
        server.stopping.set()
        with suppress(asyncio.CancelledError):
            await loading
        await server.jobs.close(_LAST)
        server.writer.close()
        server.queue.close()
        if server.service is not None:
            server.service.close()

    app = FastAPI(
        title="demur",
        version=__version__,
        description=_DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,  # its page fetches scripts from elsewhere
        redoc_url=None,
    )
    app.state.server = server
    of_server = (status.paths, reranking.paths, questions.paths, documents.paths, labels.paths)
    routers = [*(paths(server) for paths in of_server), pages.paths()]
    routes = Routes([app.router, *routers])  # the app's own has /openapi.json
    problems.handle(app, routes)
    for router in routers:
        app.include_router(router)
    app.add_middleware(Heads)
    rules = replace(server.settings.rules, open_pages=pages.PATHS)
    if rules.origins:
        app.add_middleware(
            CORSMiddleware, allow_origins=sorted(rules.origins), allow_methods=["*"], allow_headers=["*"]
        )
    app.add_middleware(Shield, rules=rules)
    app.add_middleware(Watch, figures=server.figures, routes=routes, access_log=server.settings.access_log)
    return app
