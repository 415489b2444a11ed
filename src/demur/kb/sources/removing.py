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

AGAIN = "it still lies in a folder that was added, so the next update adds it again"


def remove_sources(truth: Truth, sources: list[tuple[int, str]]) -> None:
    """Take them out, all at once."""
    with change(truth, f"remove {_many([name for _, name in sources])}") as made:
        made.remove(id for id, _ in sources)


def followed(truth: Truth, sources: list[tuple[int, str]]) -> set[int]:
    """Which of the sources the next update would add again if they were taken out now."""
    real = RealPaths()
    known = truth.rows("SELECT id, path FROM sources WHERE died IS NULL AND path IS NOT NULL")
    paths: dict[int, str] = dict(known)
    folders = [Path(path) for (path,) in truth.rows("SELECT path FROM folders")]
    there = {real.of(str(file)) for folder in folders if folder.is_dir() for file in files_in(folder)}
    return {id for id, _ in sources if id in paths and real.of(paths[id]) in there}


def sources_named(truth: Truth, names: Iterable[str | Path], by_name: bool) -> list[tuple[int, str]]:
    """The sources that are meant by their paths, or those of folders that they lie in; if none, by name.

    With `by_name`, they are meant by their names alone.
    """
    rows = truth.rows("SELECT id, name, path FROM sources WHERE died IS NULL ORDER BY name")
    folders = {path for (path,) in truth.rows("SELECT path FROM folders")}
    found: dict[int, str] = {}
    for name in map(str, names):
        if by_name:
            here = {id: called for id, called, _ in rows if called == name}
        else:
            here = _at(rows, whole(Path(name)))
            if not here and whole(Path(name)) in folders:
                continue  # a folder that holds none
            here = here or _called_so(rows, name, truth)
        if not here:
            fix = "demur kb status lists what is there; nothing was removed"
            raise DataError(f"has no source {name}", path=truth.place, fix=fix)
        found |= here
    return list(found.items())


def _at(rows: list[tuple[Any, ...]], path: str) -> dict[int, str]:
    """The sources at a path or below it, by id; if none are, those that links lead to from there."""
    files = [(id, called, at) for id, called, at in rows if at]
    here = {id: called for id, called, at in files if _within(at, path)}
    if here or not os.path.lexists(path):
        return here
    real, there = RealPaths(), os.path.realpath(path)
    return {id: called for id, called, at in files if _within(real.of(at), there)}


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
    known: dict[str, str] = dict(truth.rows("SELECT path, name FROM folders"))
    gone = [path for path in map(whole, map(Path, paths)) if path in known]
    with truth.transaction() as said:
        said.executemany("DELETE FROM folders WHERE path = ?", [(path,) for path in gone])
    files = [
        path for (path,) in truth.rows("SELECT path FROM sources WHERE died IS NULL AND path IS NOT NULL")
    ]
    return [known[path] for path in gone if not any(_within(file, path) for file in files)]


def _many(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} sources"
