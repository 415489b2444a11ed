"""Changes that wait for others who write: made in the order of their answers, and readers go on."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from demur.errors import UnusableBase, UsageError
from demur.kb.folder import KnowledgeBase
from demur.kb.passages import Passage
from demur.kb.sources.reports import FileReport
from demur.kb.store.folder import UPLOADS
from demur.serving.answering.service import Service
from demur.serving.app import create_app
from demur.serving.guards import uploads
from demur.serving.guards.uploads import Sent, Upload
from demur.serving.paths import documents
from demur.serving.process import writer
from serving.based import answered, made, over, serving, unembedded
from serving.made import HERE, server_of, wait_until

__all__ = ["unembedded"]  # a fixture
pytestmark = pytest.mark.usefixtures("unembedded")
PRICE = {"name": "price.md"}
ASKED = "What does it cost?"
THREADS = 40  # more than asyncio has for all the work that is done aside


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever changes the base is told the job, and does not wait for it."""
    monkeypatch.setattr(documents, "_WAIT", 0.0)


def send(client: TestClient, euros: int) -> str:
    """The job of a document that is sent."""
    sent = client.post("/v1/documents", params=PRICE, content=f"It costs {euros} euros.\n".encode())
    assert sent.status_code == 202
    return str(sent.json()["id"])


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("last", ["sent", "removed"])
def test_what_found_another_writing_is_not_overtaken_by_what_came_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: str
) -> None:
    put, tried = KnowledgeBase.put, list[str]()

    def busy_at_first(kb: KnowledgeBase, name: str, *given: object) -> FileReport:
        tried.append(name)
        if len(tried) == 1:
            raise UsageError("tools.kb: another process writes to it; try again when it is done")
        return put(kb, name, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(writer, "_PAUSE", 0.3)
    monkeypatch.setattr(KnowledgeBase, "put", busy_at_first)
    with serving(made(tmp_path)) as client:
        jobs = [send(client, 3), send(client, 5)]
        if last == "sent":
            jobs.append(send(client, 9))
        else:
            jobs.append(client.delete("/v1/documents", params=PRICE).json()["id"])
        assert [over(client, job)["state"] for job in jobs] == ["done"] * 3
        names = [each["name"] for each in client.get("/v1/documents").json()["documents"]]
        assert ("price.md" in names) is (last == "sent")
        assert (answered(client, ASKED) == "It costs 9 euros.") is (last == "sent")
        assert not list((tmp_path / "tools.kb" / UPLOADS).iterdir())


@pytest.mark.usefixtures("at_once")
def test_what_waits_takes_no_thread_from_those_who_read(tmp_path: Path) -> None:
    with serving(made(tmp_path)) as client:
        with server_of(client).base()._writing:  # as if another process wrote
            jobs = [send(client, euros) for euros in range(THREADS)]
            for path in ("/v1/documents", "/v1/labels", "/v1/labels/next", "/info"):
                assert client.get(path).status_code == 200, path
            assert len(client.get("/v1/documents").json()["jobs"]) == THREADS
        assert [over(client, job)["state"] for job in jobs] == ["done"] * THREADS
        assert answered(client, ASKED) == f"It costs {THREADS - 1} euros."


@pytest.mark.usefixtures("at_once")
def test_so_many_changes_may_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_MOST", 2)
    with serving(made(tmp_path)) as client:
        with server_of(client).base()._writing:
            jobs = [send(client, 3), send(client, 5)]
            for refused in (
                client.post("/v1/documents", params=PRICE, content=b"It costs 9 euros.\n"),
                client.delete("/v1/documents", params=PRICE),
                client.post("/v1/documents/update"),
            ):
                assert refused.status_code == 429 and int(refused.headers["Retry-After"]) > 0
                assert "2 changes are waiting" in refused.json()["message"]
        assert [over(client, job)["state"] for job in jobs] == ["done"] * 2
        assert answered(client, ASKED) == "It costs 5 euros."


@pytest.mark.usefixtures("at_once")
def test_what_another_server_has_taken_in_is_done(tmp_path: Path) -> None:
    path = made(tmp_path)
    with serving(path) as client:
        with server_of(client).base()._writing:
            jobs = [send(client, 3), send(client, 5)]
            other = KnowledgeBase(path)
            taken = [upload.put(other) for upload in uploads.left(path / UPLOADS)]
            assert [each and each.status for each in taken] == ["added"]
            other.close()
        for job in jobs:
            told = over(client, job)
            assert told["state"] == "done" and told["error"] is None
            assert isinstance(told["result"], dict) and told["result"]["status"] == "overtaken"
        assert answered(client, ASKED) == "It costs 5 euros."


def test_what_another_took_in_while_it_was_read_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, read = made(tmp_path), Upload.read
    upload = uploads.spooled(path / UPLOADS, "price.md", b"It costs 3 euros.\n")

    def taken_meanwhile(self: Upload) -> list[Passage]:
        found = read(self)
        self.drop()
        return found

    monkeypatch.setattr(Upload, "read", taken_meanwhile)
    kb = KnowledgeBase(path)
    before = kb.generation
    assert upload.put(kb) is None
    kb.refresh()
    assert kb.generation == before and len(kb.sources()) == 1
    shutil.rmtree(path)
    with pytest.raises(UnusableBase, match="is gone"):  # not told as done
        upload.put(kb)
    with suppress(UnusableBase):
        kb.close()


def test_a_removal_that_was_left_is_made_at_the_next_start(tmp_path: Path) -> None:
    path = made(tmp_path)
    uploads.removal(path / UPLOADS, f"{tmp_path}/files/saws.md")  # of a file by its path, and then a kill
    uploads.spooled(path / UPLOADS, "price.md", b"It costs 3 euros.\n")
    uploads.removal(path / UPLOADS, "price.md")
    uploads.spooled(path / UPLOADS, "price.md", b"It costs 9 euros.\n")
    with serving(path) as client:
        wait_until(lambda: not client.get("/v1/documents").json()["jobs"])
        names = [each["name"] for each in client.get("/v1/documents").json()["documents"]]
        assert names == ["price.md"] and answered(client, ASKED) == "It costs 9 euros."
    assert not list((path / UPLOADS).iterdir())


@pytest.mark.usefixtures("at_once")
def test_a_removal_is_kept_when_the_server_is_stopped_while_another_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(kb: KnowledgeBase, sources: object) -> list[FileReport]:
        raise UsageError("tools.kb: another process writes to it; try again when it is done")

    path, name = made(tmp_path), f"{tmp_path}/files/saws.md"
    with monkeypatch.context() as held, serving(path) as client:
        held.setattr(KnowledgeBase, "remove", busy)
        assert client.delete("/v1/documents", params={"name": name}).status_code == 202
    with serving(path) as client:
        wait_until(lambda: not client.get("/v1/documents").json()["documents"])
    assert not list((path / UPLOADS).iterdir())


@pytest.mark.usefixtures("at_once")
def test_what_another_server_has_removed_is_done(tmp_path: Path) -> None:
    path, name = made(tmp_path), f"{tmp_path}/files/saws.md"
    with serving(path) as client:
        with server_of(client).base()._writing:
            job = client.delete("/v1/documents", params={"name": name}).json()["id"]
            other = KnowledgeBase(path)
            (removal,) = uploads.left(path / UPLOADS)
            assert removal.put(other) is not None
            other.put(name, [Passage("saws", "Saws are lent for two days.")])
            other.close()
        told = over(client, job)
        assert told["state"] == "done" and isinstance(told["result"], dict)
        assert told["result"]["status"] == "overtaken"
        assert [each["name"] for each in client.get("/v1/documents").json()["documents"]] == [name]


def test_what_was_left_goes_in_before_anything_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, left, seen = made(tmp_path), uploads.left, list[object]()
    uploads.spooled(path / UPLOADS, "price.md", b"It costs 3 euros.\n")
    app = create_app(lambda: Service.over(path, None, "bm25"))

    def looked(folder: Path) -> list[Sent]:
        seen.append(app.state.server.service)
        return left(folder)

    monkeypatch.setattr(uploads, "left", looked)
    with TestClient(app, base_url=HERE) as client:
        wait_until(lambda: app.state.server.service is not None)
        sent = client.post("/v1/documents", params=PRICE, content=b"It costs 9 euros.\n")
        assert sent.is_success and seen == [None]
        wait_until(lambda: not client.get("/v1/documents").json()["jobs"])
        assert answered(client, ASKED) == "It costs 9 euros."


def test_a_folder_that_is_gone_is_told_once_by_its_name(tmp_path: Path) -> None:
    path = made(tmp_path)
    (tmp_path / "files").rename(tmp_path / "away")
    with serving(path) as client:
        told = over(client, client.post("/v1/documents/update").json()["id"])
    (why,) = told["result"]["why_skipped"]  # type: ignore[index]
    assert why.startswith(f"{tmp_path / 'files'}: is gone; put it back") and why.count("files") == 1
