"""What is no HTTP is refused in the one shape of all refusals, and its connection is closed."""

from __future__ import annotations

import json
import logging
import socket

import pytest

from serving.made import live, service

POST = b"POST /rerank HTTP/1.1\r\nHost: localhost\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
BAD = {
    "garbage": b"\x16\x03\x01\x02\x00\x01\r\n\r\n",
    "no host": b"GET /health HTTP/1.1\r\n\r\n",
    "no number": POST + b"Content-Length: many\r\n\r\n",
    "two lengths": POST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
    "bad chunk": POST + CHUNKED + b"\r\nzz\r\n{}",
    "long header": POST + b"X-Long: " + b"x" * 100_000,
    "length and chunks": POST + b"Content-Length: 2\r\n" + CHUNKED + b"\r\n2\r\n{}\r\n0\r\n\r\n",
}


def said(port: int, sent: bytes) -> bytes:
    """All that is answered until the connection is closed."""
    told = b""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        client.sendall(sent)
        while part := client.recv(10_000):
            told += part
    return told


def test_what_is_no_http_is_refused_like_all_else(caplog: pytest.LogCaptureFixture) -> None:
    with live(service()) as (port, _), caplog.at_level(logging.ERROR):
        for name, sent in BAD.items():
            head, _, body = said(port, sent).partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 400") and b"connection: close" in head.lower(), name
            told = json.loads(body)
            assert told["message"] == told["detail"] == told["error"], name
            assert told["error_type"] == "BadRequest", name
        assert said(port, b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").startswith(
            b"HTTP/1.1 200"
        )
    assert not caplog.records


def test_who_asks_for_another_protocol_is_answered_over_http(caplog: pytest.LogCaptureFixture) -> None:
    """And the log advises nothing."""
    asks = b"Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    with live(service()) as (port, _), caplog.at_level(logging.WARNING):
        told = said(port, b"GET /health HTTP/1.1\r\nHost: x\r\n" + asks + b"\r\n")
    assert told.startswith(b"HTTP/1.1 200") and not caplog.records
