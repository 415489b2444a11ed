"""The pages for people: plain files of the package, which ask the same paths as any client."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib.resources import files

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response

from demur.serving.guards.shield import PAGES
from demur.serving.messages.problems import Refusal

_FOLDER = files("demur.serving") / "web"
_SHOWN = {"/": "ask", "/documents": "documents", "/label": "label", "/status": "status"}
PATHS = frozenset(_SHOWN)
"""Where the pages are; they hold no data, so they are shown without a key."""
_KINDS = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


def paths() -> APIRouter:
    """The router with these paths, which are for people; the OpenAPI page only names the first of them."""
    router = APIRouter()
    for path, name in _SHOWN.items():
        router.add_api_route(
            path,
            _page(name),
            methods=["GET"],
            response_class=HTMLResponse,
            include_in_schema=path == "/",
            summary=f"The page {name}",
        )

    @router.get(f"{PAGES}{{name}}", include_in_schema=False)
    async def asset(name: str) -> Response:
        """One of the files beside the pages; there are no others."""
        kind = _KINDS.get(f".{name.rpartition('.')[2]}")
        if kind is None or name not in _assets():
            raise Refusal(404, "there is no such file")
        return Response((_FOLDER / name).read_bytes(), media_type=kind, headers=_HEADERS)

    return router


def _page(name: str) -> Callable[[], Awaitable[Response]]:
    async def page() -> Response:
        return Response(
            (_FOLDER / f"{name}.html").read_bytes(), media_type="text/html; charset=utf-8", headers=_HEADERS
        )

    return page


def _assets() -> set[str]:
    return {each.name for each in _FOLDER.iterdir()}
