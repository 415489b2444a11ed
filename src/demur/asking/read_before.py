"""Files that are asked: read and indexed once, then taken from the cache until a file or our code changes."""

from __future__ import annotations

import hashlib
import io
import json
import logging
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

import demur
from demur import cache as caches
from demur.errors import DataError
from demur.files import is_pipe, replacing, sha256
from demur.kb.files.documents import files_in, read_documents
from demur.kb.files.limits import Limits
from demur.kb.passages import Passage
from demur.rankers.lexical.bm25 import BM25
from demur.rankers.lexical.index import Index

FOLDER = "files"
MANY = 1_000
"""Passages; fewer are read and indexed in less time than anybody notices."""
MOST = 1 << 30
"""Bytes of the cache for files; beyond that, those not asked for longest go."""
_CODE = "*.py", "kb/*/*.py", "kb/*.py", "data/**/*.py", "rankers/lexical/*.py", "asking/read_before.py"
_DIGEST = 32  # bytes
_PACKAGES = "numpy", "snowballstemmer", "pypdfium2", "mammoth", "selectolax"


class Read(NamedTuple):
    """Passages that differ in heading and text, how many more there are of each, and their words."""

    passages: tuple[Passage, ...]
    copies: tuple[int, ...]
    words: Index

    @classmethod
    def of(cls, passages: Iterable[Passage], stem: str) -> Self:
        """Of passages that are alike the first."""
        copies: Counter[str] = Counter()
        kept: dict[str, Passage] = {}
        for passage in passages:
            copies[passage.searched] += 1
            kept.setdefault(passage.searched, passage)
        index = Index(list(kept), BM25(stem=stem))
        return cls(tuple(kept.values()), tuple(copies[searched] - 1 for searched in kept), index)


@dataclass(frozen=True)
class Files:
    """Files and folders to be read; what is read goes through `watched`, as for a meter."""

    paths: Sequence[Path]
    watched: Callable[[Iterable[Passage]], Iterable[Passage]] = iter

    def read(self, stem: str) -> Read:
        """Their passages and words, from the cache if an earlier call has read the same.

        Nothing is kept where a warning was given, as of a file passed over: the next call gives it too.
        """
        key = _key(self.paths, stem)
        if key is not None and (known := _known(key, stem)) is not None:
            return known
        with _warned() as warnings:
            found = Read.of(self.watched(read_documents(self.paths)), stem)
        if len(found.passages) >= MANY and not warnings and key is not None and key == _key(self.paths, stem):
            _keep(key, found)
        return found


@contextmanager
def _warned() -> Iterator[list[logging.LogRecord]]:
    """The warnings that are given in a block."""
    given: list[logging.LogRecord] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = given.append  # type: ignore[method-assign, assignment]
    logger = logging.getLogger("demur")
    logger.addHandler(handler)
    try:
        yield given
    finally:
        logger.removeHandler(handler)


def _known(key: str, stem: str) -> Read | None:
    """What is kept under a key; None where there is nothing, or not what was written."""
    try:
        path = _place(key)
        kept = path.read_bytes()
    except (DataError, OSError):
        return None
    with suppress(OSError):  # it may only be read
        path.touch()
    digest, packed = kept[:_DIGEST], kept[_DIGEST:]
    if hashlib.sha256(packed).digest() != digest:
        return None
    with np.load(io.BytesIO(packed), allow_pickle=False) as found:
        arrays = {name: found[name] for name in found.files}
    passages = tuple(Passage(*each) for each in json.loads(arrays.pop("passages").tobytes()))
    return Read(passages, tuple(arrays.pop("copies").tolist()), Index.of_arrays(arrays, BM25(stem=stem)))


def _keep(key: str, found: Read) -> None:
    """Keep what was read, and its hash; where that cannot be, it is read again the next time."""
    passages = json.dumps([astuple(each) for each in found.passages]).encode("ascii")
    arrays: dict[str, Any] = {"passages": np.frombuffer(passages, np.uint8), "copies": np.array(found.copies)}
    packed = io.BytesIO()
    np.savez(packed, **arrays | found.words.arrays())
    if packed.tell() > MOST:
        return
    with suppress(DataError, OSError):
        path = _place(key)
        with replacing(path) as file:
            file.buffer.write(hashlib.sha256(packed.getbuffer()).digest())
            file.buffer.write(packed.getbuffer())
        caches.trim(path.parent, MOST)


def _place(key: str) -> Path:
    return caches.folder(FOLDER) / key


def _key(paths: Sequence[Path], stem: str) -> str | None:
    """A hash of all that decides what is read and indexed; None where it cannot be known beforehand."""
    digest = hashlib.sha256(f"{_code()} {Limits.of_environment()} {stem}".encode())
    try:
        for said in _told(paths):
            digest.update(f"\n{said}".encode("utf-8", "surrogatepass"))
    except DataError:  # whoever reads it says why
        return None
    return digest.hexdigest()[:32]


def _told(paths: Sequence[Path]) -> Iterator[str]:
    """A line for each file and folder; of links in a folder it counts where they lead."""
    for path in paths:
        if is_pipe(path):
            raise DataError("can be read only once", path=path, fix="save it as a file")
        inside = files_in(path) if path.is_dir() else None
        if inside is not None:
            yield f"folder {path}"
        for each in [path] if inside is None else inside:
            yield f"{each} {os.path.realpath(each)} {sha256(each)}"


@cache
def _code() -> str:
    """The version of demur, of the packages that read or cut words, and a hash of our own code for it."""
    versions = [demur.__version__]
    for package in _PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            versions.append(metadata.version(package))
    return f"{versions} {caches.code(*_CODE)}"
