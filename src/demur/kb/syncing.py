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
from demur.kb.store.changing import Source, change
from demur.kb.store.truth import Truth
from demur.kb.twins import Known, Twins

_RECENT = 2_000_000_000  # nanoseconds: a file written so shortly before may be written again unseen
_LATEST = 2**63 - 1  # nanoseconds: the latest time that SQLite keeps
AGAIN = "it still lies in a folder that was added, so the next update adds it again"
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
        if path.is_dir():
            called = _called(path)
            if not _is_utf8(whole(path)):
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
    seen, twins = set(), Twins(truth)
    complete: dict[int, str] = {}
    shut: list[str] = []
    for id, folder, called in truth.rows("SELECT id, path, name FROM folders ORDER BY path"):
        found = files_in(Path(folder)) if Path(folder).is_dir() else []
        if found:
            complete[id] = folder
        shut += [whole(path) for path in found if path.is_dir() and not path.is_symlink()]
        for path in found:
            seen.add(whole(path))
            name = str(Path(called, path.relative_to(folder)))
            yield _taken(truth, path, id, False, twins, advance, name)
    rows = truth.rows("SELECT id, name, path, folder FROM sources WHERE died IS NULL AND path IS NOT NULL")
    for id, name, path, folder in sorted(rows, key=lambda row: row[1]):
        if path in seen:
            continue
        if any(Path(path).is_relative_to(each) for each in shut):
            continue  # told of the folder already
        if folder in complete and _gone(Path(path), Path(complete[folder])):
            yield from remove_sources(truth, [(id, name)])
        else:
            yield _taken(truth, Path(path), folder, True, twins, advance)


def _gone(path: Path, root: Path) -> bool:
    """Whether a file is no more: nothing, or a folder, is there, or a link to a folder leads there."""
    if any(each.is_symlink() for each in path.parents if each != root and each.is_relative_to(root)):
        return True
    return not os.path.lexists(path) or (path.is_dir() and not path.is_symlink())


def remove_sources(truth: Truth, sources: list[tuple[int, str]]) -> Iterator[FileReport]:
    """What was taken out, all at once."""
    with change(truth, f"remove {_many([name for _, name in sources])}") as made:
        made.remove(id for id, _ in sources)
    for _, name in sources:
        yield FileReport(name, "removed")


def followed(truth: Truth, sources: list[tuple[int, str]]) -> set[int]:
    """Which of the sources the next update would add again if they were taken out now."""
    folders = {Path(path) for (path,) in truth.rows("SELECT path FROM folders")}
    known = truth.rows("SELECT id, path FROM sources WHERE died IS NULL AND path IS NOT NULL")
    paths: dict[int, str] = dict(known)
    there = [(id, Path(paths[id])) for id, _ in sources if id in paths]
    return {id for id, path in there if folders.intersection(path.parents) and path.exists()}


def sources_named(truth: Truth, names: Iterable[str | Path], by_name: bool) -> list[tuple[int, str]]:
    """The sources that are meant by their paths, or those of folders that they lie in; if none, by name.

    With `by_name`, they are meant by their names alone.
    """
    rows = truth.rows("SELECT id, name, path FROM sources WHERE died IS NULL ORDER BY name")
    folders = {path for (path,) in truth.rows("SELECT path FROM folders")}
    found: dict[int, str] = {}
    for name in map(str, names):
        path = whole(Path(name))
        inside = path.rstrip(os.sep) + os.sep
        here = {id: called for id, called, at in rows if at and (at == path or at.startswith(inside))}
        if by_name or not here:
            here = {id: called for id, called, _ in rows if called == name}
        if not here and (by_name or path not in folders):
            fix = "demur kb status lists what is there; nothing was removed"
            raise DataError(f"has no source {name}", path=truth.place, fix=fix)
        found |= here
    return list(found.items())


def unfollow(truth: Truth, paths: Iterable[str | Path]) -> list[str]:
    """The names of those of the paths that were folders whose files are followed: they are not any more."""
    known: dict[str, str] = dict(truth.rows("SELECT path, name FROM folders"))
    gone = {path: known[path] for path in map(whole, map(Path, paths)) if path in known}
    with truth.transaction() as said:
        said.executemany("DELETE FROM folders WHERE path = ?", [(path,) for path in gone])
    return list(gone.values())


