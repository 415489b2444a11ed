"""The files of a job: what is read, what comes of it, and the folder in which its shards wait."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from demur.data.formats import parquet
from demur.data.formats.beir import is_beir
from demur.data.formats.known import by_name, names_file
from demur.errors import DataError, DemurError, UsageError
from demur.files import check_apart, check_is_file, is_pipe, replacing
from demur.parts import Parts
from demur.scoring import WITH_EXTRAS

READ = ("jsonl", "parquet")
"""Formats whose rows are told apart, so that a bad one can be left out."""
_READ = re.compile(r"[^._].*\.(jsonl|ndjson|parquet)(\.gz)?", re.IGNORECASE | re.DOTALL)
_DONE, _BAD = "done.json", "bad.jsonl"


class Folders(Parts):
    """The folder of a job of many files: for each of them it has one, in which shards wait."""

    def written(self) -> dict[str, int]:
        """The files that the job of these shards has written, with their sizes."""
        found = dict((self.finished() or {}).get("written", {}))  # as some folders may be removed by then
        for note in self.folder.glob(f"*/{_DONE}"):
            told = json.loads(note.read_text("utf-8"))
            found[told["target"]] = told["bytes"]
        return found

    def published(self, into: Path) -> list[Path]:
        """Those of these files that lie in a folder, and are what they were."""
        found = []
        for name, size in self.written().items():
            path = Path(name)
            inside = path.resolve().is_relative_to(into.resolve())
            if inside and path.is_file() and path.stat().st_size == size:
                found.append(path)
        return found


@dataclass(frozen=True)
class Item:
    """One file of a job. It is plain, so that it can be sent to a worker."""

    number: int
    source: str
    target: str
    folder: str
    write_as: str
    stamp: Sequence[int]
    """Size and time of the file: what tells whether it is still the same without reading it."""

    @property
    def parts(self) -> Parts:
        """Its shards."""
        return Parts(self.target, self.folder)

    def place(self, row: int) -> str:
        """How an error calls a row."""
        return f"{self.source}: row {row}" if self.source.endswith(".parquet") else f"{self.source}:{row}"

    def check_unchanged(self) -> None:
        """Raise an error if the file is not what it was when the job began."""
        if stamp_of(self.source) != [*self.stamp]:
            fix = "score it again when nothing writes there"
            raise DataError("was changed while it was read", path=self.source, fix=fix)

    def note(self, number: int | None, kind: str) -> Path:
        """A file beside the shards that tells something of one of them, or of the reading of them all."""
        return Path(self.folder) / f"{'read' if number is None else f'{number:06d}'}.{kind}"

    def tell_bad(self, number: int | None, rows: list[tuple[int, str]]) -> None:
        """Keep what is wrong with some rows, in place of what was kept before."""
        note = self.note(number, _BAD)
        if not rows:
            note.unlink(missing_ok=True)
            return
        with replacing(note) as file:
            for row, problem in rows:
                told = {"file": self.source, "row": row, "problem": problem}
                # half characters, as of a file's name that is not UTF-8, cannot be written
                said = json.dumps(told, ensure_ascii=False).encode("utf-8", "replace").decode()
                file.write(f"{said}\n")

    def bad(self, number: int | None = None) -> list[dict[str, Any]]:
        """What was kept of the rows that are left out, in their order: of all, or of one shard."""
        notes = [self.note(number, _BAD)] if number is not None else Path(self.folder).glob(f"*.{_BAD}")
        lines = (line for note in notes if note.exists() for line in note.read_text("utf-8").split("\n"))
        return sorted(map(json.loads, filter(None, lines)), key=lambda told: int(told["row"]))

    def done(self) -> tuple[int, int] | None:
        """How many pools and pairs were written, if the file that is there is ours."""
        note, target = Path(self.folder) / _DONE, Path(self.target)
        if not note.is_file() or not target.is_file():
            return None
        told = json.loads(note.read_text("utf-8"))
        if told.get("bytes") != target.stat().st_size:
            return None
        return int(told["pools"]), int(told["pairs"])

    def publish(self, pools: int, pairs: int) -> None:
        """Move the joined file to where it is wanted, and know it again: a kill may come between the two."""
        with replacing(Path(self.folder) / _DONE) as file:
            size = self.parts.joined.stat().st_size
            json.dump({"pools": pools, "pairs": pairs, "bytes": size, "target": self.target}, file)
        self.parts.publish(self.target)

    def check_free(self) -> None:
        """Refuse a file that is there already and that another has written."""
        if Path(self.target).exists() and self.done() is None:
            raise foreign(Path(self.target))


def foreign(path: Path) -> DataError:
    """The error that says that a file is there already and that another has written it."""
    what = "exists already, and this job did not write it"
    return DataError(what, path=path, fix="remove it, or name another place to write")


def stamp_of(path: str | Path) -> list[int]:
    """Size and time of a file; nothing if it is gone."""
    try:
        stat = Path(path).stat()
    except OSError:
        return []
    return [stat.st_size, stat.st_mtime_ns]


def files_in(folder: Path) -> tuple[list[Path], list[str]]:
    """The files of a folder and of those in it, by name; and what is wrong with what cannot be read there.

    Hidden ones are left alone, and so are links to folders that are read anyway.
    """
    found: list[Path] = []
    refused: list[DataError] = []

    def unread(error: OSError) -> None:
        fix = "change its permissions"
        refused.append(DataError(f"cannot be read ({error.strerror})", path=error.filename, fix=fix))

    root = Path(os.path.realpath(folder))
    for where, folders, names in os.walk(folder, onerror=unread):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]  # as _SUCCESS
        links = [path for path in (Path(where, name) for name in folders) if path.is_symlink()]
        elsewhere = [path for path in links if not Path(os.path.realpath(path)).is_relative_to(root)]
        wanted = [Path(where, name) for name in names if _READ.fullmatch(name)]
        for path in elsewhere + wanted:
            try:
                check_is_file(path, "score that folder too")
                found.append(path)
            except DataError as error:
                refused.append(error)
    return sorted(found), sorted(map(str, refused))


@dataclass(frozen=True)
class Files:
    """What is to be read and where it is to be written: a file into a file, or a folder into a folder."""

    source: Path
    target: Path
    write_as: str

    @classmethod
    def of(cls, source: str, target: str, write_as: str | None) -> Files:
        """The files of a job; what cannot be is one line, before the work."""
        if is_pipe(source) or is_pipe(target):
            raise UsageError("a pipe cannot be resumed; name files or folders")
        given, wanted = Path(source), Path(target)
        if not given.exists():
            what = "no such file or folder"
            raise DataError(
                what, path=source, fix="check the spelling of the path; a dataset's id will not do"
            )
        if is_beir(given):
            raise UsageError(f"{source} is one set of pools in BEIR's form; score it without --engine ray")
        inside = wanted.resolve().is_relative_to(given.resolve())
        if given.is_dir() and inside:
            raise UsageError(f"{target} lies in {source}, and would be read the next time; write elsewhere")
        if given.is_dir() and not wanted.is_dir() and not target.endswith("/") and names_file(wanted):
            raise UsageError(f"{target} names a file, but the input is a folder; name a folder")
        kind = write_as or ("parquet" if given.is_dir() else by_name(target))
        if kind not in WITH_EXTRAS:
            able = ", ".join(WITH_EXTRAS)
            raise UsageError(f"{target}: cannot be written as {kind!r}; these can be: {able}")
        if not given.is_dir() and wanted.is_dir():
            raise DataError("is a folder, not a file", path=target, fix="name a file in it")
        check_apart(wanted, given)
        if given.is_dir() and wanted.exists() and not wanted.is_dir():
            raise DataError("is a file, not a folder", path=target, fix="name a folder to write into")
        return cls(given, wanted, kind)

    @cached_property
    def items(self) -> list[Item]:
        """The files, in the order of their names."""
        folders = Folders(str(self.target)).folder
        found = list(self._named())
        if not found and self.left_out:
            raise DemurError(self.left_out[0])
        if not found:
            what = "holds no .jsonl, .ndjson or .parquet file"
            raise DataError(what, path=self.source, fix="name the folder that has them")
        if "parquet" in {self.write_as, *(by_name(path) for path, _ in found)}:
            parquet.needed()
        targets: dict[Path, Path] = {}
        for path, target in found:
            if target in targets:
                what = f"and {path} would both become {target}"
                raise DataError(what, path=targets[target], fix="rename one of them")
            targets[target] = path
        return [
            Item(
                n, str(path), str(target), str(folders.absolute() / f"{n:06d}"), self.write_as, stamp_of(path)
            )
            for n, (path, target) in enumerate((path.absolute(), target.absolute()) for path, target in found)
        ]

    @property
    def left_out(self) -> list[str]:
        """What is wrong with what lies in the folder and is no file that can be read."""
        return self._lying[1] if self.source.is_dir() else []

    @cached_property
    def _lying(self) -> tuple[list[Path], list[str]]:
        return files_in(self.source)

    def _named(self) -> Iterator[tuple[Path, Path]]:
        if not self.source.is_dir():
            if by_name(self.source) not in READ:
                raise UsageError(
                    f"{self.source}: is neither .jsonl nor .parquet; score it without --engine ray"
                )
            yield self.source, self.target
            return
        for path in self._lying[0]:
            stem = path.name[: path.name.lower().removesuffix(".gz").rindex(".")]
            yield path, self.target / path.relative_to(self.source).parent / f"{stem}.{self.write_as}"
