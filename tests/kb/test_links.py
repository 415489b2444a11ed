"""A file is one source, however many links lead to it; links to folders are not followed, and said so."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.calling import run
from demur.kb.files.documents import read_documents
from demur.kb.folder import KnowledgeBase
from kb.base_toys import held, write


@pytest.fixture
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with links to its own file and folder, to a file and a folder elsewhere, and to nothing."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "docs", {"b.md": "A drill is lent."})
    write(tmp_path / "away", {"o.md": "A saw is not."})
    links = {"a.md": "b.md", "loop": "../docs", "o.md": "../away/o.md", "far": "../away", "z.md": "nowhere"}
    for name, to in links.items():
        (tmp_path / "docs" / name).symlink_to(to)
    return tmp_path / "docs"


def test_a_link_to_a_file_of_the_base_is_no_second_source(docs: Path) -> None:
    kb = KnowledgeBase("x.kb")
    told = {Path(each.source).name: (each.status, each.reason.partition(": ")[2]) for each in kb.add("docs")}
    assert told["b.md"] == told["o.md"] == ("added", "")
    assert told["far"] == ("skipped", "is a link to a folder, which is not followed; add that folder too")
    assert told["z.md"] == ("skipped", "is a link to nothing; mend the link or remove it")
    assert "loop" not in told
    expected = {"b.md": ["A drill is lent."], "o.md": ["A saw is not."]}
    assert held(kb) == expected
    (report,) = kb.add("away/o.md")  # which it is known by since it was named
    assert (report.status, report.source, report.reason) == ("changed", "away/o.md", "was called docs/o.md")
    for again in (kb.update(), kb.add("docs"), kb.add("away/o.md"), kb.add("docs/a.md")):
        assert {each.status for each in again} <= {"unchanged", "skipped"} and held(kb) == expected
    (docs / "b.md").unlink()
    (docs / "b.md").symlink_to("../away/o.md")
    kb.update()
    assert len(kb.sources()) == 2, "one that was named, if by a link, stays"


@pytest.mark.parametrize("to", ["o.md", "../far"])
def test_a_file_that_becomes_a_link_is_what_it_is_in_a_base_made_afresh(tmp_path: Path, to: str) -> None:
    write(tmp_path / "docs", {"b.md": "A drill is lent.", "o.md": "A saw is not."})
    write(tmp_path / "far", {"far.md": "A rake is lent."})
    kb = KnowledgeBase(tmp_path / "x.kb")
    kb.add(tmp_path / "docs")
    (tmp_path / "docs" / "b.md").unlink()
    (tmp_path / "docs" / "b.md").symlink_to(to)
    told = {Path(each.source).name: each.status for each in kb.update()}
    assert told == {"o.md": "unchanged", "b.md": "removed"} and held(kb) == {"o.md": ["A saw is not."]}
    told = {Path(each.source).name: each.status for each in kb.update()}
    assert told == {"o.md": "unchanged", "b.md": "unchanged" if to == "o.md" else "skipped"}


def test_a_changed_file_is_read_anew_by_whatever_link_it_is_added(docs: Path) -> None:
    kb = KnowledgeBase("x.kb")
    kb.add("docs/b.md")
    write(docs, {"b.md": "A rake is lent."})
    (report,) = kb.add("docs/a.md")
    assert (report.source, report.status) == ("docs/b.md", "changed")
    assert held(kb) == {"b.md": ["A rake is lent."]}
    (docs.parent / "link").symlink_to("docs")
    write(docs, {"b.md": "A ladder is lent."})
    assert [each.status for each in kb.add("link/b.md")] == ["changed"], "a link to its folder"
    assert held(kb) == {"b.md": ["A ladder is lent."]}


def test_a_folder_that_is_renamed_with_a_link_left_behind_stays(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    write(docs, {"loans/a.md": "A saw is lent.", "b.md": "A drill is lent."})
    kb = KnowledgeBase(tmp_path / "x.kb")
    kb.add(docs)
    (docs / "loans").rename(docs / "lending")
    (docs / "loans").symlink_to("lending")
    told = {(each.source.removeprefix(str(docs)), each.status) for each in kb.update()}
    assert {("/lending/a.md", "added"), ("/loans/a.md", "removed")} <= told
    assert held(kb) == {"a.md": ["A saw is lent."], "b.md": ["A drill is lent."]}


def test_a_file_that_was_named_itself_stays_whatever_becomes_of_links_to_it(docs: Path) -> None:
    kb = KnowledgeBase("x.kb")
    kb.add("docs")  # the file is known by a link in it
    assert kb.add("away/o.md")[0].reason == "was called docs/o.md"
    (docs / "o.md").unlink()
    assert {each.status for each in kb.update()} <= {"unchanged", "skipped"}
    assert held(kb)["o.md"] == ["A saw is not."]


def test_a_file_that_was_named_itself_stays_if_its_folder_is_added_too(docs: Path) -> None:
    kb = KnowledgeBase("x.kb")
    kb.add(["docs/b.md", "docs"])
    (docs / "b.md").unlink()
    assert "docs/b.md: is gone" in next(each.reason for each in kb.update() if each.source == "docs/b.md")
    assert "b.md" in held(kb)


def test_a_path_through_a_link_that_became_a_folder_is_no_endless_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "y", {"f.md": "A saw is lent.", "sub/g.md": "-"})
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "link").symlink_to("../y/sub")
    kb = KnowledgeBase("x.kb")
    assert [each.status for each in kb.add("x/link/../f.md")] == ["added"]
    (tmp_path / "x" / "link").unlink()
    (tmp_path / "x" / "link").mkdir()
    (tmp_path / "y" / "f.md").rename(tmp_path / "x" / "f.md")
    assert [(each.status, each.reason) for each in kb.update()] == [("unchanged", "")]


def test_a_link_to_a_folder_of_the_base_is_that_folder(docs: Path) -> None:
    kb = KnowledgeBase("x.kb")
    kb.add("docs")
    (docs.parent / "link").symlink_to("docs")
    write(docs, {"c.md": "A rake is lent."})
    reports = kb.add("link")
    assert (reports[0].source, reports[0].reason) == ("link", "is the same folder as docs")
    assert [each.source for each in reports if each.status == "added"] == ["docs/c.md"]
    assert kb._truth().rows("SELECT name FROM folders") == [("docs",)]


def test_two_files_that_say_the_same_are_two_sources(tmp_path: Path) -> None:
    write(tmp_path / "docs", {"a.md": "A drill is lent.", "b.md": "A drill is lent."})
    kb = KnowledgeBase(tmp_path / "x.kb")
    assert [each.status for each in kb.add(tmp_path / "docs")] == ["added", "added"]
    assert len(kb.sources()) == 2 and len(kb) == 1


def test_files_asked_without_a_base_are_read_once_too(docs: Path) -> None:
    assert [each.text for each in read_documents(docs)] == ["A drill is lent.", "A saw is not."]


def test_that_a_link_is_no_second_source_is_said_in_one_line(
    docs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "kb", "add", "x.kb", "docs/b.md", "docs/a.md", "--words-only") == 0
    assert capsys.readouterr().err == "docs/a.md is the same file as docs/b.md\n"


def test_a_file_that_was_named_by_a_link_stays_too(docs: Path) -> None:
    (docs.parent / "link").symlink_to("docs")
    kb = KnowledgeBase("x.kb")
    kb.add(["docs", "link/b.md"])
    (docs / "b.md").unlink()
    assert "docs/b.md: is gone" in next(each.reason for each in kb.update() if each.source == "docs/b.md")
    assert held(kb)["b.md"] == ["A drill is lent."]


def test_a_source_is_not_told_as_its_own_twin(docs: Path) -> None:
    (docs.parent / "link").symlink_to("docs")
    kb = KnowledgeBase("x.kb")
    kb.add("link")
    assert kb.add("docs/b.md")[0].reason == "was called link/b.md"
    told = {each.source: (each.status, each.reason) for each in kb.update() if "b.md" in each.source}
    assert told == {
        "docs/b.md": ("unchanged", ""),
        "link/b.md": ("unchanged", "is the same file as docs/b.md"),
    }
    assert {each.source for each in kb.remove("link")} == {"docs/b.md", "link/o.md"} and not kb.sources()
