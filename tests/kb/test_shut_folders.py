"""Folders that may not be read, and files that are gone in other ways: nothing is lost, or kept for ever."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cli.calling import run
from demur.errors import DataError, UsageError
from demur.kb.folder import KnowledgeBase
from kb.base_toys import held, write

SAWS = {"a.md": "A saw is lent.", "shut/b.md": "A drill is lent."}


def test_what_lies_in_a_folder_that_may_not_be_read_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may, shut = os.access, tmp_path / "docs" / "shut"
    write(tmp_path / "docs", SAWS)
    kb = KnowledgeBase(tmp_path / "x.kb")
    kb.add(tmp_path / "docs")
    before = held(kb)
    shut.rename(tmp_path / "away")  # what is in there cannot be seen, and neither that it is there
    shut.mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != shut and may(path, mode))
    for reports in kb.update(), kb.add(tmp_path / "docs"):
        (told,) = (each for each in reports if each.status == "skipped")
        assert "is a folder that may not be read" in told.reason and held(kb) == before
    monkeypatch.undo()
    assert {each.status for each in kb.update()} == {"unchanged", "removed"}


@pytest.mark.parametrize("how", ["a folder", "behind a link"])
def test_a_file_that_became_something_else_is_removed(tmp_path: Path, how: str) -> None:
    docs = tmp_path / "docs"
    write(docs, SAWS)
    kb = KnowledgeBase(tmp_path / "x.kb")
    kb.add(docs)
    (docs / "shut").rename(tmp_path / "away")
    if how == "a folder":
        write(docs, {"shut/b.md/c.md": "A rake is lent."})
    else:
        (docs / "shut").symlink_to(tmp_path / "away")
    told = [Path(each.source).name for each in kb.update() if each.status == "removed"]
    assert told == ["b.md"]
    assert set(held(kb)) == ({"a.md", "c.md"} if how == "a folder" else {"a.md"})


def test_a_file_of_a_far_year_is_taken_in(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "A saw is lent."})
    os.utime(tmp_path / "a.md", ns=(0, 2**63 + 10**9))
    kb = KnowledgeBase(tmp_path / "x.kb")
    assert [each.status for each in kb.add(tmp_path / "a.md")] == ["added"]
    assert [each.status for each in kb.update()] == ["unchanged"]


def test_more_passages_may_be_asked_for_than_there_are(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "A saw is lent."})
    kb = KnowledgeBase(tmp_path / "x.kb")
    kb.add(tmp_path / "a.md")
    assert len(kb.by_words("Is a saw lent?", 10**30)[0]) == 1


def test_an_empty_name_is_not_this_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"a.md": "A saw is lent."})
    monkeypatch.chdir(tmp_path)
    kb = KnowledgeBase("x.kb")
    kb.add("a.md")
    for change in kb.add, kb.remove:
        with pytest.raises(UsageError, match="the name of a file is empty"):
            change("")
    with pytest.raises(UsageError, match="the name of a base is empty"):
        KnowledgeBase("")
    assert set(held(kb)) == {"a.md"}


def test_a_folder_whose_path_is_not_utf8_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    odd = tmp_path / os.fsdecode(b"d\xff")
    write(odd, SAWS)
    write(tmp_path / "docs", {"c.md": "A rake is lent."})
    assert run(monkeypatch, "kb", "add", "x.kb", "docs", str(odd), str(odd / "a.md"), "--words-only") == 2
    told = capsys.readouterr().err
    assert told.count("its path is not UTF-8; rename it") == 2 and "d?" in told
    monkeypatch.chdir(odd)
    kb = KnowledgeBase("../x.kb")
    assert {each.reason for each in kb.add(["a.md", "shut"])} == {"its path is not UTF-8; rename it"}
    assert set(held(kb)) == {"c.md"}
    with pytest.raises(DataError, match="is a path that is not UTF-8; name another folder"):
        KnowledgeBase(odd / "y.kb")
    with pytest.raises(DataError, match="has no source"):
        kb.remove("a.md")
