"""A base that is gone or may not be written: nothing is told as kept, and no path of the server is told."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from demur.errors import UnusableBase
from demur.kb.folder import KnowledgeBase
from demur.kb.store import schema
from demur.kb.store.folder import UPLOADS
from demur.serving.guards import uploads
from demur.serving.paths import documents
from serving.based import answered, made, serving, unembedded
from serving.made import server_of, wait_until

__all__ = ["unembedded"]  # a fixture


def changes(client: TestClient) -> dict[str, tuple[int, str]]:
    """The status and the message of each request that changes the base."""
    document = {"name": "kayaks.md"}
    answers = {
        "add": client.post("/v1/documents", params=document, content=b"# Kayaks\n\nA kayak is lent.\n"),
        "label": client.post("/v1/labels", json={"question": "Is a kayak lent?", "right": []}),
        "question": client.post("/v1/questions", json={"questions": ["Is a kayak lent?"]}),
        "update": client.post("/v1/documents/update"),
        "calibrate": client.post("/v1/calibrate", json={}),
    }
    return {name: (answer.status_code, answer.json()["message"]) for name, answer in answers.items()}


@pytest.mark.usefixtures("unembedded")
def test_a_base_that_was_deleted_takes_no_change_and_answers_nothing(tmp_path: Path) -> None:
    path = made(tmp_path)
    with serving(path) as client:
        shutil.rmtree(path)
        told = changes(client) | {
            "ask": (
                (answer := client.post("/v1/ask", json={"question": "How long are saws lent?"})).status_code,
                answer.json()["message"],
            )
        }
        for name, (status, message) in told.items():
            assert status == 503 and "is gone" in message and str(tmp_path) not in message, (name, message)
    assert not path.exists()


@pytest.mark.usefixtures("unembedded")
def test_a_base_that_may_not_be_written_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(tmp_path)
    with serving(path) as client:
        monkeypatch.setattr(schema, "may_write", lambda path: False)
        monkeypatch.setattr(Path, "mkdir", _forbidden)
        service = server_of(client).service
        assert service is not None and service.base is not None
        service.base.looked(lambda kb: kb._truth().rows("PRAGMA query_only = ON"))
        for name, (status, message) in changes(client).items():
            assert status == 503 and "may not be written" in message, (name, message)
            assert str(tmp_path) not in message, name
        assert client.post("/v1/ask", json={"question": "How long are saws lent?"}).status_code == 200


@pytest.mark.usefixtures("unembedded")
def test_what_was_refused_is_not_taken_in_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, document = made(tmp_path), {"name": "price.md"}
    with serving(path) as client:
        with monkeypatch.context() as broken:
            broken.setattr(KnowledgeBase, "put", _unreachable)
            refused = client.post("/v1/documents", params=document, content=b"It costs 5 euros.\n")
        assert refused.status_code == 503
        assert not list((path / UPLOADS).iterdir())


@pytest.mark.usefixtures("unembedded")
@pytest.mark.parametrize("newer", [b"It costs 9 euros.\n", b""])
def test_what_was_taken_for_later_gives_way_to_what_was_sent_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, newer: bytes
) -> None:
    path, document = made(tmp_path), {"name": "price.md"}
    with serving(path) as client:
        assert client.post("/v1/documents", params=document, content=b"It costs 3 euros.\n").is_success
        with monkeypatch.context() as broken:
            broken.setattr(KnowledgeBase, "put", _unreachable)
            broken.setattr(documents, "_WAIT", 0.0)
            later = client.post("/v1/documents", params=document, content=b"It costs 5 euros.\n")
            assert later.status_code == 202
            wait_until(lambda: client.get(later.headers["Location"]).json()["state"] == "failed")
        assert len(list((path / UPLOADS).iterdir())) == 2, "the file, and what it is called"
        if newer:
            assert client.post("/v1/documents", params=document, content=newer).is_success
        else:
            assert client.delete("/v1/documents", params=document).is_success
    with serving(path) as client:
        wait_until(lambda: not client.get("/v1/documents").json()["jobs"])
        names = [each["name"] for each in client.get("/v1/documents").json()["documents"]]
        assert ("price.md" in names) is bool(newer)
        assert not newer or answered(client, "What does it cost?") == "It costs 9 euros."


def test_of_two_that_wait_the_last_is_taken_in(tmp_path: Path) -> None:
    for text in (b"It costs 5 euros.", b"It costs 7 euros.", b"It costs 9 euros."):
        uploads.spooled(tmp_path, "price.md", text)
    uploads.spooled(tmp_path, "other.md", b"Saws.")
    left = uploads.left(tmp_path)
    assert [each.path.read_bytes() for each in left] == [b"It costs 9 euros.", b"Saws."]
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.usefixtures("unembedded")
def test_a_fault_of_the_server_is_not_told_as_one_of_the_client(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = made(tmp_path)
    with serving(path) as client:
        monkeypatch.setattr(KnowledgeBase, "put", lambda *given: 1 / 0)
        failed = client.post("/v1/documents", params={"name": "price.md"}, content=b"It costs 5 euros.")
        assert failed.status_code == 500 and "see its log" in failed.json()["message"]
        assert not list((path / UPLOADS).iterdir())


def _unreachable(*given: object, **named: object) -> None:
    raise UnusableBase("is out of reach", path="tools.kb", fix="try again later")


def _forbidden(*given: object, **named: object) -> None:
    raise PermissionError(13, "Permission denied")


@pytest.mark.usefixtures("unembedded")
def test_one_gate_is_calibrated_at_a_time(tmp_path: Path) -> None:
    with serving(made(tmp_path)) as client:
        jobs = server_of(client).jobs

        async def lasting(job: object) -> dict[str, object]:
            import asyncio

            await asyncio.sleep(60)
            return {}

        async def start() -> None:
            jobs.start("calibrate", "0.2", lasting)

        assert client.portal is not None
        client.portal.call(start)
        answer = client.post("/v1/calibrate", json={})
        assert answer.status_code == 429 and "already" in answer.json()["message"]
        client.portal.call(_stopped, jobs)


async def _stopped(jobs: object) -> None:
    for job in jobs.running():  # type: ignore[attr-defined]
        job.task.cancel()
