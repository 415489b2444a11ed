"""What is wrong with a request, in one shape that every client can read."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from demur.errors import DemurError, UnusableBase
from demur.serving.paths.routes import Routes

_SHOWN = 3  # of many faults in one body, the first
_BRANCHES = frozenset(
    {"str", "int", "constrained-str", "Document"}
)  # of one value that may be of several types
_LONGEST = 300  # characters: a fault may repeat what was sent
_KINDS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "NotAllowed",
    408: "Timeout",
    413: "TooLarge",
    415: "Encoding",
    422: "Validation",
    429: "Overloaded",
    499: "Gone",
    503: "Unhealthy",
}


class Problem(BaseModel):
    """Why there is no result: the same words under each key, as clients differ in where they look."""

    message: str
    detail: str
    error: str
    error_type: str


class Gone(Exception):
    """The client has hung up; nobody reads what would be answered."""


class Refusal(Exception):
    """A request that is not answered, with its HTTP status; `wait` is when to try again, in seconds."""

    def __init__(self, status: int, message: str, wait: int | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.wait = status, message, wait

    def response(self) -> JSONResponse:
        """The refusal as it is sent."""
        headers = {} if self.wait is None else {"Retry-After": str(self.wait)}
        if self.status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        if self.status in (400, 408, 413):
            headers["Connection"] = "close"  # what the client still sends is not read
        return problem_response(self.status, self.message, headers)


def refusal_of(error: DemurError) -> Refusal:
    """What is answered where demur raises an error; where files lie here is not for clients."""
    if isinstance(error, UnusableBase):
        return Refusal(503, error.said)
    return Refusal(404 if isinstance(error, LookupError) else 422, str(error))


def problem_response(status: int, message: str, headers: dict[str, str] | None = None) -> JSONResponse:
    """A problem in the one shape."""
    kind = _KINDS.get(status, "Backend")
    content = Problem(message=message, detail=message, error=message, error_type=kind).model_dump()
    return JSONResponse(content, status, headers)


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What the OpenAPI page says of these statuses."""
    return {status: {"model": Problem, "description": _KINDS[status]} for status in statuses}


def handle(app: FastAPI, routes: Routes) -> None:
    """Give the app answers to all that may go wrong in it."""

    @app.exception_handler(Refusal)
    async def refused(request: Request, error: Refusal) -> JSONResponse:
        return error.response()

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        faults = list(dict.fromkeys(_fault(each) for each in error.errors()))
        more = f"; and {len(faults) - _SHOWN} more" if len(faults) > _SHOWN else ""
        return problem_response(422, "; ".join(faults[:_SHOWN])[:_LONGEST] + more)

    @app.exception_handler(HTTPException)
    async def standard(request: Request, error: HTTPException) -> JSONResponse:
        if error.status_code == 400:  # a body that is not even text
            what = "the body cannot be read as JSON in UTF-8"
            return problem_response(422, f"{what}; send plain JSON, without endless numbers or depth")
        if error.status_code == 405:
            allowed = routes.methods(request.scope) or "GET"
            return problem_response(405, f"this path allows only {allowed}", {"Allow": allowed})
        what = str(error.detail)
        if error.status_code == 404 and what == "Not Found":
            what = "there is nothing at this path; /openapi.json lists the paths"
        return problem_response(error.status_code, what, dict(error.headers or {}))

    @app.exception_handler(Gone)
    async def gone(request: Request, error: Gone) -> JSONResponse:
        return problem_response(499, "the client has closed the connection")  # for the log

    @app.exception_handler(DemurError)
    async def misused(request: Request, error: DemurError) -> JSONResponse:
        return refusal_of(error).response()

    @app.exception_handler(Exception)
    async def ours(request: Request, error: Exception) -> JSONResponse:
        return problem_response(500, "the server failed at this request; see its log")


def _fault(error: dict[str, Any]) -> str:
    """One fault as a line: where, and what; never what was sent."""
    kind, said = error["type"], str(error["msg"])
    if kind == "json_invalid":
        why = error.get("ctx", {}).get("error", said)
        return f"the body is not JSON: {why}, at character {error['loc'][-1]}"
    if tuple(error["loc"]) == ("body",):
        if kind == "missing":
            return "the body is empty; send JSON"
        if isinstance(error.get("input"), str | bytes):
            return "the body is not sent as JSON; send it with Content-Type: application/json"
    if kind == "string_pattern_mismatch":
        said = "it must not be blank"
    where = ".".join(str(part) for part in error["loc"][1:] if part not in _BRANCHES)
    return f"{where}: {said}" if where else said
