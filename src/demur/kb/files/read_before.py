"""Passages of files that take long to read, kept in the cache until the file or its reader changes."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import astuple
from importlib import metadata
from pathlib import Path

import demur
from demur import cache
from demur.errors import DataError
from demur.files import replacing, sha256
from demur.kb.files.limits import Limits
from demur.kb.passages import Passage

FOLDER = "documents"
MOST = 1 << 30  # bytes in that folder


def passages_kept(package: str, reader: str, path: Path, read: Iterable[Passage]) -> Iterator[Passage]:
    """What `read` gives; it is not asked if it was kept by an earlier call. All or nothing is kept.

    `package` is the name of the library that reads, and `reader` our function over it.
    """
    try:
        file = cache.folder(FOLDER) / f"{_key(package, reader, path)}.jsonl.gz"
    except (DataError, OSError):  # no cache, or no such file: whoever reads says so
        yield from read
        return
    if (known := _known(file)) is not None:
        with suppress(OSError):  # it may only be read
            file.touch()
        yield from known
        return
    found = list(read)
    with suppress(DataError, OSError):
        with replacing(file) as out:
            out.writelines(f"{json.dumps(astuple(each))}\n" for each in found)
        cache.trim(file.parent, MOST)
    yield from found


def _known(file: Path) -> list[Passage] | None:
    """What a file of the cache holds; None where it is not there, or broken: it is read again."""
    with (
        suppress(OSError, EOFError, ValueError, TypeError, zlib.error),
        gzip.open(file, "rt", encoding="utf-8") as lines,
    ):
        return [Passage(*json.loads(line)) for line in lines]
    return None


def _key(package: str, reader: str, path: Path) -> str:
    """A hash of all that decides what is read: the file and its name, the limits, and the code."""
    code = f"{demur.__version__} {_modules()} {metadata.version(package)} {reader}"
    told = f"{code} {Limits.of_environment()} {path} {sha256(path)}"
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _modules() -> str:
    """A hash of our readers, so that one that is changed reads again."""
    return cache.code("kb/formats/*.py", "kb/passages.py")
