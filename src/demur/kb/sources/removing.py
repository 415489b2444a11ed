"""What is taken out of a knowledge base, by paths or by names."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from demur.errors import DataError
from demur.kb.files.documents import files_in
from demur.kb.sources.spelling import whole
from demur.kb.sources.twins import RealPaths
from demur.kb.store.changing import change
from demur.kb.store.truth import Truth
from demur.paths import is_folder

AGAIN = "it still lies in a folder that was added, so the next update adds it again"


def remove_sources(truth: Truth, sources: list[tuple[int, str]]) -> None:
    """Take them out, all at once."""
    with change(truth, f"remove {_many([name for _, name in sources])}") as made:
        made.remove(id for id, _ in sources)


def followed(truth: Truth, sources: list[tuple[int, str]]) -> set[int]:
    """Which of the sources the next update would add again if they were taken out now."""
    real, going = RealPaths(), {id for id, _ in sources}
    known = truth.rows("SELECT id, path FROM sources WHERE died IS NULL AND path IS NOT NULL")
    paths: dict[int, str] = {id: real.of(path) for id, path in known}
    folders = [Path(path) for (path,) in truth.rows("SELECT path FROM folders") if is_folder(path)]
    there = {real.of(str(file)) for folder in folders for file in files_in(folder)}
    there -= {path for id, path in paths.items() if id not in going}
    return {id for id in going if paths.get(id) in there}


def sources_named(truth: Truth, names: Iterable[str | Path], by_name: bool) -> list[tuple[int, str]]:
    """The sources that are meant by their paths, or those of folders that they lie in; if none, by name.

    With `by_name`, they are meant by their names alone.
    """
    rows = truth.rows("SELECT id, name, path FROM sources WHERE died IS NULL ORDER BY name")
    found: dict[int, str] = {}
    for name in map(str, names):
        if by_name:
            here = {id: called for id, called, _ in rows if called == name}
        else:
            here = _at(rows, whole(Path(name))) or _called_so(rows, name, truth)
            if not here and _folders_at(truth, name):
                continue  # a folder that holds none
        if not here:
            fix = "demur kb status lists what is there; nothing was removed"
            raise DataError(f"has no source {name}", path=truth.place, fix=fix)
        found |= here
    return list(found.items())


def _at(rows: list[tuple[Any, ...]], path: str) -> dict[int, str]:
    """The sources at a path or in a folder; if there are none, those that links lead to from there."""
    files = [(id, called, at) for id, called, at in rows if at]
    here = {id: called for id, called, at in files if _within(at, path)}
    real, there = RealPaths(), os.path.realpath(path)
    if is_folder(path):
        here |= {id: called for id, called, at in files if _within(real.lies(at), there)}
    if here or not os.path.lexists(path):
        return here
    return {id: called for id, called, at in files if _within(real.of(at), there)}


def _folders_at(truth: Truth, name: str) -> dict[str, str]:
    """The folders that are followed at a path or below it, by whatever links, or that are called so."""
    known = truth.rows("SELECT path, name FROM folders")
    path = whole(Path(name))
    there = os.path.realpath(path)
    here = {at: called for at, called in known if _within(at, path) or _within(os.path.realpath(at), there)}
    if here or os.path.lexists(path):
        return here
    return {at: called for at, called in known if _within(called, name)}


def _called_so(rows: list[tuple[Any, ...]], name: str, truth: Truth) -> dict[int, str]:
    """The sources of a name, or of that of a folder, by id; not if another file here has that path."""
    here = {id: called for id, called, _ in rows if _within(called, name)}
    if here and os.path.lexists(name) and not any(called == name and not at for _, called, at in rows):
        what = f"has no source at {whole(Path(name))}; what is called {name} was added from elsewhere"
        fix = "to remove that, run this in another folder; nothing was removed"
        raise DataError(what, path=truth.place, fix=fix)
    return here


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def unfollow(truth: Truth, paths: Iterable[str | Path]) -> list[str]:
    """Folders whose files are followed are not any more; the names of those that hold no source."""
    gone: dict[str, str] = {}
    for path in map(str, paths):
        gone |= _folders_at(truth, path)
    with truth.transaction() as said:
        said.executemany("DELETE FROM folders WHERE path = ?", [(path,) for path in gone])
    files = truth.rows("SELECT id, name, path FROM sources WHERE died IS NULL AND path IS NOT NULL")
    return [called for path, called in gone.items() if not _at(files, path)]


def _many(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} sources"
