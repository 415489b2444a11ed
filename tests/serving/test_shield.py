"""Who may ask and how much may be sent: keys, names, other sites, sizes, and bodies that never end."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import threading
from dataclasses import replace

import pytest
from starlette.types import Message, Receive, Scope, Send

from demur.cli.options import services
from demur.errors import UsageError
from demur.serving.guards.connections import Timely
from demur.serving.guards.shield import Rules, Shield, keys_in
from demur.serving.server import Settings
from serving.made import QUESTION, TEXTS, asked, live, service, wait_until, with_keys

BODY = {"query": QUESTION, "texts": TEXTS}
KEY = "a-key-that-nobody-guesses"
WHOLE = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
BEGUN = b"GET /health HTTP/1.1\r\nX-Slow: "


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port))


def ruled(**rules: object) -> Settings:
    return Settings(rules=replace(Rules(), **rules))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (None, 401),
        ("", 401),
        (f"Bearer {KEY[:-1]}", 401),
        (f"Bearer {KEY}x", 401),
        (f"Basic {KEY}", 401),
        ("Bearer ключ", 401),
        (f"Bearer {KEY}", 200),
        (f"bearer  {KEY}", 200),
        ("Bearer another", 200),
    ],
)
def test_a_key_is_needed_where_there_are_keys(sent: str | None, status: int) -> None:
    headers = {} if sent is None else {"Authorization": sent.encode()}
    with asked(settings=with_keys(KEY, "another")) as client:
        answer = client.post("/rerank", json=BODY, headers=headers)  # type: ignore[arg-type]
    assert answer.status_code == status
    if status == 401:
        assert (
            answer.json()["error_type"] == "Unauthorized" and answer.headers["www-authenticate"] == "Bearer"
        )
        assert KEY not in answer.text


@pytest.mark.parametrize("path", ["/health", "/ready", "/metrics", "/openapi.json"])
def test_what_watches_the_server_needs_no_key(path: str) -> None:
    with asked(settings=with_keys(KEY)) as client:
        assert client.get(path).status_code == 200
        assert client.get("/info").status_code == 401


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8000", 200),
        ("localhost", 200),
        ("[::1]:8000", 200),
        ("10.1.2.3:80", 200),
        ("evil.example", 403),
        ("127.0.0.1.evil.example", 403),
        ("search.intranet:8000", 403),
        ("", 403),
    ],
)
def test_names_that_others_may_point_here_are_refused(host: str, status: int) -> None:
    with asked() as client:
        assert client.get("/info", headers={"Host": host}).status_code == status
        assert client.get("/health", headers={"Host": host}).status_code == 200, "it tells nobody's words"


@pytest.mark.parametrize(
    ("hosts", "origins", "expected"),
    [
        (
            ["Search.intranet:8934"],
            ["https://Intranet.example/"],
            ("search.intranet", "https://intranet.example"),
        ),
        (["*"], ["http://a.b:80"], ("*", "http://a.b:80")),
    ],
)
def test_names_and_sites_are_taken_as_requests_spell_them(
    hosts: list[str], origins: list[str], expected: tuple[str, str]
) -> None:
    found = services.rules(None, hosts, origins)
    assert (found.hosts, found.origins) == (frozenset({expected[0]}), frozenset({expected[1]}))


@pytest.mark.parametrize(
    ("hosts", "origins"),
    [(["https://a.b"], []), ([" "], []), ([], ["foo"]), ([], ["https://a.b/page"]), ([], ["ftp://a.b"])],
)
def test_what_no_request_can_say_is_refused(hosts: list[str], origins: list[str]) -> None:
    with pytest.raises(UsageError, match=r"is no (name of a host|site); write one such as"):
        services.rules(None, hosts, origins)


def test_names_may_be_allowed() -> None:
    with asked(settings=ruled(hosts=frozenset({"search.intranet"}))) as client:
        assert client.get("/info", headers={"Host": "search.intranet:8000"}).status_code == 200
        assert client.get("/info", headers={"Host": "evil.example"}).status_code == 403
    with asked(settings=ruled(hosts=frozenset({"*"}))) as client:
        assert client.get("/info", headers={"Host": "evil.example"}).status_code == 200


def test_pages_of_other_sites_may_not_ask() -> None:
    with asked() as client:
        for origin, status in (
            ("http://127.0.0.1:8000", 200),
            ("http://127.0.0.1:9", 403),
            ("https://evil.example", 403),
            ("null", 403),
            ("http://[", 403),
        ):
            answer = client.post("/rerank", json=BODY, headers={"Origin": origin})
            assert answer.status_code == status and "access-control-allow-origin" not in answer.headers


def test_a_site_that_is_named_may_ask() -> None:
    site = "https://intranet.example"
    with asked(settings=ruled(origins=frozenset({site}), keys=(KEY,))) as client:
        asks = {"Origin": site, "Access-Control-Request-Method": "POST"}
        assert client.options("/rerank", headers=asks).status_code == 200
        answer = client.post("/rerank", json=BODY, headers={"Origin": site, "Authorization": f"Bearer {KEY}"})
        assert answer.status_code == 200 and answer.headers["access-control-allow-origin"] == site
        assert (
            client.options("/rerank", headers={**asks, "Origin": "https://evil.example"}).status_code == 403
        )


def test_packed_bodies_are_refused() -> None:
    packed = gzip.compress(b" " * 10_000_000)
    with asked() as client:
        answer = client.post("/rerank", content=packed, headers={"Content-Encoding": "gzip"})
    assert answer.status_code == 415


def test_a_body_may_be_so_large_and_no_larger() -> None:
    fits = json.dumps({"query": "x", "texts": ["y"]}).encode()
    json_type = {"Content-Type": "application/json"}
    with asked(settings=ruled(body=len(fits))) as client:
        assert client.post("/rerank", content=fits, headers=json_type).status_code == 200
        answer = client.post("/rerank", content=fits + b" ", headers=json_type)
        assert (answer.status_code, answer.json()["error_type"]) == (413, "TooLarge")


def test_a_body_in_small_pieces_is_stopped_at_the_limit() -> None:
    """A gigabyte is announced by nobody: what has come is counted, and little more is taken."""
    with live(service(), ruled(body=100_000)) as (port, _), connected(port) as sent:
        sent.sendall(b"POST /rerank HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        taken = 0
        try:
            while taken < 1_000_000_000:
                sent.sendall(b"1000\r\n" + b" " * 4096 + b"\r\n")
                taken += 4096
        except OSError:
            pass
        assert taken < 200_000_000, "what a client may send before it reads, and the system's buffers"


def test_a_body_that_does_not_come_is_waited_for_only_so_long() -> None:
    with live(service(), ruled(seconds=0.2)) as (port, server):
        head = b"POST /rerank HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
        with connected(port) as slow:
            slow.sendall(head)
            assert slow.recv(100).startswith(b"HTTP/1.1 408")
        assert server.queue.waiting == 0


@pytest.mark.parametrize(("before", "begun"), [(b"", b""), (b"", BEGUN), (WHOLE, BEGUN)])
def test_a_head_that_does_not_come_is_waited_for_only_so_long(
    monkeypatch: pytest.MonkeyPatch, before: bytes, begun: bytes
) -> None:
    monkeypatch.setattr(Timely, "patience", 0.2)
    with live(service()) as (port, _), connected(port) as slow:
        if before:
            slow.sendall(before)
            came = slow.recv(1000)
            while not came.endswith(b"}"):
                came += slow.recv(1000)
            assert came.startswith(b"HTTP/1.1 200")
        slow.sendall(begun)
        assert slow.recv(100) == b"", "it was closed"


def test_a_head_may_come_in_pieces() -> None:
    with live(service()) as (port, _), connected(port) as slow:
        for part in (b"GET /health HT", b"TP/1.1\r\nHost: local", b"host\r\n\r\n") * 2:
            slow.sendall(part)
            threading.Event().wait(0.05)
        assert slow.recv(1000).startswith(b"HTTP/1.1 200")


def test_half_closed_and_hung_up_bodies_leave_nothing_behind() -> None:
    with live(service()) as (port, server):
        head = b"POST /rerank HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
        for _ in range(20):
            half = connected(port)
            half.sendall(head)
            half.shutdown(socket.SHUT_WR)
            half.close()
        with connected(port) as after:
            after.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert after.recv(100).startswith(b"HTTP/1.1 200")
        wait_until(lambda: server.queue.waiting == 0)


def test_all_bodies_together_are_bounded() -> None:
    with live(service(), ruled(body=1000, bodies=1500)) as (port, _):
        head = b"POST /rerank HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n"
        with connected(port) as first:
            first.sendall(head + b" " * 900)  # and then it waits for the rest
            wait_until(lambda: refused(port, head + b" " * 1000))


def refused(port: int, sent: bytes) -> bool:
    with connected(port) as other:
        other.settimeout(5)
        other.sendall(sent)
        try:
            return other.recv(100).startswith(b"HTTP/1.1 429")
        except TimeoutError:
            return False


@pytest.mark.parametrize("path", ["/health", "/metrics", "/", "/assets/style.css", "/info"])
def test_head_is_answered_as_get_is_without_a_body(path: str) -> None:
    with asked() as client:
        head, got = client.head(path), client.get(path)
    assert head.status_code == got.status_code == 200 and head.content == b"" != got.content
    assert head.headers["content-type"] == got.headers["content-type"]


def test_what_is_refused_counts_for_its_path_and_unknown_paths_for_none() -> None:
    with asked(settings=replace(ruled(body=10, keys=(KEY,)))) as client:
        client.post("/rerank", json=BODY)
        client.post("/v1/rerank", json=BODY, headers={"Authorization": f"Bearer {KEY}"})
        client.get("/openapi.json")
        client.get("/a-secret")
        client.get("/v1/jobs/a-secret")
        page = client.get("/metrics").text
    for path, status in (("/rerank", 401), ("/v1/rerank", 413), ("other", 401), ("/v1/jobs/{id}", 401)):
        assert f'demur_requests_total{{path="{path}",status="{status}"}} 1.0' in page
    assert 'demur_requests_total{path="/openapi.json",status="200"} 1.0' in page
    assert "a-secret" not in page


def test_keys_are_lines_without_comments() -> None:
    assert keys_in(["# ours", " one ", "", "two\n"]) == ("one", "two")


LARGE = Rules(body=15)
FULL = Rules(bodies=15)
SLOW = Rules(seconds=0.0)
LOCKED = Rules(keys=("a key",))


@pytest.mark.parametrize(("rules", "status"), [(LARGE, "413"), (FULL, "429"), (SLOW, "408"), (LOCKED, "401")])
@pytest.mark.parametrize("waits", [False, True])
def test_the_rest_of_a_refused_body_is_let_come(rules: Rules, status: str, waits: bool) -> None:
    """But not if its client still waits to be told to send it."""
    events: list[str] = []
    parts = iter([b"x" * 10, b"x" * 10, b""])

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError("a refused body is not for the app")

    async def receive() -> Message:
        await asyncio.sleep(0.001)
        part = next(parts)
        events.append("read")
        return {"type": "http.request", "body": part, "more_body": bool(part)}

    async def send(message: Message) -> None:
        events.append(str(message.get("status", "")))

    sent = [(b"host", b"localhost"), *([(b"expect", b"100-continue")] if waits else [])]
    scope = {"type": "http", "method": "POST", "path": "/rerank", "headers": sent}
    asyncio.run(Shield(app, rules)(scope, receive, send))
    at = events.index(status)
    assert events[:at] == ["read"] * at and at == (0 if waits and status == "401" else 3)
