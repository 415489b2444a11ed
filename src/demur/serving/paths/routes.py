"""All paths of the server, to be told which of them a request means."""

from __future__ import annotations

from collections.abc import Iterable

from fastapi import APIRouter
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send


class Heads:
    """An ASGI layer by which HEAD is answered as GET is; the server sends no body then."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the app answer."""
        if scope["type"] == "http" and scope["method"] == "HEAD":
            scope = {**scope, "method": "GET"}
        await self.app(scope, receive, send)


class Routes:
    """The routes of some routers."""

    def __init__(self, routers: Iterable[APIRouter]) -> None:
        self._routes = [each for router in routers for each in router.routes if isinstance(each, Route)]

    def path(self, scope: Scope) -> str:
        """The path as the server knows it; of others nothing is kept, as anything may stand in them."""
        return next((each.path for each in self._meant(scope)), "other")

    def methods(self, scope: Scope) -> str:
        """All methods of the path, HEAD beside GET; a route by itself knows only its own."""
        found = {method for each in self._meant(scope) for method in each.methods or ()}
        return ", ".join(sorted(found | {"HEAD"} if "GET" in found else found))

    def _meant(self, scope: Scope) -> Iterable[Route]:
        return (each for each in self._routes if each.matches(scope)[0] != Match.NONE)
