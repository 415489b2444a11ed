"""Servers over a knowledge base, for tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from httpx2 import Response
from starlette.testclient import TestClient

from demur.kb.folder import KnowledgeBase
from demur.serving.answering.service import Service
from demur.serving.paths import documents
from demur.serving.server import Settings
from serving.made import asked, wait_until

TOOLS = [f"tool{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(120)]
"""Words that occur in one passage each."""


def lines(names: list[str]) -> str:
    """A paragraph for each tool."""
    return "".join(f"A {name} is lent for {n + 2} days.\n\n" for n, name in enumerate(names))


def made(folder: Path, texts: dict[str, str] | None = None) -> Path:
    """A base with files of its own folder."""
    files = folder / "files"
    files.mkdir(parents=True, exist_ok=True)
    for name, text in (texts or {"saws.md": "# Saws\n\nSaws are lent for three weeks.\n"}).items():
        (files / name).write_text(text, "utf-8")
    path = folder / "tools.kb"
    kb = KnowledgeBase(path)
    kb.add(files)
    kb.close()
    return path


@contextmanager
def serving(path: str | Path, settings: Settings | None = None, lapse: float = 0.2) -> Iterator[TestClient]:
    """A client of a server over a base, which ranks by words."""
    with asked(lambda: Service.over(path, None, "bm25", lapse=lapse), settings) as client:
        yield client


@pytest.fixture
def unembedded(monkeypatch: pytest.MonkeyPatch) -> None:
    """No vectors are made: most tests need none."""
    monkeypatch.setattr(documents, "_embed", lambda server, base: 0)


def over(client: TestClient, job: str) -> dict[str, object]:
    """The result of a job, once it is over."""
    told: dict[str, object] = {}

    def there() -> bool:
        told.update(client.get(f"/v1/jobs/{job}").json())
        return told["state"] != "running"

    wait_until(there)
    return told


def put(client: TestClient, name: str, text: str | bytes) -> dict[str, object]:
    """What became of a document that was sent."""
    body = text.encode() if isinstance(text, str) else text
    return settled(client, client.post("/v1/documents", params={"name": name}, content=body), 201)


def answered(client: TestClient, question: str) -> str | None:
    """The text that answers a question; None where nothing does."""
    told = client.post("/v1/ask", json={"question": question}).json()
    text: str | None = None if told["abstained"] else told["answer"]["text"]
    return text


def drop(client: TestClient, name: str) -> dict[str, object]:
    """What became of a document that was to be deleted, however long that took."""
    return settled(client, client.delete("/v1/documents", params={"name": name}), 200)


def settled(client: TestClient, answer: Response, done: int) -> dict[str, object]:
    """What an answer says, or the job that it names, once that is over."""
    assert answer.status_code in (done, 202), answer.text
    told: dict[str, object] = answer.json()
    if answer.status_code == done:
        return told
    found = over(client, str(told["id"]))["result"]
    assert isinstance(found, dict)
    return found
