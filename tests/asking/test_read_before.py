"""Files that are asked are read once, and again when they, or what reads them, change."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from demur import cache
from demur.asking import Library, Passage, read_before
from demur.asking.read_before import Files
from demur.kb.files.documents import read_documents

MANY = 40


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DEMUR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(read_before, "MANY", MANY)
    folder = tmp_path / "files"
    folder.mkdir()
    texts = [f"Saw number {n} is lent for {n * n} days." for n in range(MANY)]
    (folder / "a.md").write_text("# Loans\n\n" + "\n\n".join([*texts, texts[7]]), "utf-8")
    (folder / "b.csv").write_text("question,answer\nIs it open?,Yes; only naïve \N{SNOWMAN} ask.\n", "utf-8")
    return folder


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What was read from files, not from the cache."""
    seen: list[object] = []

    def noted(paths: Iterable[Path]) -> Iterable[Passage]:
        seen.append(paths)
        return read_documents(paths)

    monkeypatch.setattr(read_before, "read_documents", noted)
    return seen


def kept(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "cache" / read_before.FOLDER).glob("*"))


def test_a_second_library_is_the_same_and_reads_no_file(files: Path, reads: list[object]) -> None:
    first, again = Library(files), Library(files)
    assert len(reads) == 1 and len(first) == MANY + 1
    assert again.passages == first.passages and again.fingerprint == first.fingerprint
    assert [again.copies(place) for place in range(len(again))] == [int(n == 7) for n in range(MANY + 1)]
    for question in ("Which saw is lent for 49 days?", "is it open", "naïve", "saws", "violin"):
        for ours, theirs in zip(again.by_words(question, 9), first.by_words(question, 9), strict=True):
            assert ours.dtype == theirs.dtype and np.array_equal(ours, theirs)
        assert again.idf(question.split()[-1]) == first.idf(question.split()[-1])


def test_the_meter_sees_only_what_is_read(files: Path) -> None:
    seen: list[Passage] = []

    def watched(passages: Iterable[Passage]) -> Iterable[Passage]:
        for passage in passages:
            seen.append(passage)
            yield passage

    Library(Files([files], watched))
    assert len(seen) == MANY + 2
    Library(Files([files], watched))
    assert len(seen) == MANY + 2


def test_read_again_when_a_file_the_language_or_the_code_changes(
    files: Path, reads: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    Library(files)
    stat = (files / "a.md").stat()
    (files / "a.md").write_text(
        (files / "a.md").read_text("utf-8").replace("number 3 ", "number 4 "), "utf-8"
    )
    os.utime(files / "a.md", ns=(stat.st_atime_ns, stat.st_mtime_ns))  # as long and as old as before
    assert sum("number 4 " in each.text for each in Library(files).passages) == 2
    assert len(reads) == 2
    (files / "c.txt").write_text("Ladders too.", "utf-8")
    assert Library(files).passages[-1].text == "Ladders too."
    assert len(Library(files, "none").by_words("ladder", 9)[0]) == 0
    assert len(reads) == 4
    renamed = files.rename(files.with_name("renamed"))
    assert Library(renamed).passages[0].source == str(renamed / "a.md")
    assert len(reads) == 5
    monkeypatch.setattr(read_before, "_code", lambda: "other code")
    Library(renamed)
    assert len(reads) == 6


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [("broken.txt", b"\xff\xff", "passed over"), ("half.txt", b"Q: Is it open?\n\nNo.", "write A:")],
)
def test_what_is_told_of_a_file_is_told_each_time(
    files: Path, caplog: pytest.LogCaptureFixture, tmp_path: Path, name: str, text: bytes, told: str
) -> None:
    (files / name).write_bytes(text)
    for _ in range(2):
        caplog.clear()
        Library(files)
        assert name in caplog.text and told in caplog.text
    assert not kept(tmp_path)


def test_a_link_is_a_file_of_its_own_only_where_it_is_named(files: Path) -> None:
    (files / "a.md").rename(files / "a.txt")
    (files / "b.csv").unlink()
    (files / "b.txt").symlink_to("a.txt")
    copies = [Library(files).copies(0), Library([files / "a.txt", files / "b.txt"]).copies(0)]
    (files / "b.txt").unlink()
    (files / "b.txt").write_bytes((files / "a.txt").read_bytes())
    assert [*copies, Library(files).copies(0)] == [0, 1, 1]


def test_a_file_that_changes_while_it_is_read_is_not_kept(files: Path, tmp_path: Path) -> None:
    def watched(passages: Iterable[Passage]) -> Iterable[Passage]:
        yield from list(passages)
        (files / "b.csv").write_text("question,answer\nIs it open?,No.\n", "utf-8")

    Library(Files([files], watched))
    assert not kept(tmp_path)
    assert Library(files).passages[-1].text == "No."


def test_few_passages_and_what_can_be_read_once_are_not_kept(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Library(files / "b.csv")
    os.mkfifo(tmp_path / "pipe.txt")
    many = [Passage(str(n), f"Saw {n} cuts.") for n in range(MANY)]
    monkeypatch.setattr(read_before, "read_documents", lambda paths: many)
    assert len(Library(tmp_path / "pipe.txt")) == MANY
    assert not kept(tmp_path)


def test_nothing_is_kept_that_is_larger_than_all_that_may_be(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_before, "MOST", 999)
    monkeypatch.setattr(cache, "trim", lambda path, most: None)  # which would remove it again
    Library(files)
    assert not kept(tmp_path)


@pytest.mark.parametrize("spoilt", [b"", b"no arrays", None, 11])
def test_what_is_broken_in_the_cache_is_read_again(
    files: Path, reads: list[object], tmp_path: Path, spoilt: bytes | int | None
) -> None:
    first = Library(files)
    (place,) = kept(tmp_path)
    whole = bytearray(place.read_bytes())
    if spoilt is None:
        spoilt = bytes(whole[:-40])
    elif isinstance(spoilt, int):  # how the first array is packed
        whole[whole.rindex(b"PK\1\2") + spoilt] ^= 8
        spoilt = bytes(whole)
    place.write_bytes(spoilt)
    assert Library(files).fingerprint == first.fingerprint and len(reads) == 2
    assert Library(files).fingerprint == first.fingerprint and len(reads) == 2


def test_without_a_cache_files_are_read_each_time(
    files: Path, reads: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEMUR_CACHE", str(files / "a.md"))  # a file, so no folder can be made there
    assert Library(files).fingerprint == Library(files).fingerprint and len(reads) == 2


def test_the_cache_forgets_what_was_not_asked_for_longest(tmp_path: Path) -> None:
    for age, name in enumerate("abcd"):
        (tmp_path / name).write_bytes(b"x" * 10)
        os.utime(tmp_path / name, (age, age))
    (tmp_path / "a").touch()
    cache.trim(tmp_path, 25)
    assert {each.name for each in tmp_path.iterdir()} == {"a", "d"}
