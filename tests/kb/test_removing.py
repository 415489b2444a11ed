"""What is removed is what was named: a path first, and a name where there is no such path."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.calling import run
from demur.errors import DataError
from demur.kb.folder import KnowledgeBase
from demur.kb.passages import Passage
from kb.base_toys import held, write


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KnowledgeBase:
    """A base of two files, both docs/q.md where they were added; the folder of the second is here."""
    kb = KnowledgeBase(tmp_path / "x.kb")
    for name in ("one", "two"):
        write(tmp_path / name / "docs", {"q.md": f"The saw of {name} is lent."})
        monkeypatch.chdir(tmp_path / name)
        kb.add("docs/q.md")
    return kb


def test_a_path_here_is_removed_and_a_source_of_that_name_stays(two: KnowledgeBase) -> None:
    assert [each.status for each in two.remove("docs/q.md")] == ["removed"]
    assert held(two) == {"q.md": ["The saw of one is lent."]}
    with pytest.raises(DataError, match=r"what is called docs/q\.md was added from elsewhere"):
        two.remove("docs/q.md")  # here lies another file of that name
    Path("docs/q.md").unlink()
    two.remove("docs/q.md")
    assert not two.sources()


def test_a_name_is_removed_whatever_lies_here(two: KnowledgeBase) -> None:
    two.remove_named("docs/q.md")
    assert held(two) == {"q.md": ["The saw of two is lent."]}
    with pytest.raises(DataError, match=r"has no source docs/q\.md"):
        two.remove_named("docs/q.md")


def test_a_folder_without_files_is_not_followed_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "docs", {"a.md": "A saw is lent."})
    kb = KnowledgeBase("x.kb")
    kb.add("docs")
    kb.put("note", [Passage("1", "A drill is lent.")])
    kb.remove_named("docs/a.md")
    (tmp_path / "docs" / "a.md").unlink()
    assert run(monkeypatch, "kb", "remove", "x.kb", "docs") == 0
    assert "removed docs; no file of it was there" in capsys.readouterr().out
    write(tmp_path / "docs", {"b.md": "A rake is lent."})
    assert [each.source for each in kb.update()] == []
    assert run(monkeypatch, "kb", "remove", "x.kb", "docs") == 2
    assert "has no source docs" in capsys.readouterr().err


def test_a_folder_may_be_named_from_elsewhere_and_by_a_link(two: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("one")
    assert [each.status for each in two.remove(tmp_path / "link")] == ["removed"]
    assert held(two) == {"q.md": ["The saw of two is lent."]}
    two.remove("docs/q.md")
    two.add(tmp_path / "one" / "docs")
    (name,) = (name for name, _, _ in two.sources())
    assert [each.source for each in two.remove(str(Path(name).parent))] == [name]


def test_a_folder_without_files_is_told_beside_others(tmp_path: Path) -> None:
    write(tmp_path, {"docs/a.md": "A saw is lent.", "b.md": "A drill is lent."})
    kb = KnowledgeBase(tmp_path / "x.kb")
    kb.add([tmp_path / "docs", tmp_path / "b.md"])
    kb.remove(tmp_path / "docs" / "a.md")
    told = kb.remove([tmp_path / "docs", tmp_path / "b.md"])
    assert [(Path(each.source).name, each.reason) for each in told] == [
        ("docs", "no file of it was there"),
        ("b.md", ""),
    ]


@pytest.mark.parametrize("hidden", [True, False])
def test_whether_the_next_update_adds_it_again_is_told_as_it_is(tmp_path: Path, hidden: bool) -> None:
    write(
        tmp_path, {"docs/a.md": "A saw is lent.", "docs/.hid/x.md": "A rake.", "o/b.md": "A drill is lent."}
    )
    kb = KnowledgeBase(tmp_path / "x.kb")
    (tmp_path / "o" / "c.md").symlink_to("../docs/a.md")
    kb.add([tmp_path / "docs", tmp_path / "o", tmp_path / "docs" / ".hid" / "x.md"])
    named = "docs/.hid/x.md" if hidden else "docs"
    told = {Path(each.source).name: bool(each.reason) for each in kb.remove(tmp_path / named)}
    added = {Path(each.source).name for each in kb.update() if each.status == "added"}
    assert added == (set() if hidden else {"c.md"}) and told["x.md"] is False
    assert hidden or told["a.md"] is True


def test_a_folder_is_removed_with_what_links_lead_to_in_it(tmp_path: Path) -> None:
    write(tmp_path / "docs", {"a.md": "A saw is lent.", "b.md": "A drill is lent."})
    (tmp_path / "link").symlink_to("docs")
    kb = KnowledgeBase(tmp_path / "x.kb")
    kb.add([tmp_path / "docs" / "a.md", tmp_path / "link" / "b.md"])
    assert {each.status for each in kb.remove(tmp_path / "docs")} == {"removed"} and not kb.sources()


@pytest.mark.parametrize("by", ["link", "name", "the folder above"])
def test_a_removed_folder_does_not_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"docs/sub/a.md": "A saw is lent.", "else/b.md": "-"})
    (tmp_path / "link").symlink_to("docs")
    kb = KnowledgeBase(tmp_path / "x.kb")
    kb.add(["docs", "docs/sub"] if by == "the folder above" else "docs")
    if by == "name":
        monkeypatch.chdir(tmp_path / "else")
    (told,) = kb.remove("link" if by == "link" else "docs")
    assert (told.status, told.reason) == ("removed", "")
    assert kb.update() == [] and not kb.sources()


def test_an_empty_folder_is_removed_by_a_link(tmp_path: Path) -> None:
    write(tmp_path / "docs", {"a.md": "A saw is lent."})
    (tmp_path / "link").symlink_to("docs")
    kb = KnowledgeBase(tmp_path / "x.kb")
    kb.add(tmp_path / "docs")
    kb.remove_named(str(tmp_path / "docs" / "a.md"))
    (told,) = kb.remove(tmp_path / "link")
    assert told.reason == "no file of it was there" and kb.update() == []


def test_a_link_that_is_followed_is_told_once(tmp_path: Path) -> None:
    write(tmp_path / "docs" / "sub", {"a.md": "A saw is lent."})
    (tmp_path / "ls").symlink_to("docs/sub")
    kb = KnowledgeBase(tmp_path / "x.kb")
    kb.add([tmp_path / "docs", tmp_path / "ls"])
    (told,) = kb.remove(tmp_path / "ls")
    assert told.reason.endswith("the next update adds it again")
    assert [each.status for each in kb.update()] == ["added"]


def test_what_another_source_is_now_does_not_come_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"v1/a.md": "A saw is lent.", "v2/a.md": "A drill is lent."})
    (tmp_path / "cur").symlink_to("v1")
    kb = KnowledgeBase("x.kb")
    kb.add(["cur", "v2"])
    (tmp_path / "cur").unlink()
    (tmp_path / "cur").symlink_to("v2")
    kb.update()
    told = {each.source: each.reason for each in kb.remove("v2/a.md")}
    assert told == {"v2/a.md": ""}
    assert {each.status for each in kb.update()} == {"unchanged"}
