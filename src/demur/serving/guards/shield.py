"""Who may ask, and how much may be sent: checked before the app sees a request."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from demur.serving.messages.problems import Refusal

OPEN = frozenset({"/health", "/ready", "/metrics", "/openapi.json"})
"""What is told without a key: it says nothing of documents or questions."""
PAGES = "/assets/"
MEGABYTE = 1_000_000
_MOST_UNREAD = 32 * MEGABYTE  # of a refused body that is let come, so that its client reads the answer
_PATIENCE = 2.0  # seconds for that
_FOREIGN = "requests from pages of other sites are not allowed"


@dataclass(frozen=True)
class Rules:
    """What the server lets in."""

    keys: tuple[str, ...] = ()
    hosts: frozenset[str] = frozenset()
    """Names that it answers to, besides localhost and any address in digits; ``*`` is any."""
    origins: frozenset[str] = frozenset()
    """Other sites whose pages may ask it, such as ``https://intranet.example``."""
    advice: str = "; start the server with --allow-origin"
    """What is said to others, where it can be allowed."""
    body: int = 16 * MEGABYTE
    """Bytes of one body."""
    bodies: int = 256 * MEGABYTE
    """Bytes of all bodies that are being read at the same time."""
    seconds: float = 30.0
    """In which a body must have come."""
    open_pages: frozenset[str] = field(default_factory=frozenset)
    """Pages that hold no data, and are shown without a key."""

    def check(self, method: str, path: str, headers: Headers) -> None:
        """Refuse the request if it may not come in."""
        host = headers.get("host", "")
        watches = path in OPEN and method in ("GET", "HEAD")  # from any name, as it tells nobody's words
        if not watches and not self._answers_to(host):
            what = f"the host name is not allowed here: {_name(host)[:100]!r}"
            raise Refusal(403, f"{what}; start the server with --allow-host, or use its address")
        origin = headers.get("origin")
        if origin is not None and _site(origin) != host and origin not in self.origins:
            raise Refusal(403, _FOREIGN + self.advice)
        if origin is None and headers.get("sec-fetch-site") == "cross-site" and method not in ("GET", "HEAD"):
            raise Refusal(403, _FOREIGN + self.advice)
        if self.keys and not self._is_open(method, path) and not self._knows(headers):
            raise Refusal(401, "the API key is missing or wrong; send it as Authorization: Bearer KEY")
        if "content-length" in headers and "transfer-encoding" in headers:
            raise Refusal(400, "the request has Content-Length and Transfer-Encoding; send one of them")
        if headers.get("content-encoding", "identity").lower() != "identity":
            raise Refusal(415, "compressed bodies are not accepted; send it uncompressed")
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length) > self.body:
            raise Refusal(413, self.too_large)

    @property
    def too_large(self) -> str:
        """What is said of a body over the limit."""
        return f"the body is larger than {self.body:,} bytes; send fewer or shorter texts"

    def _answers_to(self, host: str) -> bool:
        name = _name(host)
        if "*" in self.hosts or name == "localhost" or name in self.hosts:
            return True
        try:
            ipaddress.ip_address(name)  # no name can be made to point here, so nobody is deceived
        except ValueError:
            return False
        return True

    def _is_open(self, method: str, path: str) -> bool:
        shown = path in self.open_pages or path.startswith(PAGES)
        return path in OPEN or method == "OPTIONS" or (method in ("GET", "HEAD") and shown)

    def _knows(self, headers: Headers) -> bool:
        kind, _, given = headers.get("authorization", "").partition(" ")
        said = given.strip().encode()
        found = [hmac.compare_digest(said, key.encode()) for key in self.keys]  # all, so that time tells none
        return kind.lower() == "bearer" and any(found)


class Shield:
    """An ASGI layer that refuses what the rules forbid, and reads each body within their limits."""

    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self.app, self.rules = app, rules
        self._held = 0  # bytes of bodies being read or answered

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the app answer, or refuse."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        held: list[bytes] = []
        headers = Headers(scope=scope)
        coming = "expect" not in headers  # else the client waits until its body is asked for
        try:
            try:
                self.rules.check(scope["method"], scope["path"], headers)
                coming = True
                await asyncio.wait_for(self._read(receive, held), self.rules.seconds)
            except TimeoutError:
                raise Refusal(408, f"the body did not come within {self.rules.seconds:g} s") from None
            coming = False
            await self.app(scope, _again(b"".join(held), receive), send)
        except Refusal as refusal:
            self._held -= sum(map(len, held))
            held.clear()
            if coming:
                with suppress(TimeoutError):
                    await asyncio.wait_for(_rest(receive), _PATIENCE)
            await refusal.response()(scope, receive, send)
        except _Gone:
            pass
        finally:
            self._held -= sum(map(len, held))

    async def _read(self, receive: Receive, held: list[bytes]) -> None:
        """Read the whole body, and count it as it comes."""
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _Gone
            part = message.get("body", b"")
            size += len(part)
            if size > self.rules.body:
                raise Refusal(413, self.rules.too_large)
            if self._held + len(part) > self.rules.bodies:
                raise Refusal(429, "too many bodies are being sent at once; try again later", 1)
            held.append(part)
            self._held += len(part)
            if not message.get("more_body"):
                return


async def _rest(receive: Receive) -> None:
    """Read the rest of a refused body, or until too much of it has come.

    A connection that is closed while its client still writes is reset, and the client may never read why.
    """
    size = 0
    while size < _MOST_UNREAD:
        message = await receive()
        size += len(message.get("body", b""))
        if message["type"] == "http.disconnect" or not message.get("more_body"):
            return


class _Gone(Exception):
    """The client hung up before it had sent its body."""


def _again(body: bytes, receive: Receive) -> Receive:
    """A receive that gives the body in one piece, and then what the real one gives."""
    given = False

    async def replayed() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed


def _site(origin: str) -> str | None:
    """The host and port of an origin; None if it is no address."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


def _name(host: str) -> str:
    """A host without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.rpartition(":")[0].lower() if ":" in host else host.lower()


def keys_in(lines: Iterable[str]) -> tuple[str, ...]:
    """The keys in the lines of a file, without empty lines and comments."""
    stripped = (line.strip() for line in lines)
    return tuple(line for line in stripped if line and not line.startswith("#"))
