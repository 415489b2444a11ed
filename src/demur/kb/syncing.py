"""Files and a knowledge base: what is new, changed, as it was, or gone."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from demur import files
from demur.errors import DataError, DemurError, UnusableBase
from demur.kb.files.documents import ADD_IT, files_in, read_documents
from demur.kb.sources.removing import remove_sources
from demur.kb.sources.spelling import called_as, is_utf8, whole
from demur.kb.sources.twins import Known, Twins
from demur.kb.store.changing import Source, change
from demur.kb.store.truth import Truth
from demur.paths import is_file, is_folder, is_gone, is_link

_RECENT = 2_000_000_000  # nanoseconds: a file written so shortly before may be written again unseen
_LATEST = 2**63 - 1  # nanoseconds: the latest time that SQLite keeps
_log = logging.getLogger(__name__)
Advance = Callable[[int], None]


@dataclass(frozen=True)
class FileReport:
    """What became of one file: added, changed, unchanged, removed or skipped, and why."""

    source: str
    status: str
    passages: int = 0
    reason: str = ""
    named: bool = True
    """Whether somebody named this file, and not only a folder above it."""


def added(truth: Truth, paths: Iterable[str | Path], advance: Advance | None = None) -> Iterator[FileReport]:
    """What became of each file, and of each one in folders, as it goes in."""
    twins = Twins(truth)
    for path in map(Path, paths):
        if is_folder(path):
            called = called_as(path)
            if not is_utf8(whole(path)):
                yield _not_utf8(called)
                continue
            for known, name in truth.rows("SELECT path, name FROM folders WHERE path != ?", (whole(path),)):
                if os.path.realpath(known) == os.path.realpath(path):
                    yield FileReport(called, "unchanged", 0, f"is the same folder as {name}")
                    path, called = Path(known), name
                    break
            found = files_in(path)
            if not found:
                yield FileReport(str(path), "skipped", reason="no file in it that demur reads")
                continue
            folder = _folder(truth, path)
            for each in found:
                name = str(Path(called, each.relative_to(path)))
                yield _taken(truth, each, folder, False, twins, advance, name)
        else:
            yield _taken(truth, path, None, True, twins, advance)


def updated(truth: Truth, advance: Advance | None = None) -> Iterator[FileReport]:
    """What became of each file of the base, and of new ones in its folders.

    A file that is gone from its folder is removed. One that was named itself stays, as does all of a folder
    that is gone or empty, as it may be on a disk that is not there just now, or that may not be read.
    """
    folders = truth.rows("SELECT id, path, name FROM folders ORDER BY path")
    found = {id: files_in(Path(folder)) if is_folder(folder) else [] for id, folder, _ in folders}
    complete = {id: folder for id, folder, _ in folders if found[id]}
    seen = {whole(path) for paths in found.values() for path in paths}
    shut = [whole(path) for paths in found.values() for path in paths if _is_folder(path)]
    rows = truth.rows("SELECT id, name, path, folder FROM sources WHERE died IS NULL AND path IS NOT NULL")
    others = [row for row in sorted(rows, key=lambda row: row[1]) if row[2] not in seen]
    gone = {
        path
        for _, _, path, folder in others
        if folder in complete and _gone(Path(path), Path(complete[folder]))
    }
    twins = Twins(truth, gone)  # what takes the place of one that is gone is no twin of it
    for id, folder, called in folders:
        for path in found[id]:
            name = str(Path(called, path.relative_to(folder)))
            yield _taken(truth, path, id, False, twins, advance, name)
    for id, name, path, folder in others:
        if any(Path(path).is_relative_to(each) for each in shut):
            continue  # told of the folder already
        if path in gone:
            remove_sources(truth, [(id, name)])
            yield FileReport(name, "removed")
        else:
            yield _taken(truth, Path(path), folder, True, twins, advance, known=path)


def _gone(path: Path, root: Path) -> bool:
    """Whether a file is no more: nothing, or a folder, is there, or a link to a folder leads there."""
    if any(is_link(each) for each in path.parents if each != root and each.is_relative_to(root)):
        return True
    return (is_gone(path) and not is_link(path)) or _is_folder(path)


def _is_folder(path: Path) -> bool:
    return is_folder(path) and not is_link(path)


def _folder(truth: Truth, path: Path) -> int:
    """The id of a folder whose files are followed."""
    with truth.transaction() as connection:
        insert = "INSERT INTO folders (path, name) VALUES (?, ?) ON CONFLICT DO NOTHING"
        connection.execute(insert, (whole(path), called_as(path)))
    return int(truth.rows("SELECT id FROM folders WHERE path = ?", (whole(path),))[0][0])


def _taken(
    truth: Truth,
    path: Path,
    folder: int | None,
    by_name: bool,
    twins: Twins,
    advance: Any,
    name: str = "",
    known: str = "",
) -> FileReport:
    """What became of one file; if it cannot be read, what was read of it before stays."""
    with truth.turn():
        place = known or whole(path)
        return _taken_in_turn(truth, path, place, folder, by_name, twins, advance, name or called_as(path))


def _taken_in_turn(
    truth: Truth,
    path: Path,
    place: str,
    folder: int | None,
    by_name: bool,
    twins: Twins,
    advance: Any,
    name: str,
) -> FileReport:
    if not is_utf8(place):
        return _not_utf8(name, by_name)
    columns = "id, name, kind, path, folder, sha256, size, mtime, checked"
    rows = truth.rows(f"SELECT {columns} FROM sources WHERE path = ? AND died IS NULL", (place,))
    if rows:
        id, name, kind, _, before, sha256, size, mtime, checked = rows[0]
        old = Source(name, kind, place, before, sha256, size, mtime, checked, id)
    else:
        called = name
        if truth.rows("SELECT id FROM sources WHERE name = ? AND died IS NULL", (name,)):
            name = place  # another file is called that, from where it was added
        old = Source(name, "", place)
    try:
        with files.unchanging(path):
            now = _seen(path, old, folder, by_name)
            if now == old:
                return FileReport(name, "unchanged", _passages(truth, old.id))
            if rows and now.sha256 == old.sha256:
                _noted(truth, now)
                return FileReport(name, "unchanged", _passages(truth, old.id))
            if not rows and (same := twins.of(place)):
                told = _of_twin(truth, place, same, by_name and folder is None, twins, advance)
                if told.status != "unchanged" or called == same.name:
                    return told
                return FileReport(name, "unchanged", 0, f"is the same file as {same.name}", by_name)
            with change(truth, f"{'change' if rows else 'add'} {name}") as made:
                passages = (passage for passage in read_documents(Path(place)))
                count = made.put(now, passages, advance)
            twins.add(Known(name, place))
    except DemurError as error:
        if isinstance(error, UnusableBase):
            raise  # not the file's fault
        why = str(error)
        if spelt := next((each for each in (place, str(path)) if why.startswith(each)), ""):
            why = f"{name}{why.removeprefix(spelt)}"  # people know the file by the name that they gave it
        if not (is_file(path) or rows) or not isinstance(error, DataError):
            return FileReport(name, "skipped", 0, why, by_name)
        if rows and is_gone(path):
            why = f"{name}: is gone; put it back, or take it out with demur kb remove"
        kept = "; what was read of it before stays" if rows else ""
        return FileReport(name, "skipped", _passages(truth, old.id), f"{why}{kept}", by_name)
    return FileReport(name, "changed" if rows else "added", count, "" if count else "there is no text in it")


def _not_utf8(name: str, named: bool = True) -> FileReport:
    shown = name.encode("utf-8", "replace").decode()
    return FileReport(shown, "skipped", reason="its path is not UTF-8; rename it", named=named)


def _of_twin(truth: Truth, place: str, same: Known, named: bool, twins: Twins, advance: Any) -> FileReport:
    """What became of a source that is the same file as another path, which may have been named itself.

    What was named stays when a folder above it goes. If it was known by a link, and not named by one, it is
    known by the path that was named from now on: links come and go.
    """
    if named:
        path = place if twins.real.of(place) == place else same.path
        with truth.transaction() as said:
            move = "UPDATE sources SET path = ?, folder = NULL WHERE path = ? AND died IS NULL"
            said.execute(move, (path, same.path))
        same = replace(same, path=path)
        twins.add(same)
    rows = truth.rows("SELECT folder FROM sources WHERE path = ? AND died IS NULL", (same.path,))
    return _taken_in_turn(truth, Path(same.path), same.path, rows[0][0], False, twins, advance, same.name)


def _seen(path: Path, old: Source, folder: int | None, by_name: bool) -> Source:
    """The source as its file is now; the same as before if nobody has touched it."""
    stat = files.check_is_file(path, ADD_IT)
    mtime = min(max(stat.st_mtime_ns, -_LATEST), _LATEST)
    settled = old.checked - mtime > _RECENT
    if old.id and not by_name and old.folder is None:
        folder = None  # one that was named itself stays, also if a folder above it is added
    same = (stat.st_size, mtime) == (old.size, old.mtime)
    if old.id and same and settled and folder == old.folder:
        return old
    now = time.time_ns()
    return replace(
        old,
        kind=path.suffix.lower().lstrip(".") or "txt",
        folder=folder,
        sha256=files.sha256(path),
        size=stat.st_size,
        mtime=mtime,
        checked=now,
    )


def _noted(truth: Truth, source: Source) -> None:
    """Keep when an unchanged file was last touched: so it need not be read the next time."""
    with truth.transaction() as connection:
        update = "UPDATE sources SET folder = ?, size = ?, mtime = ?, checked = ? WHERE id = ?"
        values = source.folder, source.size, source.mtime, source.checked, source.id
        connection.execute(update, values)


def _passages(truth: Truth, source: int) -> int:
    return int(truth.rows("SELECT count(*) FROM occurrences WHERE source = ?", (source,))[0][0])
