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
    two.remove("docs/q.md")  # no file of that path is in the base any more, so it is the name
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
