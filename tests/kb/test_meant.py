"""What a name to remove stands for is decided once: for sources and for folders that are followed."""

from __future__ import annotations

from pathlib import Path

import pytest

from demur.errors import DataError, UsageError
from demur.kb.folder import KnowledgeBase
from demur.kb.passages import Passage
from kb.base_toys import write
from kb.test_shut_paths import shut


@pytest.fixture
def kb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KnowledgeBase:
    write(tmp_path, {"A/docs/a.md": "A saw.", "B/docs/b.md": "A drill.", "C/c.md": "A rake."})
    monkeypatch.chdir(tmp_path / "A")
    return KnowledgeBase(tmp_path / "x.kb")


def _add_in(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    monkeypatch.chdir(place)
    kb.add("docs")


def _names(kb: KnowledgeBase) -> set[str]:
    return {name for name, _, _ in kb.sources()}


def _folders(kb: KnowledgeBase) -> set[str]:
    return {Path(path).parent.name for (path,) in kb._truth().rows("SELECT path FROM folders")}


def test_a_path_stands_for_no_folder_of_that_name_elsewhere(
    kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb.add("docs/a.md")
    _add_in(kb, monkeypatch, tmp_path / "B")
    monkeypatch.chdir(tmp_path / "A")
    assert [each.source for each in kb.remove("docs")] == ["docs/a.md"]
    assert _names(kb) == {"docs/b.md"} and _folders(kb) == {"B"}


def test_a_name_from_two_places_is_refused(
    kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("A", "B"):
        _add_in(kb, monkeypatch, tmp_path / place)
    monkeypatch.chdir(tmp_path / "C")
    with pytest.raises(
        DataError, match=r"has docs from more than one place: .*A/docs, .*B/docs; name one of"
    ):
        kb.remove("docs")
    assert _names(kb) == {"docs/a.md", "docs/b.md"} and _folders(kb) == {"A", "B"}
    assert [each.source for each in kb.remove("docs/b.md")] == ["docs/b.md"], "this one is at one place"
    kb.remove(tmp_path / "A" / "docs")
    assert not _names(kb) and _folders(kb) == {"B"}


def test_a_link_to_a_folder_that_is_gone_is_known_by_it(kb: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "A" / "current").symlink_to("docs")
    kb.add("current")
    (tmp_path / "A" / "docs" / "a.md").unlink()
    (tmp_path / "A" / "docs").rmdir()
    assert [each.source for each in kb.remove("docs")] == ["current/a.md"]
    assert not _names(kb) and not _folders(kb)


@pytest.mark.parametrize("where", ["A", "C"])
def test_a_text_is_removed_by_its_name_and_nothing_else(
    kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    write(tmp_path, {"A/docs/sub/d.md": "A hammer.", "C/docs/e.md": "A nail."})
    kb.add("docs/sub")
    kb.put("docs", [Passage("1", "A text.")])
    if where == "A":
        kb.remove_named("docs/sub/d.md")
    monkeypatch.chdir(tmp_path / where)
    assert [each.source for each in kb.remove("docs")] == ["docs"]
    assert _names(kb) == (set() if where == "A" else {"docs/sub/d.md"}) and _folders(kb) == {"docs"}


def test_a_folder_whose_only_source_is_known_by_another_path_is_unfollowed(
    kb: KnowledgeBase, tmp_path: Path
) -> None:
    write(tmp_path, {"A/b/f.md": "A saw is lent."})
    (tmp_path / "A" / "a").mkdir()
    (tmp_path / "A" / "a" / "l.md").symlink_to("../b/f.md")
    kb.add("a")
    kb.add("b/f.md")
    assert [each.reason for each in kb.remove("a")] == ["no file of it was there"]
    assert len(kb.sources()) == 1 and not _folders(kb)


def test_what_may_not_be_looked_at_is_not_taken_for_gone(
    kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"C/docs/a.md": "Another saw."})
    kb.add("docs")
    monkeypatch.chdir(tmp_path / "C")
    shut(monkeypatch, tmp_path / "C")
    with pytest.raises(DataError, match="what is called docs was added from elsewhere"):
        kb.remove("docs")
    assert _names(kb) == {"docs/a.md"}


def test_a_link_in_a_followed_folder_stands_for_nothing(kb: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "A" / "docs" / "up").symlink_to(tmp_path)
    kb.add(["docs", tmp_path / "B" / "docs"])
    with pytest.raises(DataError, match="has no source docs/up"):
        kb.remove("docs/up")
    assert len(kb.sources()) == 2 and _folders(kb) == {"A", "B"}


def test_a_null_character_is_refused(kb: KnowledgeBase) -> None:
    kb.add("docs")
    for change in kb.add, kb.remove:
        with pytest.raises(UsageError, match="has a null character; leave it out"):
            change("a\0b")


def test_a_first_base_of_a_file_that_may_not_be_read_says_so(
    kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shut(monkeypatch, tmp_path / "A" / "docs")
    (told,) = kb.add("docs/a.md")
    assert "may not be read" in told.reason and not kb.there
