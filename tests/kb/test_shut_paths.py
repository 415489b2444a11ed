"""Files that may not be looked at just now: nothing of them is lost, and all others go on."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from demur.errors import DemurError
from demur.kb.folder import KnowledgeBase
from demur.kb.sources.reports import FileReport
from kb.base_toys import Hashing, held, write


def shut(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Refuse to look into a folder, as the system does to one who is not root."""
    stat, may = Path.stat, os.access

    def inside(path: Path, follow: bool) -> bool:
        led = Path(os.path.realpath(path)).parents if follow else []
        return folder in [*led, *Path(os.path.realpath(path.parent), path.name).parents]

    def refused(self: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        if inside(self, follow_symlinks):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self))
        return stat(self, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(Path, "stat", refused)
    monkeypatch.setattr(Path, "lstat", lambda self: refused(self, follow_symlinks=False))
    monkeypatch.setattr(os, "access", lambda path, mode, **k: Path(path) != folder and may(path, mode, **k))


def _told(reports: list[FileReport]) -> dict[str, tuple[str, str]]:
    return {each.source: (each.status, each.reason.partition(": ")[2]) for each in reports}


STAYS = "skipped", "may not be read; change its permissions; what was read of it before stays"


def test_a_file_in_a_shut_folder_stays_and_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"sub/b.md": "A drill is lent.", "k.md": "A saw is lent.", "new.md": "A rake is lent."})
    kb = KnowledgeBase("x.kb")
    kb.add(["sub/b.md", "k.md"])
    shut(monkeypatch, tmp_path / "sub")
    for _ in range(2):
        assert _told(kb.update()) == {"sub/b.md": STAYS, "k.md": ("unchanged", "")}
    assert _told(kb.add(["sub/b.md", "new.md"])) == {"sub/b.md": STAYS, "new.md": ("added", "")}
    (tmp_path / "lk.md").symlink_to("k.md")
    assert _told(kb.remove("lk.md")) == {"k.md": ("removed", "")}
    assert set(held(kb)) == {"b.md", "new.md"}
    assert _told(kb.remove("sub/b.md")) == {"sub/b.md": ("removed", "")}


@pytest.mark.parametrize("where", ["behind a link", "above the folder"])
def test_a_followed_folder_goes_on_where_a_part_of_it_is_shut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"up/docs/a.md": "A saw is lent.", "away/o.md": "A drill is lent.", "z.md": "A rake."})
    (tmp_path / "up" / "docs" / "o.md").symlink_to(tmp_path / "away" / "o.md")
    kb = KnowledgeBase("x.kb")
    kb.add(["up/docs", "z.md"])
    before = held(kb)
    shut(monkeypatch, tmp_path / ("away" if where == "behind a link" else "up"))
    told = _told(kb.update())
    what = "up/docs/o.md" if where == "behind a link" else "up/docs"  # one line for a whole folder
    assert told["z.md"] == ("unchanged", "") and held(kb) == before
    assert told[what] == STAYS if where == "behind a link" else told.keys() == {"up/docs", "z.md"}
    assert _told(kb.remove("z.md")) == {"z.md": ("removed", "")}
    assert {status for status, _ in _told(kb.remove("up/docs")).values()} == {"removed"} and not held(kb)


def test_a_path_that_no_disk_can_hold_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"a.md": "A saw is lent.", "b.md": "A drill is lent."})
    kb = KnowledgeBase("x.kb")
    long = f"{'n' * 300}.md"
    told = _told(kb.add(["a.md", long, "b.md"]))
    assert told == {
        "a.md": ("added", ""),
        long: ("skipped", "cannot be read (File name too long); try another copy"),
        "b.md": ("added", ""),
    }


def test_a_named_file_that_became_a_folder_is_told_as_one(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "A saw is lent."})
    kb = KnowledgeBase(tmp_path / "x.kb")
    kb.add(tmp_path / "a.md")
    (tmp_path / "a.md").unlink()
    (tmp_path / "a.md").mkdir()
    (told,) = kb.update()
    assert "is a folder, not a file" in told.reason and len(kb.sources()) == 1


def test_a_base_in_a_followed_folder_is_no_part_of_it(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "A saw is lent."})
    kb = KnowledgeBase(tmp_path / "x.kb")
    kb.add(tmp_path)
    write(tmp_path / "x.kb" / "uploads", {"0123456789abcdef01234567.md": "A drill is lent."})
    assert [each.status for each in kb.update()] == ["unchanged"]


def test_vectors_that_may_not_be_read_are_missing_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"docs/a.md": "A saw is lent for three weeks."})
    kb = KnowledgeBase(tmp_path / "x.kb")
    kb.add(tmp_path / "docs")
    kb.embed(Hashing())
    kb.close()
    shut(monkeypatch, tmp_path / "x.kb" / "meanings")
    again = KnowledgeBase(tmp_path / "x.kb")
    assert (len(again), again.embedded) == (1, 0) and again.by_words("saw", 3)[0].tolist()
    write(tmp_path, {"docs/b.md": "A drill is lent."})
    assert {each.status for each in again.update()} == {"unchanged", "added"}
    with pytest.raises(DemurError, match="meanings: may not be written; change the permissions"):
        again.embed(Hashing())
