"""Files that wait or are half-written: the next server takes them in, and nothing of the others stays."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from demur.errors import UnusableBase
from demur.kb.store.folder import UPLOADS
from demur.serving.guards import uploads
from demur.serving.server import Settings
from serving.based import answered, made, serving, unembedded
from serving.made import wait_until

__all__ = ["unembedded"]  # a fixture
TEXT = b"It costs 3 euros.\n"


@pytest.mark.usefixtures("unembedded")
@pytest.mark.parametrize("written", [0, 1, 2])
def test_what_does_not_fit_on_the_disk_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: int
) -> None:
    path, calls = made(tmp_path), list[int]()

    def full(at: int) -> None:
        calls.append(at)
        if len(calls) > written:
            raise OSError(errno.ENOSPC, "No space left on device")

    with serving(path) as client:
        with monkeypatch.context() as broken:
            broken.setattr(os, "fsync", full)
            answer = client.post("/v1/documents", params={"name": "price.md"}, content=TEXT)
        assert answer.status_code == 503 and "No space left" in answer.json()["message"]
    assert len(calls) == written + 1
    assert not list((path / UPLOADS).iterdir())


def test_old_halves_are_removed_and_all_else_stays(tmp_path: Path) -> None:
    old = uploads.spooled(tmp_path, "price.md", TEXT)
    halves = [tmp_path / f"{letter * 24}.{kind}" for letter, kind in (("a", "md"), ("b", "json"))]
    being_written = [tmp_path / f"{letter * 24}.{kind}" for letter, kind in (("c", "md"), ("d", "json"))]
    another = tmp_path / "notes.txt"
    for each in (*halves, *being_written, another):
        each.write_text('{"name": "pri', "utf-8")
    for each in (old.path, old.note, *halves, another):
        os.utime(each, (0, 0))
    assert [each.path for each in uploads.left(tmp_path)] == [old.path]
    assert sorted(tmp_path.iterdir()) == sorted([old.path, old.note, *being_written, another])


def test_a_folder_that_cannot_be_made_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(UnusableBase):
        uploads.spooled(tmp_path / "nowhere" / UPLOADS, "price.md", TEXT)
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("unembedded")
def test_what_was_sent_before_a_kill_is_taken_in_after_it(tmp_path: Path) -> None:
    path = made(tmp_path)
    uploads.spooled(path / UPLOADS, "price.md", TEXT)  # and then the server was killed
    (path / UPLOADS / "half.json").write_text('{"name": "ha', "utf-8")
    with serving(path) as client:
        wait_until(lambda: client.get("/v1/documents").json()["total"] == 2)
        assert answered(client, "How many euros does it cost?") == "It costs 3 euros."


@pytest.mark.usefixtures("unembedded")
def test_a_server_to_read_from_says_what_it_leaves(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = made(tmp_path)
    uploads.spooled(path / UPLOADS, "price.md", TEXT)
    with serving(path, Settings(read_only=True)) as client:
        assert client.get("/v1/documents").json()["total"] == 1
    assert "left for a start without --read-only: 1 change sent before the server was stopped" in caplog.text
    assert len(uploads.left(path / UPLOADS)) == 1
