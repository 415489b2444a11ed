"""Reading and writing files: gzip or not, with or without BOM, and never half-written."""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import json
import os
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any, TextIO

from demur import paths
from demur.errors import DataError, UsageError

GZIP = b"\x1f\x8b"
HALF = r"\.\d+(?:-\d+)?\.part"  # how a name ends while it is written: its process, and now its thread
LONGEST_LINE = 1 << 26  # bytes; a longer line is most likely no line, and would only fill memory


def is_pipe(path: str | Path) -> bool:
    """Whether a path is ``-``, a pipe or a device: to be read or written once, and never replaced."""
    return str(path) == "-" or (paths.exists(path) and not paths.is_file(path) and not paths.is_folder(path))


def check_is_file(path: Path, fix: str) -> os.stat_result:
    """A file's facts; an error for what a folder holds beside files: links to nothing or folders, pipes.

    So it does for what may not be looked at. The fix says what to do about a folder.
    """
    if paths.is_link(path) and paths.is_gone(path):
        raise DataError("is a link to nothing", path=path, fix="mend the link or remove it")
    with _read(path):
        found = path.stat()
    refuse_folder(path, fix)
    if is_pipe(path):
        raise DataError("is a pipe or a device, not a file", path=path, fix="save what it gives to a file")
    return found


def refuse_folder(path: Path, fix: str) -> None:
    """Raise an error if a path among those of files is a folder: a link to one elsewhere, or a shut one."""
    if paths.is_folder(path) and not may_be_entered(path):
        raise DataError("is a folder that may not be read", path=path, fix="allow it, or name another")
    if paths.is_folder(path):
        link = paths.is_link(path)
        what = "is a link to a folder, which is not followed" if link else "is a folder, not a file"
        raise DataError(what, path=path, fix=fix)


def may_be_entered(folder: str | Path) -> bool:
    """Whether the files in a folder can be listed and opened."""
    return os.access(folder, os.R_OK | os.X_OK)


@contextmanager
def opened(path: str | Path) -> Iterator[IO[bytes]]:
    """The bytes of a file (``-`` is stdin), unpacked if they start like gzip, whatever the file is called.

    What cannot be opened or read is one clear line.
    """
    with _read(path), _raw(path) as raw, _unpacked(raw) as file:
        yield file


@contextmanager
def _raw(path: str | Path) -> Iterator[io.BufferedReader]:
    if str(path) == "-":
        stdin = sys.stdin.buffer
        if isinstance(stdin, io.BufferedReader):
            yield stdin
        else:  # another program's stand-in for it, which cannot look ahead
            yield io.BufferedReader(io.BytesIO(stdin.read()))
        return
    with Path(path).open("rb") as file:
        yield file


@contextmanager
def _unpacked(raw: io.BufferedReader) -> Iterator[IO[bytes]]:
    if not raw.peek(2).startswith(GZIP):  # a look ahead, as a pipe cannot be read again
        yield raw
        return
    with gzip.GzipFile(fileobj=raw) as file:
        file.seekable = raw.seekable  # type: ignore[method-assign]  # it would say that it can even in a pipe
        yield file  # type: ignore[misc]  # GzipFile reads like any binary file


@contextmanager
def _read(path: str | Path) -> Iterator[None]:
    """Errors of reading as one clear line."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        raise DataError("no such file", path=path, fix="check the spelling of the path") from None
    except IsADirectoryError:
        raise DataError("is a folder, not a file", path=path, fix="name a file in it") from None
    except PermissionError:
        raise DataError("may not be read", path=path, fix="change its permissions") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"broken gzip file ({error})", path=path, fix="copy or download it again") from None
    except OSError as error:
        if error.errno is None:  # not of the system
            raise
        raise DataError(f"cannot be read ({error.strerror})", path=path, fix="try another copy") from None


@contextmanager
def unchanging(
    *read: str | Path, fix: str = "ask again when nothing writes there"
) -> Iterator[Callable[[], None]]:
    """A block that reads files: one clear line if one was written to, replaced or removed meanwhile.

    What was read would be of no one version of it. The block gets the check, to make it before its end too.
    A pipe has no versions.
    """
    before = {path: _version(path) for path in read}

    def check() -> None:
        for path, version in before.items():
            if version is not None and (now := _version(path)) != version:
                what = "was changed while it was read" if now else "vanished while it was read"
                raise DataError(what, path=path, fix=fix)

    try:
        yield check
    except DataError:  # perhaps only because half of it was there
        check()
        raise
    check()


def _version(path: str | Path) -> tuple[int, int, int] | None:
    """What changes when a file does; None where there is no file."""
    try:
        stat = Path(path).stat()
    except OSError:
        return None
    return None if is_pipe(path) else (stat.st_size, stat.st_mtime_ns, stat.st_ino)


def lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Numbered lines from 1, without their LF or CRLF and without a BOM; only line feeds end a line."""
    with opened(path) as file:
        for number, raw in raw_lines(file, path):
            yield number, decoded(raw, number, path)


