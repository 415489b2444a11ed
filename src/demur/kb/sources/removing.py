"""What is taken out of a knowledge base, by paths or by names."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from itertools import dropwhile
from pathlib import Path
from typing import Self

from demur.errors import DataError
from demur.kb.files.documents import files_in
from demur.kb.sources.spelling import called_as, whole
from demur.kb.sources.twins import RealPaths
from demur.kb.store.changing import change
from demur.kb.store.truth import Truth
from demur.paths import is_file, is_folder, is_gone, is_link

AGAIN = "it still lies in a folder that was added, so the next update adds it again"


def remove_sources(truth: Truth, sources: list[tuple[int, str]], folders: Collection[str] = ()) -> None:
    """Take them out, and follow these folders no more, all at once."""
    unfollow = "DELETE FROM folders WHERE path = ?"
    if not sources:
        with truth.transaction() as said:
            said.executemany(unfollow, [(path,) for path in folders])
        return
    with change(truth, f"remove {_many([name for _, name in sources])}") as made:
        made.said.executemany(unfollow, [(path,) for path in folders])
        made.remove(id for id, _ in sources)


def followed(truth: Truth, sources: list[tuple[int, str]], without: Collection[str] = ()) -> set[int]:
    """Which of the sources the next update would add again if they and these folders were taken out."""
    real, going = RealPaths(), {id for id, _ in sources}
    known = truth.rows("SELECT id, path FROM sources WHERE died IS NULL AND path IS NOT NULL")
    paths: dict[int, str] = {id: real.of(path) for id, path in known}
    if not going & paths.keys():
        return set()
    left = (path for (path,) in truth.rows("SELECT path FROM folders") if path not in without)
    folders = [Path(path) for path in left if is_folder(path)]
    there = {real.of(str(file)) for folder in folders for file in files_in(folder)}
    there -= {path for id, path in paths.items() if id not in going}
    return {id for id in going if paths.get(id) in there}


@dataclass
class Meant:
    """What is meant by some names: sources, by their ids, and folders that are followed, by their paths."""

    sources: dict[int, str] = field(default_factory=dict)
    folders: dict[str, str] = field(default_factory=dict)
    empty: list[str] = field(default_factory=list)
    """The names of those folders that hold no source."""

    def __bool__(self) -> bool:
        return bool(self.sources or self.folders)

    def __ior__(self, other: Meant) -> Self:
        self.sources |= other.sources
        self.folders |= other.folders
        return self


def meant(truth: Truth, names: Iterable[str | Path], by_name: bool) -> Meant:
    """What is meant by paths; where nothing lies there, by names; with `by_name`, sources by names alone."""
    everything, found = _Everything(truth), Meant()
    for name in map(str, names):
        here = Meant(everything.called(name)) if by_name else everything.meant_by(name)
        if not here:
            fix = "demur kb status lists what is there; nothing was removed"
            raise DataError(f"has no source {name}", path=truth.place, fix=fix)
        found |= here
    found.empty = [name for path, name in found.folders.items() if not everything.holds(path)]
    return found


class _Everything:
    """All sources and all folders of a base, and where they really lie."""

    def __init__(self, truth: Truth) -> None:
        self.truth, self.real = truth, RealPaths()
        self.sources = truth.rows("SELECT id, name, path FROM sources WHERE died IS NULL ORDER BY name")
        self.folders: dict[str, str] = dict(truth.rows("SELECT path, name FROM folders"))
        self.lie = {path: os.path.realpath(path) for path in self.folders}

    def called(self, name: str) -> dict[int, str]:
        """The source of this very name."""
        return {id: called for id, called, _ in self.sources if called == name}

    def meant_by(self, name: str) -> Meant:
        """What lies at a path; if nothing, the text of that name, or what was added by it from elsewhere."""
        if "\0" in name:
            return Meant()
        path = whole(Path(name))
        here = self._at(path)
        if here.sources:
            return here
        texts = {id: called for id, called, at in self.sources if called == name and not at}
        if texts:
            return Meant(texts)
        return here or self._led_to(path) or self._from_elsewhere(called_as(Path(name)), path)

    def holds(self, folder: str) -> bool:
        """Whether a source lies in a folder."""
        return bool(self._at(folder).sources)

    def _at(self, path: str) -> Meant:
        """What is at a path or below it, through whatever links to folders."""
        if file := {id: called for id, called, at in self.sources if at == path}:
            return Meant(file)
        lies = os.path.realpath(path) if self._may_lead(path) else path
        return Meant(
            {
                id: called
                for id, called, at in self.sources
                if at and (_within(at, path) or _within(self.real.lies(at), lies))
            },
            {
                at: called
                for at, called in self.folders.items()
                if _within(at, path) or _within(self.lie[at], lies)
            },
        )

    def _may_lead(self, path: str) -> bool:
        """Whether a path may stand for where it leads: a link in a followed folder leads nowhere."""
        return not (is_link(path) and any(path != each and _within(path, each) for each in self.folders))

    def _led_to(self, path: str) -> Meant:
        """The sources to which a link leads, or which lead here by links of their own."""
        if (is_gone(path) and not is_link(path)) or not (is_file(path) or self._may_lead(path)):
            return Meant()
        there = os.path.realpath(path)
        files = [(id, called, at) for id, called, at in self.sources if at]
        return Meant({id: called for id, called, at in files if _within(self.real.of(at), there)})

    def _from_elsewhere(self, name: str, path: str) -> Meant:
        """What was added by a name, or below it, in another folder; an error if that is not sure."""
        here = Meant(
            {id: called for id, called, _ in self.sources if _within(called, name)},
            {at: called for at, called in self.folders.items() if _within(called, name)},
        )
        if here and (is_link(path) or not is_gone(path)):
            what = f"has no source at {path}; what is called {name} was added from elsewhere"
            fix = "to remove that, run this in another folder; nothing was removed"
            raise DataError(what, path=self.truth.place, fix=fix)
        named = [(at, called) for id, called, at in self.sources if id in here.sources and at]
        named += here.folders.items()
        places = {_place(at, called, name) for at, called in named}
        if len(places) > 1:
            some = ", ".join(sorted(places))
            fix = "name one of them by its path; nothing was removed"
            raise DataError(f"has {name} from more than one place: {some}", path=self.truth.place, fix=fix)
        return here


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _place(at: str, called: str, name: str) -> str:
    """The path that a name had where what lies at a path was called so; else that path itself."""
    end, wanted = _below(called), _below(name)
    return f"{at.removesuffix(end)}{wanted}" if _within(called, name) and at.endswith(end) else at


def _below(name: str) -> str:
    """A name without the steps up that it begins with."""
    return str(Path(*dropwhile(lambda part: part == "..", Path(name).parts)))


def _many(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} sources"