def _folder(truth: Truth, path: Path) -> int:
    """The id of a folder whose files are followed."""
    with truth.transaction() as connection:
        insert = "INSERT INTO folders (path, name) VALUES (?, ?) ON CONFLICT DO NOTHING"
        connection.execute(insert, (whole(path), _called(path)))
    return int(truth.rows("SELECT id FROM folders WHERE path = ?", (whole(path),))[0][0])


def whole(path: Path) -> str:
    """The path from the root, by one spelling: ``docs/../docs`` is ``docs``, unless a link is in the way."""
    there = path.absolute()
    short = Path(os.path.normpath(there))
    return str(short if _same(short, there) else there)


def _called(path: Path) -> str:
    """The path as it was given, by the same spelling."""
    short = Path(os.path.normpath(path))
    return str(short if _same(short.absolute(), path.absolute()) else path)


def _same(short: Path, there: Path) -> bool:
    if ".." not in there.parts:
        return True
    try:
        return short.samefile(there)
    except OSError:  # neither is there: nothing is known of links
        return not (short.exists() or there.exists())


def _taken(
    truth: Truth,
    path: Path,
    folder: int | None,
    by_name: bool,
    twins: Twins,
    advance: Any,
    name: str = "",
) -> FileReport:
    """What became of one file; if it cannot be read, what was read of it before stays."""
    with truth.turn():
        return _taken_in_turn(truth, path, folder, by_name, twins, advance, name or _called(path))


def _taken_in_turn(
    truth: Truth, path: Path, folder: int | None, by_name: bool, twins: Twins, advance: Any, name: str
) -> FileReport:
    place = whole(path)
    if not _is_utf8(place):
        return _not_utf8(name, by_name)
    columns = "id, name, kind, path, folder, sha256, size, mtime, checked"
    rows = truth.rows(f"SELECT {columns} FROM sources WHERE path = ? AND died IS NULL", (place,))
    if rows:
        id, name, kind, _, before, sha256, size, mtime, checked = rows[0]
        old = Source(name, kind, place, before, sha256, size, mtime, checked, id)
    else:
        if truth.rows("SELECT id FROM sources WHERE name = ? AND died IS NULL", (name,)):
            name = place  # another file is called that, from where it was added
        old = Source(name, "", place)
    try:
        with files.unchanging(path):
            now = _seen(path, old, folder)
            if now == old:
                return FileReport(name, "unchanged", _passages(truth, old.id))
            if rows and now.sha256 == old.sha256:
                _noted(truth, now)
                return FileReport(name, "unchanged", _passages(truth, old.id))
            if not rows and (same := twins.of(place)):
                told = _taken_in_turn(truth, Path(same.path), None, by_name, twins, advance, same.name)
                if told.status != "unchanged":
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
        if not (path.is_file() or rows) or not isinstance(error, DataError):
            return FileReport(name, "skipped", 0, why, by_name)
        if rows and not path.exists():
            why = f"{name}: is gone; put it back, or take it out with demur kb remove"
        kept = "; what was read of it before stays" if rows else ""
        return FileReport(name, "skipped", _passages(truth, old.id), f"{why}{kept}", by_name)
    return FileReport(name, "changed" if rows else "added", count, "" if count else "there is no text in it")


def _is_utf8(path: str) -> bool:
    """Whether a path can be kept: one that is not UTF-8 cannot."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _not_utf8(name: str, named: bool = True) -> FileReport:
    shown = name.encode("utf-8", "replace").decode()
    return FileReport(shown, "skipped", reason="its path is not UTF-8; rename it", named=named)


def _seen(path: Path, old: Source, folder: int | None) -> Source:
    """The source as its file is now; the same as before if nobody has touched it."""
    files.check_is_file(path, ADD_IT)
    try:
        stat = path.stat()
    except OSError:
        raise DataError("no such file", path=path, fix="check the spelling of the path") from None
    mtime = min(max(stat.st_mtime_ns, -_LATEST), _LATEST)
    settled = old.checked - mtime > _RECENT
    folder = old.folder if folder is None else folder
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


def _many(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} sources"
