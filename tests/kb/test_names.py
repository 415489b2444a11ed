"""What files are called in a base, and which are read: by update as in a base made afresh."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from demur import files
from demur.errors import DataError
from demur.kb.folder import KnowledgeBase
from demur.kb.passages import Passage
from demur.kb.sources import removing
from kb.base_toys import held, write


def test_a_source_that_was_a_link_leaves_its_name_when_its_file_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"out.md": "A saw is lent.", "docs/k.md": "A drill is lent."})
    (tmp_path / "docs" / "link.md").symlink_to("../out.md")
    kb = KnowledgeBase("x.kb")
    kb.add(tmp_path / "docs")
    assert [each.status for each in kb.add("out.md")] == ["changed"]
    (tmp_path / "docs" / "link.md").unlink()
    write(tmp_path / "docs", {"link.md": "A rake is lent."})
    assert {each.status for each in kb.update()} == {"added", "unchanged"}
    names = [name for name, *_ in kb.sources()]
    assert sorted(names) == sorted(
        [str(tmp_path / "docs" / each) for each in ("k.md", "link.md")] + ["out.md"]
    )
    assert {kb.passage(place).source for place in kb.all_places()} == set(names)


def test_a_file_whose_path_is_the_name_of_a_text_is_one_line(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "A saw is lent.", "b.md": "A drill is lent."})
    kb = KnowledgeBase(tmp_path / "x.kb")
    kb.put(str(tmp_path / "a.md"), [Passage("1", "A rake is lent.")])
    told = {
        Path(each.source).name: (each.status, each.reason)
        for each in kb.add([tmp_path / "a.md", tmp_path / "b.md"])
    }
    assert told["b.md"] == ("added", "") and told["a.md"][0] == "skipped"
    assert "is what something else is called in this base; take that out first" in told["a.md"][1]


def test_overlapping_folders_tell_of_each_file_once_and_read_it_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "docs", {"a.md": "A saw is lent.", "sub/b.md": "A drill is lent."})
    kb = KnowledgeBase(tmp_path / "x.kb")
    kb.add([tmp_path / "docs", tmp_path / "docs" / "sub"])
    monkeypatch.setattr(
        "demur.kb.syncing._RECENT", -(10**18)
    )  # nothing is so new that it might change unseen
    kb.update()
    monkeypatch.setattr(files, "sha256", lambda path: pytest.fail(f"{path} was read again"))
    assert sorted(Path(each.source).name for each in kb.update()) == ["a.md", "b.md"]


def test_a_folder_keeps_its_name_whatever_it_is_called_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "docs", {"a.md": "A saw is lent."})
    kb = KnowledgeBase(tmp_path / "x.kb")
    monkeypatch.chdir(tmp_path / "docs")
    kb.add(".")
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "docs", {"new.md": "A drill is lent."})
    kb.add("docs")
    write(tmp_path / "docs", {"newer.md": "A rake is lent."})
    kb.update()
    assert [name for name, *_ in kb.sources()] == ["a.md", "new.md", "newer.md"]


def test_a_file_that_takes_the_place_of_another_is_read_though_size_and_time_are_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"docs/a.md": "A saw is lent.", "new.md": "A row is lent."})
    for path in tmp_path.rglob("*.md"):
        os.utime(path, (10**9, 10**9))
    kb = KnowledgeBase(tmp_path / "x.kb")
    kb.add(tmp_path / "docs")
    (tmp_path / "new.md").rename(tmp_path / "docs" / "a.md")
    assert [each.status for each in kb.update()] == ["changed"] and held(kb) == {"a.md": ["A row is lent."]}


def test_a_file_that_changes_between_its_hash_and_its_reading_is_not_taken_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"a.md": "A saw is lent."})
    sha256 = files.sha256

    def changing(path: Path) -> str:
        found = sha256(path)
        write(tmp_path, {"a.md": "A drill is lent for a week."})
        return found

    kb = KnowledgeBase(tmp_path / "x.kb")
    kb.put("text", [Passage("1", "A rake is lent.")])
    monkeypatch.setattr(files, "sha256", changing)
    (told,) = kb.add(tmp_path / "a.md")
    assert told.status == "skipped" and "was changed while it was read" in told.reason
    assert [name for name, *_ in kb.sources()] == ["text"]


def test_a_named_folder_that_may_not_be_read_counts_as_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"docs/a.md": "A saw is lent.", "shut/b.md": "A drill is lent."})
    may = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "shut" and may(path, mode))
    told = {
        Path(each.source).name: each
        for each in KnowledgeBase(tmp_path / "x.kb").add([tmp_path / "docs", tmp_path / "shut"])
    }
    assert told["a.md"].status == "added" and told["shut"].status == "skipped" and told["shut"].named


@pytest.mark.parametrize("name", ["../docs", "docs"])
def test_what_was_added_from_two_places_by_a_name_is_not_removed_by_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    kb = KnowledgeBase(tmp_path / "x.kb")
    up = name.startswith("..")
    for place in "ab":
        write(tmp_path / place, {"docs/a.md": f"A saw is lent for {place}.", "s/k.txt": "."})
        monkeypatch.chdir(tmp_path / place / ("s" if up else ""))
        kb.add("../docs" if up else "docs")
    write(tmp_path / "c" / "s", {"k.txt": "."})
    monkeypatch.chdir(tmp_path / "c" / ("s" if up else ""))
    with pytest.raises(DataError, match=r"from more than one place: .*/a/docs, .*/b/docs"):
        kb.remove(name)


@pytest.mark.parametrize("name", ["docs/", "./docs", "docs/../docs"])
def test_a_folder_is_known_from_elsewhere_however_its_name_is_spelt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    write(tmp_path / "here", {"docs/a.md": "A saw is lent."})
    (tmp_path / "there").mkdir()
    kb = KnowledgeBase(tmp_path / "x.kb")
    monkeypatch.chdir(tmp_path / "here")
    kb.add("docs")
    monkeypatch.chdir(tmp_path / "there")
    assert [(each.status, each.reason) for each in kb.remove(name)] == [("removed", "")]
    assert kb.update() == [] and not kb.sources()


def test_a_removal_that_fails_goes_on_following_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "docs", {"a.md": "A saw is lent."})
    kb = KnowledgeBase(tmp_path / "x.kb")
    kb.add(tmp_path / "docs")
    with monkeypatch.context() as broken:
        broken.setattr(removing, "followed", lambda *given: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            kb.remove(tmp_path / "docs")
    write(tmp_path / "docs", {"b.md": "A drill is lent."})
    assert {each.status for each in kb.update()} == {"unchanged", "added"}


@pytest.mark.parametrize("there", [False, True])
def test_who_waits_for_a_base_that_comes_to_nothing_makes_it(tmp_path: Path, there: bool) -> None:
    if there:
        (tmp_path / "x.kb").mkdir()
    write(tmp_path, {"a.md": "A saw is lent."})
    (tmp_path / "bad.md").write_bytes(b"A drill.\n\n" * 9 + b"\xff\n")
    first, held_up, told = KnowledgeBase(tmp_path / "x.kb"), threading.Event(), []

    def second() -> None:
        kb = KnowledgeBase(tmp_path / "x.kb")
        held_up.set()
        told.extend(kb.add(tmp_path / "a.md"))

    reports = first.adding(tmp_path / "bad.md")
    assert next(reports).status == "skipped"
    thread = threading.Thread(target=second)
    thread.start()
    held_up.wait(9)
    thread.join(0.3)
    assert list(reports) == []  # it takes away what it made
    thread.join(9)
    assert [each.status for each in told] == ["added"]
    assert len(KnowledgeBase(tmp_path / "x.kb").sources()) == 1


def test_a_file_that_is_renamed_with_a_link_in_its_place_has_its_new_name(tmp_path: Path) -> None:
    write(tmp_path / "docs", {"a.md": "A saw is lent.", "k.md": "A drill is lent."})
    kb = KnowledgeBase(tmp_path / "x.kb")
    kb.add(tmp_path / "docs")
    (tmp_path / "docs" / "a.md").rename(tmp_path / "docs" / "b.md")
    (tmp_path / "docs" / "a.md").symlink_to("b.md")
    kb.update()
    assert {Path(name).name for name, *_ in kb.sources()} == {"b.md", "k.md"}


def test_files_that_become_links_to_one_file_are_one_source(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"docs/a.md": "A saw.", "docs/b.md": "A drill.", "docs/k.md": "A rake.", "out.md": "A plane."},
    )
    kb = KnowledgeBase(tmp_path / "x.kb")
    kb.add(tmp_path / "docs")
    for name in ("a.md", "b.md"):
        (tmp_path / "docs" / name).unlink()
        (tmp_path / "docs" / name).symlink_to("../out.md")
    kb.update()
    assert held(kb) == {"a.md": ["A plane."], "k.md": ["A rake."]}


def test_a_file_that_becomes_a_link_to_nothing_stays_and_is_told_as_one(tmp_path: Path) -> None:
    write(tmp_path / "docs", {"a.md": "A saw is lent.", "b.md": "A drill is lent."})
    kb = KnowledgeBase(tmp_path / "x.kb")
    kb.add(tmp_path / "docs")
    (tmp_path / "docs" / "a.md").unlink()
    (tmp_path / "docs" / "a.md").symlink_to("nowhere")
    (told,) = (each for each in kb.update() if each.status == "skipped")
    assert "is a link to nothing" in told.reason and set(held(kb)) == {"a.md", "b.md"}
