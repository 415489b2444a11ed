"""A base that is gone or may not be written: nothing is told as kept, and no path of the server is told."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from demur.kb.store import schema
from serving.based import made, serving, unembedded
from serving.made import server_of

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
