"""Files that take long to read are read once, and again when they or their reader change."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from demur.kb.files import read_before
from demur.kb.files.apart import Child
from demur.kb.files.documents import read_documents

pytest.importorskip("selectolax")
PAGE = "<h1>Loans</h1><p>A drill may be kept for a week.</p>"


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DEMUR_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "page.html"
    path.write_text(PAGE, "utf-8")
    return path


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that a process apart has read."""
    read, seen = Child.read, []

    def noted(self: Child, reader: str, path: Path) -> object:
        seen.append(path)
        return read(self, reader, path)

    monkeypatch.setattr(Child, "read", noted)
    return seen


def test_read_once(page: Path, asked: list[Path]) -> None:
    first, again = list(read_documents(page)), list(read_documents(page))
    assert first == again and first[0].text == "A drill may be kept for a week."
    assert asked == [page]


def test_read_again_when_the_file_or_what_reads_it_changes(
    page: Path, asked: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    list(read_documents(page))
    page.write_text(PAGE.replace("week", "month"), "utf-8")
    assert "month" in next(read_documents(page)).text and len(asked) == 2
    monkeypatch.setenv("DEMUR_READ_PAGES", "7")
    list(read_documents(page))
    monkeypatch.setattr(read_before, "_modules", lambda: "other readers")
    list(read_documents(page))
    copy = page.with_name("copy.html")
    copy.write_bytes(page.read_bytes())
    assert next(read_documents(copy)).source.endswith("copy.html") and len(asked) == 5


def test_a_broken_cache_is_read_over(page: Path, asked: list[Path], tmp_path: Path) -> None:
    list(read_documents(page))
    (kept,) = (tmp_path / "cache" / read_before.FOLDER).iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(whole[:-9])
    assert "week" in next(read_documents(page)).text and len(asked) == 2
    assert "week" in next(read_documents(page)).text and len(asked) == 2
    for place in range(len(whole)):  # whatever byte is wrong
        kept.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        assert read_before._known(kept) is None or place < 10, place


def test_what_was_not_read_for_long_makes_room(
    page: Path, asked: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    list(read_documents(page))
    folder = tmp_path / "cache" / read_before.FOLDER
    (old,) = folder.iterdir()
    os.utime(old, (1, 1))
    list(read_documents(page))
    assert old.stat().st_mtime > 1, "what is read again is as new"
    os.utime(old, (1, 1))
    monkeypatch.setattr(read_before, "MOST", old.stat().st_size + 20)
    page.write_text(PAGE.replace("week", "month"), "utf-8")
    list(read_documents(page))
    (new,) = folder.iterdir()
    assert new != old and len(asked) == 2


def test_without_a_cache_files_are_read_each_time(
    page: Path, asked: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEMUR_CACHE", str(page))  # a file, so no folder can be made there
    assert len(list(read_documents(page))) == len(list(read_documents(page))) and len(asked) == 2
