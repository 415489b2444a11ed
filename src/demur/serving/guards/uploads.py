"""Changes sent to the base: safe names, and a place where they survive a kill until they are made."""

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
from typing import ClassVar

from demur.errors import DataError, UsageError
from demur.files import GZIP
from demur.kb.files.documents import read_documents, readable
from demur.kb.folder import KnowledgeBase
from demur.kb.passages import Passage
from demur.kb.sources.reports import FileReport
from demur.kb.store import schema
from demur.serving.messages.problems import Refusal

_LONGEST = 200  # characters of a name
_HALF = 24 * 3600.0  # seconds after which what is half-written will stay so
_NAMED = re.compile("[0-9a-f]{24}")


class Unreadable(DataError):
    """A file that was sent and that no later try will read."""


class _TakenAway(Exception):
    """A change whose file is gone."""


@dataclass(frozen=True)
class Sent:
    """A change of a document that was sent, as it lies on the disk until it is made."""

    path: Path
    name: str
    kind: ClassVar[str]
    overtaken: ClassVar[str]
    """What is told where another server made it, or a newer one."""

    def put(self, kb: KnowledgeBase) -> FileReport | None:
        """What became of it, once it is made and its file is gone.

        None if the file was gone before: another server on this base made the change, or a newer one.
        """
        raise NotImplementedError

    @property
    def note(self) -> Path:
        """The file that says what it is about; it is written last, so without it nobody was told of it."""
        return self.path.with_suffix(".json")

    def drop(self) -> None:
        """Remove what lies on the disk."""
        for each in (self.path, self.note):
            with suppress(OSError):
                each.unlink()

    def keep(self, *files: tuple[Path, bytes]) -> None:
        """Write these files, so that a kill loses nothing."""
        folder = self.path.parent
        try:
            folder.mkdir(exist_ok=True)
            for path, body in files:
                _kept(path, body)
            at = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(at)
            finally:
                os.close(at)
        except OSError as error:
            self.drop()  # half of it would lie there for ever
            raise schema.not_written(folder.parent, error) from None

    def _check_here(self) -> None:
        if not self.path.is_file():
            raise _TakenAway


@dataclass(frozen=True)
class Removal(Sent):
    """The wish that a document be removed: a note without a file."""

    kind = "remove"
    overtaken = "another server on this knowledge base removed it, or took in a newer version of it"

    def put(self, kb: KnowledgeBase) -> FileReport | None:
        """The document is gone; a refusal if there was none."""

        def named() -> Iterator[str]:
            self._check_here()
            yield self.name

        try:
            check_there(kb, self.name)
            report = kb.remove_named(named())[0]
        except _TakenAway:
            return None
        except (Refusal, DataError):
            if not self.path.is_file():
                return None
            kb.refresh()
            check_there(kb, self.name)  # others may have removed it just now
            raise
        self.drop()
        return report


@dataclass(frozen=True)
class Upload(Sent):
    """A file that was sent, and what it is called."""

    kind = "add"
    overtaken = "another server on this knowledge base added it, or a newer version of it"

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
        """What became of it, once its passages are in the base."""
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
        self._check_here()
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


def plain(name: str) -> str:
    """A name as it is kept, however it was typed."""
    return unicodedata.normalize("NFC", name.strip())


def checked_name(name: str) -> str:
    """A name under which a file can be kept, or an error; it is never used as a path."""
    name = plain(name)
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
    told = {"name": name, "file": upload.path.name}
    upload.keep((upload.path, body), (upload.note, json.dumps(told).encode()))
    return upload


def removal(folder: Path, name: str) -> Removal:
    """The removal of a document, once it is on the disk in a folder."""
    gone = Removal(folder / f"{secrets.token_hex(12)}.json", name)
    gone.keep((gone.note, json.dumps({"name": name, "removed": True}).encode()))
    return gone


def check_there(kb: KnowledgeBase, name: str) -> str:
    """What a document is called in the base: as it is given, or as one that is sent is kept; or a refusal."""
    names = {each for each, _, _ in kb.sources()}
    for each in (name, plain(name)):
        if each in names:
            return each
    raise Refusal(404, f"there is no document {name[:200]!r}; GET /v1/documents lists them")


def left(folder: Path) -> list[Sent]:
    """The changes that a server took, and that are not made yet: of each document the last of each kind.

    Halves that a kill left are removed, once they are so old that no server is writing them any more.
    """
    _remove_halves(folder)
    found: list[tuple[int, Sent]] = []
    for path in folder.glob("*.json"):
        try:
            told = json.loads(path.read_text("utf-8"))
            sent = _told(path, told)
            when = path.stat().st_mtime_ns
        except (ValueError, KeyError, TypeError, OSError):
            continue  # half-written
        if sent.path.is_file():
            found.append((when, sent))
        else:
            sent.drop()  # it is in the base, and a kill came before this was removed
    last: dict[tuple[str, str], Sent] = {}
    for _, each in sorted(found, key=lambda one: one[0]):
        if earlier := last.pop((each.kind, each.name), None):
            earlier.drop()
        last[each.kind, each.name] = each
    return list(last.values())


def _told(note: Path, told: dict[str, object]) -> Sent:
    """What a note is about."""
    name = str(told["name"])
    if told.get("removed"):
        return Removal(note, name)
    return Upload(note.parent / Path(str(told["file"])).name, checked_name(name))


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