def decoded(raw: bytes, number: int, path: str | Path) -> str:
    """The text of a numbered line, without its end; the first one without a BOM."""
    raw = raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw
    try:
        return raw.decode("utf-8").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        bad = raw[error.start]
        fix = "save the file as UTF-8"
        raise DataError(f"byte 0x{bad:02x} is not UTF-8", path=path, line=number, fix=fix) from None


def raw_lines(file: IO[bytes], path: str | Path) -> Iterator[tuple[int, bytes]]:
    """Numbered lines as they are in the file; one that would only fill memory is an error."""
    for number, raw in enumerate(iter(partial(file.readline, LONGEST_LINE + 1), b""), 1):
        if len(raw) > LONGEST_LINE:
            what = f"a line of more than {LONGEST_LINE >> 20} MB"
            raise DataError(what, path=path, line=number, fix="put line breaks into the file")
        yield number, raw


def whole(path: str | Path) -> str:
    """A file's whole text, without a BOM."""
    with opened(path) as file:
        try:
            return file.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            fix = "save the file as UTF-8"
            raise DataError(f"byte {error.start} is not UTF-8", path=path, fix=fix) from None


def read_json(path: str | Path, fix: str) -> Any:
    """What a JSON file holds; an error that ends with `fix` where it is none."""
    text = whole(path)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(f"not JSON ({error.msg})", path=path, line=error.lineno, fix=fix) from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"JSON that cannot be read ({unreadable(error)})", path=path, fix=fix) from None


def unreadable(error: Exception) -> str:
    """What is wrong with JSON that is none to Python alone, in plain words."""
    return "it is nested too deep" if isinstance(error, RecursionError) else "a number has too many digits"


@contextmanager
def replacing(path: str | Path) -> Iterator[TextIO]:
    """A text file written beside `path` (gzipped if named .gz) and renamed into place when all went well.

    ``-`` is stdout. Pipes and devices, such as /dev/null, are written as they are.
    """
    if str(path) == "-":
        yield sys.stdout
        sys.stdout.flush()
        return
    path = Path(path)
    with written(path):
        if path.is_dir():
            raise IsADirectoryError
    beside = half_of(path)
    try:
        with written(path):
            with beside.open("wb") as raw, _packed(raw, path) as file:
                text = io.TextIOWrapper(file, encoding="utf-8", newline="\n")
                yield text
                text.flush()
                text.detach()
            if beside != path:
                beside.replace(path)
    finally:
        if beside != path:
            with suppress(OSError):
                beside.unlink()


def check_writable(path: str | Path) -> None:
    """Raise now what `replacing` would raise at the end of long work."""
    if is_pipe(path):
        return
    path = Path(path)
    with written(path):
        if path.is_dir():
            raise IsADirectoryError
        beside = half_of(path)
        beside.open("wb").close()
        beside.unlink()


def check_apart(target: str | Path, *sources: str | Path) -> None:
    """Raise an error if a file to write is one of those to read, under whatever name."""
    for source in sources:
        with suppress(OSError):  # most often there is no such file yet
            if Path(source).samefile(target):
                what = f"{target}: is the file that is read, and would be lost"
                raise UsageError(f"{what}; name another file to write")


def half_of(path: Path) -> Path:
    """Where a file is written before it is renamed into place; `HALF` is how such a name ends."""
    ours = f"{os.getpid()}-{threading.get_ident()}"
    return path if is_pipe(path) else path.with_name(f".{path.name}.{ours}.part")


@contextmanager
def written(path: str | Path) -> Iterator[None]:
    """Errors of writing there as one clear line."""
    try:
        yield
    except FileNotFoundError:
        raise DataError("the folder to write into does not exist", path=path, fix="make it first") from None
    except NotADirectoryError:
        fix = "name a file in a folder"
        raise DataError("lies in a file, not in a folder", path=path, fix=fix) from None
    except IsADirectoryError:
        raise DataError("is a folder, not a file", path=path, fix="name a file in it") from None
    except PermissionError:
        raise DataError("may not be written", path=path, fix="change its folder's permissions") from None
    except Exception as error:
        if type(error).__name__ == "SafetensorError":  # it tells of a full disk in its own way
            fix = "free space, or write elsewhere"
            raise DataError(f"cannot be written ({error})", path=path, fix=fix) from None
        if not isinstance(error, OSError):
            raise
        if error.errno in (None, errno.EPIPE):  # not of the system, or a reader that has had enough
            raise
        too_long = error.errno == errno.ENAMETOOLONG
        fix = "take a shorter name" if too_long else "free space, or write elsewhere"
        raise DataError(f"cannot be written ({error.strerror})", path=path, fix=fix) from None


@contextmanager
def _packed(raw: IO[bytes], path: Path) -> Iterator[IO[bytes]]:
    if path.suffix != ".gz":
        yield raw
        return
    with gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=6, mtime=0) as packed:
        yield packed  # type: ignore[misc]  # GzipFile writes like any binary file


def sha256(path: str | Path) -> str:
    """The sha256 of a file's bytes as they lie on the disk."""
    with _read(path), Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
