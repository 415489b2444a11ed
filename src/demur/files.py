"""Reading and writing files: gzip or not, with or without BOM, and never half-written."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TextIO

from demur.errors import DataError

GZIP = b"\x1f\x8b"


def is_gzip(path: Path) -> bool:
    """Whether the file starts like gzip, whatever it is called."""
    with path.open("rb") as file:
        return file.read(2) == GZIP


@contextmanager
def opened(path: str | Path) -> Iterator[IO[bytes]]:
    """The bytes of a file (``-`` is stdin), unpacked if gzipped; what cannot be opened is one clear line."""
    if str(path) == "-":
        yield sys.stdin.buffer
        return
    path = Path(path)
    try:
        with gzip.open(path) if is_gzip(path) else path.open("rb") as file:
            yield file  # type: ignore[misc]  # GzipFile reads like any binary file
    except FileNotFoundError:
        raise DataError("no such file", path=path, fix="check the spelling of the path") from None
    except IsADirectoryError:
        raise DataError("is a folder, not a file", path=path, fix="name a file in it") from None
    except PermissionError:
        raise DataError("may not be read", path=path, fix="change its permissions") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"broken gzip file ({error})", path=path, fix="copy or download it again") from None


def lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Numbered lines from 1, without their LF or CRLF and without a BOM; only line feeds end a line."""
    with opened(path) as file:
        for number, raw in enumerate(file, 1):
            raw = raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw
            try:
                yield number, raw.decode("utf-8").removesuffix("\n").removesuffix("\r")
            except UnicodeDecodeError as error:
                bad = raw[error.start]
                fix = "save the file as UTF-8"
                raise DataError(f"byte 0x{bad:02x} is not UTF-8", path=path, line=number, fix=fix) from None


def whole(path: str | Path) -> str:
    """A file's whole text, without a BOM."""
    with opened(path) as file:
        try:
            return file.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            fix = "save the file as UTF-8"
            raise DataError(f"byte {error.start} is not UTF-8", path=path, fix=fix) from None


@contextmanager
def replacing(path: str | Path) -> Iterator[TextIO]:
    """A text file written beside `path` (gzipped if named .gz) and renamed into place when all went well."""
    if str(path) == "-":
        yield sys.stdout
        sys.stdout.flush()
        return
    path = Path(path)
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as raw, _packed(raw, path) as file:
            text = io.TextIOWrapper(file, encoding="utf-8", newline="\n")
            yield text
            text.flush()
            text.detach()
        beside.replace(path)
    except FileNotFoundError:
        raise DataError("the folder to write into is not there", path=path, fix="make it first") from None
    except IsADirectoryError:
        raise DataError("is a folder, not a file", path=path, fix="name a file in it") from None
    except PermissionError:
        raise DataError("may not be written", path=path, fix="change its folder's permissions") from None
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def _packed(raw: IO[bytes], path: Path) -> Iterator[IO[bytes]]:
    if path.suffix != ".gz":
        yield raw
        return
    with gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=6, mtime=0) as packed:
        yield packed  # type: ignore[misc]  # GzipFile writes like any binary file


def sha256(path: str | Path) -> str:
    """The sha256 of a file's bytes as they lie on the disk."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
