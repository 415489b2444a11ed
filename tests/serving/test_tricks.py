"""What a hostile client sends to a running server over a base: bombs, paths for names, bodies without end."""

from __future__ import annotations

import gzip
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import httpx2 as httpx
import pytest

from demur.kb.store.folder import UPLOADS
from demur.serving.answering.service import Service
from demur.serving.paths import documents
from kb_files import docx, paragraph
from serving.based import made, unembedded
from serving.made import live

__all__ = ["unembedded"]  # a fixture
pytestmark = pytest.mark.usefixtures("unembedded")
ZEROS = b"\0" * (3 << 20)
HEAD = "POST /v1/documents?name=a.md HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[httpx.Client]:
    """A client of it; afterwards it is well, and its base and its folder hold what they held before."""
    monkeypatch.setenv("DEMUR_READ_UNPACKED", "2")
    monkeypatch.setattr(documents, "_WAIT", 60.0)  # what is refused is told at once, on a slow machine too
    path = made(tmp_path / "in" / "here")
    with live(Service.over(path, None, "bm25")) as (port, _):
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            before = client.get("/v1/documents").json()
            files = there(tmp_path)
            yield client
            assert client.get("/health").status_code == 200
            assert client.get("/v1/documents").json() == before
        assert there(tmp_path) == files
        assert not list((path / UPLOADS).glob("*"))


def there(folder: Path) -> list[Path]:
    """All files that are no part of an index."""
    found = (each for each in folder.rglob("*") if each.is_file())
    return sorted(each for each in found if not {"words", UPLOADS} & {*each.parts})


def lying(packed: bytes, says: int) -> bytes:
    """An archive whose parts say that they are so large, whatever they unpack to."""
    out, size = bytearray(packed), struct.pack("<I", says)
    for mark, at in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        found = out.find(mark)
        while found >= 0:
            out[found + at : found + at + 4] = size
            found = out.find(mark, found + 4)
    return bytes(out)


def dropped(client: httpx.Client, name: str, body: bytes) -> str:
    """Why a file is refused, as one line."""
    answer = client.post("/v1/documents", params={"name": name}, content=body)
    assert answer.status_code == 422, answer.text
    message: str = answer.json()["message"]
    assert name in message and len(message.splitlines()) == 1
    return message


@pytest.mark.parametrize("part", ["word/media/picture.png", "word/document.xml"])
def test_a_docx_that_unpacks_to_too_much_is_refused(server: httpx.Client, part: str) -> None:
    pytest.importorskip("mammoth")
    bomb = docx(paragraph("One."), {part: ZEROS})
    assert len(bomb) < 10_000
    assert "unpacks to more than 2 MB" in dropped(server, "bomb.docx", bomb)


def test_a_docx_that_lies_about_its_size_is_refused(server: httpx.Client) -> None:
    pytest.importorskip("mammoth")
    bomb = lying(docx("", {"word/document.xml": paragraph("One.").encode() + ZEROS}), 100)
    assert "unpacks to more" not in dropped(server, "bomb.docx", bomb), "it says that it is small"


def test_a_packed_bomb_is_not_unpacked(server: httpx.Client) -> None:
    bomb, headers = (
        gzip.compress(ZEROS * 10),
        {"Content-Encoding": "gzip", "Content-Type": "application/json"},
    )
    for path in ("/rerank", "/v1/ask", "/", "/v1/labels", "/v1/documents?name=a.md"):
        assert server.post(path, content=bomb, headers=headers).status_code == 415, path
    assert "is compressed" in dropped(server, "a.md", bomb)
    assert (
        server.post("/rerank", content=bomb, headers={"Content-Type": "application/json"}).status_code == 422
    )


@pytest.mark.parametrize("coding", ["gzip", "gzip, chunked"])
def test_a_body_packed_for_the_transfer_is_refused(server: httpx.Client, coding: str) -> None:
    assert raw(server, f"{HEAD}Transfer-Encoding: {coding}\r\n\r\n".encode()) in (400, 415, 501)


@pytest.mark.parametrize(
    "name",
    [
        "..%2f..%2fa.md",
        "%2e%2e/a.md",
        "%252e%252e%252fa.md%2f..%2fb.md",
        "..%5c..%5ca.md",
        "%2fetc%2fcron.d%2fa.md",
        "C:%5ca.md",
        "file:%2f%2f%2fetc%2fa.md",
        "a.md%00.png",
        "a%0d%0ab.md",
        "%c0%ae%c0%ae%c0%afa.md",
        "%EF%BC%8E%EF%BC%8E%2fa.md",
        ".ssh.md",
        "kb.sqlite",
        "gate.json",
        "a.md&name=..%2fb.md",
    ],
)
def test_a_name_is_never_a_path(server: httpx.Client, name: str) -> None:
    head = f"POST /v1/documents?name={name} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nWord."
    assert raw(server, head.encode()) == 422


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../../../../../../etc/passwd",
        "/assets/..%2f..%2f..%2fserver.py",
        "/assets/%2e%2e/%2e%2e/server.py",
        "/assets//etc/passwd",
        "/assets/..\\server.py",
        "//etc/passwd",
        "/v1/jobs/..%2f..%2fkb.sqlite",
    ],
)
def test_no_path_leads_to_other_files(server: httpx.Client, path: str) -> None:
    assert raw(server, f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()) == 404


def test_a_document_without_end_is_stopped_at_the_limit(server: httpx.Client) -> None:
    """A gigabyte in small pieces: some 16 MB and what lies in the buffers is taken, and no more."""
    taken, piece = 0, b"1000\r\n" + b"word " * 819 + b"\n\r\n"
    with socket.create_connection((server.base_url.host, server.base_url.port)) as sent:
        sent.sendall(f"{HEAD}Transfer-Encoding: chunked\r\n\r\n".encode())
        try:
            while taken < 1_000_000_000:
                sent.sendall(piece)
                taken += 4096
        except OSError:
            pass
    assert 16_000_000 < taken < 100_000_000


def raw(client: httpx.Client, sent: bytes) -> int:
    """The status of the answer to these very bytes."""
    with socket.create_connection((client.base_url.host, client.base_url.port), timeout=60) as asking:
        asking.sendall(sent)
        return int(asking.recv(1000).split()[1])
