"""Files and a knowledge base: what is new, changed, as it was, or gone."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from demur import files
from demur.errors import DataError, DemurError, UnusableBase
from demur.kb.files.documents import ADD_IT, begun, files_in, read_documents
from demur.kb.sources.removing import remove_sources
from demur.kb.sources.reports import FileReport
from demur.kb.sources.spelling import called_as, is_utf8, whole
from demur.kb.sources.twins import Known, RealPaths, Twins
from demur.kb.store.changing import Source, change
from demur.kb.store.truth import Truth
from demur.paths import is_file, is_folder, is_gone, is_link

_RECENT = 2_000_000_000  # nanoseconds: a file written so shortly before may be written again unseen
_LATEST = 2**63 - 1  # nanoseconds: the latest time that SQLite keeps
_log = logging.getLogger(__name__)
Advance = Callable[[int], None]


def added(truth: Truth, paths: Iterable[str | Path], advance: Advance | None = None) -> Iterator[FileReport]:
    """What became of each file, and of each one in folders, as it goes in."""
    twins = Twins(truth)
    folders = truth.rows("SELECT path, name FROM folders")
    known = {key: each for each in folders for key in (os.path.realpath(each[0]), each[0])}
    for path in map(Path, paths):
        if is_folder(path):
            called = called_as(path)
            if not is_utf8(whole(path)):
                yield _not_utf8(called)
                continue
            real, new = os.path.realpath(path), (whole(path), called)
            folder, name = known.get(whole(path)) or known.setdefault(real, new)
            if folder != whole(path):
                yield FileReport(called, "unchanged", 0, f"is the same folder as {name}")
                path = Path(folder)
            called = name
            found = files_in(path)
            if not found:
                yield FileReport(str(path), "skipped", reason="no file in it that demur reads")
                continue
            id = _folder(truth, path, called)
            for each in found:
                name = str(Path(called, each.relative_to(path)))
                yield _taken(truth, each, id, each == path, twins, advance, name)
        else:
            yield _taken(truth, path, None, True, twins, advance)


def updated(truth: Truth, advance: Advance | None = None) -> Iterator[FileReport]:
    """What became of each file of the base, and of new ones in its folders.

    A file that is gone from its folder is removed. One that was named itself stays, as does all of a folder
    that is gone or empty, as it may be on a disk that is not there just now, or that may not be read.
    """
    folders = truth.rows("SELECT id, path, name FROM folders ORDER BY path")
    found = {
        id: [(path, whole(path)) for path in files_in(Path(folder))] if is_folder(folder) else []
        for id, folder, _ in folders
    }
    complete = {id: folder for id, folder, _ in folders if found[id]}
    seen = {place: id for id, paths in found.items() for _, place in paths}  # by the innermost folder
    shut = [place for paths in found.values() for path, place in paths if _is_folder(path)]
    rows = truth.rows("SELECT id, name, path, folder FROM sources WHERE died IS NULL AND path IS NOT NULL")
    gone = _led_away(seen, rows) | {
        path
        for _, _, path, folder in rows
        if folder in complete and path not in seen and _gone(Path(path), Path(complete[folder]))
    }
    twins = Twins(truth, gone)  # what takes the place of one that is gone is no twin of it
    for id, folder, called in folders:
        for path, place in found[id]:
            if seen[place] == id and place not in gone:
                name = str(Path(called, path.relative_to(folder)))
                yield _taken(truth, path, id, False, twins, advance, name)
    others = [row for row in sorted(rows, key=lambda row: row[1]) if row[2] in gone or row[2] not in seen]
    for id, folder, called in folders:
        if id not in complete:
            of_it = [row for row in others if row[3] == id]
            others = [row for row in others if row[3] != id]
            if of_it:
                yield _left(truth, folder, called, [row[0] for row in of_it])
    for id, name, path, folder in others:
        if any(Path(path).is_relative_to(each) for each in shut):
            continue  # told of the folder already
        if path in gone:
            remove_sources(truth, [(id, name)])
            yield FileReport(name, "removed")
        else:
            yield _taken(truth, Path(path), folder, True, twins, advance, known=path)


def _left(truth: Truth, folder: str, called: str, sources: list[int]) -> FileReport:
    """What is told of a folder whose files stay, though it is not there, or holds none."""
    out = "or take it out with demur kb remove"
    if is_gone(folder):
        why = f"is gone; put it back, {out}"
    elif is_folder(folder):
        why = f"has no file any more that demur reads; put them back, {out}"
    else:
        why = "may not be read; change its permissions"
    count = sum(_passages(truth, each) for each in sources)
    return FileReport(called, "skipped", count, f"{why}; what was read of it before stays")


def _gone(path: Path, root: Path) -> bool:
    """Whether a file is no more: nothing, or a folder, is there, or a link to a folder leads there."""
    if any(is_link(each) for each in path.parents if each != root and each.is_relative_to(root)):
        return True
    return (is_gone(path) and not is_link(path)) or _is_folder(path)


def _led_away(seen: Collection[str], rows: Iterable[tuple[Any, ...]]) -> set[str]:
    """The files of folders that have become links: to a folder, or to a file that is there as well."""
    known = {path: folder for _, _, path, folder in rows}
    real, found = RealPaths(), set()
    there = {real.of(path) for path in known if path not in seen or known[path] is None}
    there |= {real.lies(path) for path in seen if not is_link(path)}
    for path in sorted(path for path in seen if known.get(path) is not None and is_link(path)):
        if is_folder(path) or (not is_gone(path) and os.path.realpath(path) in there):
            found.add(path)
        there.add(os.path.realpath(path))
    return found


def _is_folder(path: Path) -> bool:
    return is_folder(path) and not is_link(path)


def _folder(truth: Truth, path: Path, called: str) -> int:
    """The id of a folder whose files are followed."""
    with truth.transaction() as connection:
        insert = "INSERT INTO folders (path, name) VALUES (?, ?) ON CONFLICT DO NOTHING"
        connection.execute(insert, (whole(path), called))
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
        old = Source(name, "", place)
    told: FileReport | None = None
    try:
        with files.unchanging(path) as check:
            now = _seen(path, old, folder, by_name)
            if now == old:
                return FileReport(name, "unchanged", _passages(truth, old.id))
            if rows and now.sha256 == old.sha256:
                _noted(truth, now)
                return FileReport(name, "unchanged", _passages(truth, old.id))
            if not rows and (same := twins.of(place)):
                told = _of_twin(truth, place, name, same, by_name and folder is None, twins, advance, check)
                if told.status == "unchanged" and name != same.name:
                    told = FileReport(name, "unchanged", 0, f"is the same file as {same.name}", by_name)
                return told
            if not rows:
                name = _free(truth, name, place)
                now = replace(now, name=name)
            documents = begun(read_documents(Path(place)))
            with change(truth, f"{'change' if rows else 'add'} {name}") as made:
                count = made.put(now, documents, advance)
                check()
            none = "" if count else "there is no text in it"
            told = FileReport(name, "changed" if rows else "added", count, none)
            twins.add(Known(name, place))
    except DemurError as error:
        if isinstance(error, UnusableBase):
            raise  # not the file's fault
        if told is not None:
            return told  # it was changed again when this version of it was in
        why = str(error)
        if spelt := next((each for each in (place, str(path)) if why.startswith(each)), ""):
            why = f"{name}{why.removeprefix(spelt)}"  # people know the file by the name that they gave it
        if not (is_file(path) or rows) or not isinstance(error, DataError):
            return FileReport(name, "skipped", 0, why, by_name)
        if rows and is_gone(path) and not is_link(path):
            why = f"{name}: is gone; put it back, or take it out with demur kb remove"
        kept = "; what was read of it before stays" if rows else ""
        return FileReport(name, "skipped", _passages(truth, old.id), f"{why}{kept}", by_name)
    return told


def _free(truth: Truth, name: str, place: str) -> str:
    """What a file is called: its name, or its path if another is called that, from where it was added."""
    for each in (name, place):
        if not truth.rows("SELECT id FROM sources WHERE name = ? AND died IS NULL", (each,)):
            return each
    fix = "take that out first: demur kb remove"
    raise DataError("is what something else is called in this base", path=place, fix=fix)


def _not_utf8(name: str, named: bool = True) -> FileReport:
    shown = name.encode("utf-8", "replace").decode()
    return FileReport(shown, "skipped", reason="its path is not UTF-8; rename it", named=named)


def _of_twin(
    truth: Truth,
    place: str,
    name: str,
    same: Known,
    named: bool,
    twins: Twins,
    advance: Any,
    check: Callable[[], None],
) -> FileReport:
    """What became of a source that is the same file as another path, which may have been named itself.

    What was named stays when a folder above it goes. If it was known by a link, and not named by one, it is
    known by the path and the name that were given from now on: links come and go.
    """
    if named and twins.real.of(place) == place:
        id, kind = truth.rows("SELECT id, kind FROM sources WHERE path = ? AND died IS NULL", (same.path,))[0]
        called = name if name == same.name else _free(truth, name, place)
        now = _seen(Path(place), Source(called, kind, place, id=id), None, True)
        documents = begun(read_documents(Path(place)))
        with change(truth, f"change {called}") as made:
            count = made.put(now, documents, advance)
            check()
        twins.add(Known(called, place))
        return FileReport(called, "changed", count, f"was called {same.name}" if called != same.name else "")
    if named:
        with truth.transaction() as said:
            said.execute("UPDATE sources SET folder = NULL WHERE path = ? AND died IS NULL", (same.path,))
    rows = truth.rows("SELECT folder FROM sources WHERE path = ? AND died IS NULL", (same.path,))
    return _taken_in_turn(truth, Path(same.path), same.path, rows[0][0], False, twins, advance, same.name)


def _seen(path: Path, old: Source, folder: int | None, by_name: bool) -> Source:
    """The source as its file is now; the same as before if nobody has touched it."""
    stat = files.check_is_file(path, ADD_IT)
    mtime = min(max(stat.st_mtime_ns, -_LATEST), _LATEST)
    settled = old.checked - max(mtime, stat.st_ctime_ns) > _RECENT  # ctime: another may have taken its place
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
