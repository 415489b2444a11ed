"""The files of a knowledge base by where they really lie: so a link to one of them is not another."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass

from demur.kb.store.truth import Truth
from demur.paths import is_link


@dataclass(frozen=True)
class Known:
    """A source that is a file: its name, and the path by which it was added."""

    name: str
    path: str


class RealPaths:
    """Where files really lie; each folder is looked at once."""

    def __init__(self) -> None:
        self._folders: dict[str, str] = {}

    def of(self, path: str) -> str:
        """The path of the file that a path leads to."""
        return os.path.realpath(path) if is_link(path) else self.lies(path)

    def lies(self, path: str) -> str:
        """The path itself by where its folder really lies, whatever it leads to."""
        folder, name = os.path.split(path)
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(folder)
        return f"{self._folders[folder].rstrip(os.sep)}{os.sep}{name}"


class Twins:
    """The files that a base has, `without` those of some paths; read when the first new one comes."""

    def __init__(self, truth: Truth, without: Collection[str] = ()) -> None:
        self.truth, self.without = truth, without
        self.real = RealPaths()
        self._known: dict[str, Known] | None = None

    def of(self, path: str) -> Known | None:
        """The source that is the same file, if there is one."""
        return self._read().get(self.real.of(path))

    def add(self, source: Known) -> None:
        """Know a source that was taken in."""
        self._read()[self.real.of(source.path)] = source

    def _read(self) -> dict[str, Known]:
        if self._known is None:
            alive = "SELECT name, path FROM sources WHERE died IS NULL AND path IS NOT NULL"
            known = (Known(name, path) for name, path in self.truth.rows(alive) if path not in self.without)
            self._known = {self.real.of(source.path): source for source in known}
        return self._known
