"""One writes to a folder at a time, and readers see what the index of words holds."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from filelock import FileLock

from demur.errors import UsageError
from demur.kb import syncing
from demur.kb.files.documents import read_documents
from demur.kb.folder import KnowledgeBase
from demur.kb.passages import Passage
from kb.base_toys import Hashing, folder, found, write


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    write(tmp_path / "docs", {"a.md": "# Loans\n\nA drill may be kept for one week.\n"})
    return tmp_path / "docs"


@pytest.fixture
def kb(tmp_path: Path, docs: Path) -> KnowledgeBase:
    made = KnowledgeBase(tmp_path / "x.kb")
    made.add(docs)
    made.embed(Hashing())
    return made


def test_one_generation_is_read_while_another_process_writes(kb: KnowledgeBase, docs: Path) -> None:
    other = KnowledgeBase(folder(kb), wait=0.1)
    before, drill = other.generation, found(other, "keep a drill")
    with FileLock(folder(kb) / ".write.lock"):  # as if killed, or stopped, between truth and index
        write(docs, {"a.md": "# Loans\n\nNo drill is lent any more.\n"})
        list(syncing.updated(kb._truth()))
        other.refresh()
        assert other.generation == before and found(other, "keep a drill") == drill
    other.refresh()
    assert other.generation == before + 1
    assert "No drill" in other.passage(int(other.by_words("lent any more", 1)[0][0])).text


def test_a_file_is_read_before_anybody_has_to_wait(
    kb: KnowledgeBase, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = list[int]()

    def parsed(path: Path) -> Iterator[Passage]:
        with closing(KnowledgeBase(folder(kb), wait=0.1)) as other:
            kept.append(other.keep_questions([f"what is in {path.name}?"]))
        yield from read_documents(path)

    monkeypatch.setattr(syncing, "read_documents", parsed)
    write(docs, {"b.md": "# Hours\n\nOpen on Sundays.\n"})
    assert [each.status for each in kb.add(docs)] == ["unchanged", "added"]
    assert kept == [1] and len(kb.sources()) == 2


def test_two_that_write_wait_for_each_other(
    kb: KnowledgeBase, docs: Path, caplog: pytest.LogCaptureFixture
) -> None:
    other = KnowledgeBase(folder(kb), wait=0.2)
    with (
        FileLock(folder(kb) / ".write.lock"),
        caplog.at_level(logging.WARNING),
        pytest.raises(UsageError) as error,
    ):
        other.add(docs)
    assert "another process writes to it" in str(error.value) and "waiting" in caplog.text
