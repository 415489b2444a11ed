"""Files that are sent to the base: safe names, and a place where they survive a kill until they are in."""

from __future__ import annotations

import json
import os
import re
import secrets
import time
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from demur.errors import DataError, UsageError
from demur.files import GZIP
from demur.kb.files.documents import read_documents, readable
from demur.kb.folder import KnowledgeBase
from demur.kb.passages import Passage
from demur.kb.store import schema
from demur.kb.syncing import FileReport

_LONGEST = 200  # characters of a name
_HALF = 24 * 3600.0  # seconds after which what is half-written will stay so
_NAMED = re.compile("[0-9a-f]{24}")


class Unreadable(DataError):
    """A file that was sent and that no later try will read."""


class _TakenAway(Exception):
    """An upload whose file is gone."""


@dataclass(frozen=True)
class Upload:
    """A file that was sent, as it lies on the disk, and what it is called."""

    path: Path
    name: str

    def read(self) -> list[Passage]:
        """Its passages; what cannot be read is `Unreadable`."""
        try:
            passages = list(self.passages())
        except DataError as error:
            raise Unreadable(str(error)) from None
        if not passages:
            raise Unreadable("holds no text", path=self.name, fix="send a file with text in it")
        return passages

    def put(self, kb: KnowledgeBase) -> FileReport | None:
        """What became of it, once its passages are in the base and the file is gone.

        None if the file was gone before: another server on this base took it in, or a newer version of it.
        """
        try:
            passages = self.read()
        except Unreadable:
            if self.path.is_file():
                raise
            passages = []
        try:
            report = kb.put(self.name, self._while_here(passages), self.path.suffix.lstrip("."))
        except _TakenAway:
            return None
        self.drop()
        return report

    def _while_here(self, passages: list[Passage]) -> Iterator[Passage]:
        """The passages; asked for once nobody else writes, so that what others made newer stays."""
        if not self.path.is_file():
            raise _TakenAway
        yield from passages

    def passages(self) -> Iterator[Passage]:
        """Its passages, named by what the file is called, not by where it lies."""
        where = str(self.path)
        try:
            for passage in read_documents(self.path):
                id, source = (
                    self.name + said[len(where) :] if said.startswith(where) else said
                    for said in (passage.id, passage.source)
                )
                yield replace(passage, id=id, source=source)
        except DataError as error:
            raise DataError(str(error).replace(where, self.name)) from None

    @property
    def note(self) -> Path:
        """The file that says what it is called; it is written last, so without it nobody was told of it."""
        return self.path.with_suffix(".json")

    def drop(self) -> None:
        """Remove the file."""
        for each in (self.path, self.note):
            with suppress(OSError):
                each.unlink()


def checked_name(name: str) -> str:
    """A name under which a file can be kept, or an error; it is never used as a path."""
    name = unicodedata.normalize("NFC", name.strip())
    if not name or len(name) > _LONGEST:
        raise UsageError(f"a document's name must have 1 to {_LONGEST} characters; send another")
    if "\ufffd" in name:  # what the bytes become that are no UTF-8: two such names would be the same
        raise UsageError("a document's name must be percent-encoded UTF-8")
    if any(unicodedata.category(each) in ("Cc", "Cf", "Cs", "Zl", "Zp") for each in name):
        raise UsageError("a document's name must not have control characters; send another")
    if "/" in name or "\\" in name or name.startswith("."):
        raise UsageError("a document's name must not be a path or begin with a dot; send a plain name")
    if not readable(Path(name)) or name.lower().endswith(".gz"):
        fix = "send .md, .txt, .csv, .jsonl, .html, .docx or .pdf, uncompressed"
        raise UsageError(f"demur does not read files of this kind: {name}; {fix}")
    return name


def spooled(folder: Path, name: str, body: bytes) -> Upload:
    """The upload, once it is on the disk in a folder, so that a kill loses nothing."""
    if not body.strip():
        raise UsageError(f"{name} is empty; send a file with text in it")
    if body.startswith(GZIP):
        raise UsageError(f"{name} is compressed; send it uncompressed")
    upload = Upload(folder / f"{secrets.token_hex(12)}{Path(name).suffix.lower()}", name)
    try:
        folder.mkdir(exist_ok=True)
        _kept(upload.path, body)
        _kept(upload.note, json.dumps({"name": name, "file": upload.path.name}).encode())
        at = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(at)
        finally:
            os.close(at)
    except OSError as error:
        upload.drop()  # half of it would lie there for ever
        raise schema.not_written(folder.parent, error) from None
    return upload


def left(folder: Path) -> list[Upload]:
    """The uploads that a server took, and that are not in the base yet: of each document the last.

    Halves that a kill left are removed, once they are so old that no server is writing them any more.
    """
    _remove_halves(folder)
    found: list[tuple[int, Upload]] = []
    for path in folder.glob("*.json"):
        try:
            told = json.loads(path.read_text("utf-8"))
            upload = Upload(path.parent / Path(str(told["file"])).name, checked_name(str(told["name"])))
            sent = path.stat().st_mtime_ns
        except (ValueError, KeyError, TypeError, OSError):
            continue  # half-written
        if upload.path.is_file():
            found.append((sent, upload))
        else:
            upload.drop()  # it is in the base, and a kill came before this was removed
    last: dict[str, Upload] = {}
    for _, each in sorted(found, key=lambda one: one[0]):
        if each.name in last:
            last[each.name].drop()
        last[each.name] = each
    return list(last.values())


def _remove_halves(folder: Path) -> None:
    for path in folder.glob("*"):
        with suppress(OSError):
            if _NAMED.fullmatch(path.stem) and time.time() - path.stat().st_mtime > _HALF and _is_half(path):
                path.unlink()


def _is_half(path: Path) -> bool:
    """Whether it is a file without its note, or a note that was not written to its end."""
    if path.suffix != ".json":
        return not path.with_suffix(".json").exists()
    try:
        json.loads(path.read_bytes())
    except ValueError:
        return True
    return False


def _kept(path: Path, body: bytes) -> None:
    with path.open("xb") as file:
        file.write(body)
        file.flush()
        os.fsync(file.fileno())
