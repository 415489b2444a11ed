"""A base that is gone, is another by now, or may not be written takes no change and says so."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from demur.errors import LostBase, ReadOnlyBase
from demur.kb.folder import KnowledgeBase
from demur.kb.passages import Passage
from demur.kb.store import schema
from kb.base_toys import CHANGES, Hashing, folder, held, write

WRITES: dict[str, Callable[[KnowledgeBase], object]] = {
    "add": lambda kb: kb.add(folder(kb).parent / "docs" / "b.txt"),
    "settle": lambda kb: kb.settle("what is lent?", []),
    **CHANGES,
}


@pytest.fixture
def kb(tmp_path: Path) -> KnowledgeBase:
    write(tmp_path / "docs", {"a.txt": "A drill is lent.\n\nA saw is not.", "b.txt": "It rained all day."})
    made = KnowledgeBase(tmp_path / "x.kb")
    made.add(tmp_path / "docs" / "a.txt")
    made.put("one", [Passage("1", "A rake is lent.")])
    made.label("was it lent?", None, 0)
    return made


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_base_whose_folder_is_gone_takes_no_change(
    kb: KnowledgeBase, write: Callable[[KnowledgeBase], object]
) -> None:
    shutil.rmtree(folder(kb))
    with pytest.raises(
        LostBase, match=r"x\.kb: is gone: there is no kb\.sqlite any more; put it back"
    ) as error:
        write(kb)
    assert str(folder(kb).parent) not in error.value.said and "\n" not in str(error.value)
    assert not folder(kb).exists()


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_base_that_was_replaced_by_another_takes_no_change(
    kb: KnowledgeBase, write: Callable[[KnowledgeBase], object], tmp_path: Path
) -> None:
    shutil.copytree(folder(kb), tmp_path / "copy.kb")
    folder(kb).rename(tmp_path / "before.kb")
    (tmp_path / "copy.kb").rename(folder(kb))
    before = held(KnowledgeBase(folder(kb)))
    with pytest.raises(LostBase, match="was replaced by another since it was opened; open it again"):
        write(kb)
    again = KnowledgeBase(folder(kb))
    assert held(again) == before and len(again.labels()) == 1 and not again.questions()


def test_a_base_that_goes_while_a_file_is_read_takes_nothing_of_it(kb: KnowledgeBase, tmp_path: Path) -> None:
    def gone(_: int) -> None:
        folder(kb).rename(tmp_path / "moved.kb")

    with pytest.raises(LostBase):
        kb.add(tmp_path / "docs" / "b.txt", gone)
    assert "b.txt" not in held(KnowledgeBase(tmp_path / "moved.kb")) and not folder(kb).exists()


@pytest.mark.parametrize("empty", [False, True])
def test_a_base_without_its_file_says_what_is_lost_and_is_made_anew(
    kb: KnowledgeBase, caplog: pytest.LogCaptureFixture, empty: bool
) -> None:
    kb.embed(Hashing())
    kb.close()
    (folder(kb) / schema.NAME).unlink()
    if empty:  # as a crash or a full disk may leave it
        (folder(kb) / schema.NAME).touch()
    else:
        (folder(kb) / f"{schema.NAME}-wal").write_bytes(b"of before")
    for change in WRITES.values():
        if change not in (WRITES["add"], WRITES["put"]):
            with pytest.raises(LostBase, match=r"x\.kb: has lost its kb\.sqlite.*make the base anew"):
                change(KnowledgeBase(folder(kb)))
    broken = folder(kb).parent / "docs" / "c.csv"
    broken.write_text("no,such\ncolumns,here", "utf-8")
    before = sorted(folder(kb).iterdir())
    assert [each.status for each in KnowledgeBase(folder(kb)).add(broken)] == ["skipped"]
    assert [each for each in before if each.suffix != ".sqlite-wal"] == sorted(folder(kb).iterdir())
    again = KnowledgeBase(folder(kb))
    assert [each.status for each in again.add(folder(kb).parent / "docs" / "a.txt")] == ["added"]
    assert "kb.sqlite was gone; the base is made anew, without its labels" in caplog.text
    assert held(again) == {"a.txt": ["A drill is lent.", "A saw is not."]} and not again.labels()
    assert again.embed(Hashing()) == 2 and again.embedded == 2


def test_a_new_base_that_goes_while_its_first_file_is_read_leaves_another_alone(
    kb: KnowledgeBase, tmp_path: Path
) -> None:
    new = KnowledgeBase(tmp_path / "new.kb")

    def replaced(_: int) -> None:
        folder(new).rename(tmp_path / "moved.kb")
        folder(kb).rename(folder(new))

    with pytest.raises(LostBase):
        new.add(tmp_path / "docs" / "b.txt", replaced)
    assert set(held(KnowledgeBase(new.path))) == {"a.txt", "one"}


def test_a_base_that_is_moved_away_and_back_goes_on(kb: KnowledgeBase, tmp_path: Path) -> None:
    folder(kb).rename(tmp_path / "moved.kb")
    (tmp_path / "moved.kb").rename(folder(kb))
    kb.label("what is lent?", None, 0)
    assert len(KnowledgeBase(folder(kb)).labels()) == 2


@pytest.mark.parametrize("write", [WRITES[each] for each in WRITES if each != "refresh"])
def test_a_base_that_may_not_be_written_says_so_without_its_path(
    kb: KnowledgeBase, write: Callable[[KnowledgeBase], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    kb.close()
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and real(path, mode))
    with pytest.raises(ReadOnlyBase, match=r"x\.kb: may not be written; change the permissions") as error:
        write(KnowledgeBase(folder(kb)))
    assert error.value.said == "the knowledge base may not be written; change the permissions of its folder"


@contextmanager
def _reading(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A block in which nothing may be written: no file of a base, and none beside it that readers share."""
    may, connect = os.access, sqlite3.connect

    def refused(place: str, **how: Any) -> Any:
        if place.endswith("?mode=ro"):
            raise sqlite3.OperationalError("unable to open database file")
        return connect(place, **how)

    with monkeypatch.context() as reading:
        reading.setattr(os, "access", lambda path, mode: mode != os.W_OK and may(path, mode))
        reading.setattr(sqlite3, "connect", refused)
        yield


def test_who_may_only_read_sees_what_others_write(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    kb.embed(Hashing())
    kb.close()
    with _reading(monkeypatch):
        reader = KnowledgeBase(folder(kb))
        before = len(reader), reader.embedded
    writer = KnowledgeBase(folder(kb))
    for turn in range(3):
        writer.put("many", (Passage(str(n), f"Plane {n} is lent, {turn}. " * 9) for n in range(300)))
    writer.embed(Hashing())
    writer.close()  # all goes into the file that is read
    with _reading(monkeypatch):
        reader.refresh()
        assert (len(reader), reader.embedded) == (before[0] + 300, before[1] + 300)
        assert len([reader.passage(place) for place in reader.all_places()]) == len(reader)
        assert reader.by_meaning(Hashing().embed(["plane"])[0], 3)[0].tolist()


def test_what_waits_in_the_log_is_told_to_who_cannot_read_it(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    kb.close()
    (folder(kb) / "kb.sqlite-wal").write_bytes(b"half a change")
    with _reading(monkeypatch):
        assert len(KnowledgeBase(folder(kb)))
    assert "kb.sqlite-wal: holds changes that cannot be read without the right to write" in caplog.text
