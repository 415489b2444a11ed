"""Word vectors in the formats of word2vec (text and binary) and GloVe (text), read as streams."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, BinaryIO, TextIO

import numpy as np

from demur import files
from demur.embedders.base import Vectors
from demur.errors import DataError

WIDEST = 1 << 16
_LONGEST_LINE = 1 << 21  # bytes
_LONGEST_WORD = 1 << 12  # bytes
_PACKED = 1032  # bytes that one byte of a gzip file can stand for, at best
_BOM = b"\xef\xbb\xbf"
_HEADER = re.compile(rb"\s*(\d{1,18})[ \t]+(\d{1,18})\s*")
_NUMBER = re.compile(rb"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_AGAIN = "copy or download it again"


def read_vectors(path: Path) -> tuple[list[str], Vectors]:
    """The words and vectors of a file; bytes of a word that are no UTF-8 are replaced."""
    with files.opened(path) as file:
        first, second = file.readline(_LONGEST_LINE), file.readline(_LONGEST_LINE)
    header = _HEADER.fullmatch(first.removeprefix(_BOM))
    if header is None:
        return _read_text(path, None, len(_parted(first)) - 1)
    count, width = int(header[1]), int(header[2])
    if not (count and 0 < width <= WIDEST):
        what = f"says that it holds {count:,} words and vectors {width:,} wide"
        raise DataError(what, path=path, line=1, fix=f"it must be 1 to {WIDEST:,} wide; {_AGAIN}")
    if _is_text(second, width):
        return _read_text(path, count, width)
    return _read_binary(path, count, width, len(first))


def _is_text(line: bytes, width: int) -> bool:
    """Whether a line is a word with numbers, of whatever width: binary vectors do not look like that."""
    parts = _parted(line)
    return b"\0" not in line and len(parts) > 1 and all(map(_NUMBER.fullmatch, parts[1:][-width:]))


def _parted(line: bytes) -> list[bytes]:
    return line.replace(b"\t", b" ").strip(b" \r\n").split(b" ")


def _read_text(path: Path, count: int | None, width: int) -> tuple[list[str], Vectors]:
    words: list[str] = []
    rows: list[Vectors] = []
    for number, line in _text_lines(path, count is not None):
        parts = line.rsplit(b" ", width)
        try:
            with np.errstate(over="ignore"):  # too large for 32 bits is infinite, and told of below
                row = np.fromiter(map(float, parts[1:]), np.float32, width)
        except ValueError:  # no number among them, or too few
            row = None
        before = parts[0].rpartition(b" ")[2] if b" " in parts[0] else b""
        if row is None or width < 1 or _NUMBER.fullmatch(before):
            raise _unreadable(line, width, path, number)
        if not np.isfinite(row).all():
            what = f"the vector of {_word(parts[0])!r} holds NaN or an infinite number"
            raise DataError(what, path=path, line=number, fix=_AGAIN)
        words.append(_word(parts[0]))
        rows.append(row)
    if count is not None and count != len(words):
        what = f"says that it holds {count:,} words, but has {len(words):,}"
        raise DataError(what, path=path, line=1, fix=_AGAIN)
    return words, np.stack(rows) if rows else np.empty((0, width), np.float32)


def _text_lines(path: Path, header: bool) -> Iterator[tuple[int, bytes]]:
    """The numbered lines with words, without what ends them."""
    with files.opened(path) as file:
        number = 0
        while line := file.readline(_LONGEST_LINE):
            number += 1
            line = line.removeprefix(_BOM) if number == 1 else line
            line = line.replace(b"\t", b" ").rstrip(b" \r\n")
            if line and not (header and number == 1):
                yield number, line


def _unreadable(line: bytes, width: int, path: Path, number: int) -> DataError:
    """Why a line is no word with its vector."""
    parts = _parted(line)
    wrong = next((part for part in parts[1:] if not _NUMBER.fullmatch(part)), None)
    if width < 1 or len(parts) < 2:
        what = f"{_word(line[:30])!r} is not a word with its numbers"
    elif wrong is not None:
        what = f"{_word(wrong[:30])!r} is not a number"
    else:
        what = f"the vector of {_word(parts[0])!r} has {len(parts) - 1:,} numbers, but others have {width:,}"
    fix = f"give word vectors in a format of word2vec, GloVe, npz or safetensors, or {_AGAIN}"
    return DataError(what, path=path, line=number, fix=fix)


def _read_binary(path: Path, count: int, width: int, start: int) -> tuple[list[str], Vectors]:
    size = path.stat().st_size
    with files.opened(path) as file, path.open("rb") as raw:
        packed = raw.read(2) == files.GZIP
        if start + count * (4 * width + 1) > size * (
            _PACKED if packed else 1
        ):  # so a false header takes no memory
            what = f"says that it holds {count:,} words with vectors {width:,} wide, but has {size:,} bytes"
            raise DataError(what, path=path, fix=f"it is cut off, or no word vectors at all; {_AGAIN}")
        file.read(start)
        words: list[str] = []
        vectors = np.empty((count, width), np.float32)
        for row in range(count):
            words.append(_word(_up_to_space(file, path, row)))
            data = file.read(4 * width)
            if len(data) < 4 * width:
                raise _cut_off(path, row)
            vectors[row] = np.frombuffer(data, "<f4")
        rest = file.read(64).strip()
    if rest:
        what = f"has more than the {count:,} words that its first line states"
        raise DataError(what, path=path, fix=_AGAIN)
    return words, vectors


def _up_to_space(file: IO[bytes], path: Path, row: int) -> bytes:
    """A word, read a byte at a time: the buffer is in memory."""
    word = bytearray()
    while (byte := file.read(1)) != b" ":
        if not byte:
            raise _cut_off(path, row)
        word += byte
        if len(word) > _LONGEST_WORD:
            what = f"word {row + 1:,} is longer than {_LONGEST_WORD:,} bytes"
            raise DataError(what, path=path, fix=f"the width in its first line may be wrong; {_AGAIN}")
    return bytes(word.lstrip(b"\n"))  # word2vec ends vectors with a line feed, others do not


def _cut_off(path: Path, row: int) -> DataError:
    return DataError(f"is cut off in word {row + 1:,}", path=path, fix=_AGAIN)


def _word(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def write_text(file: TextIO, words: Sequence[str], vectors: Vectors, path: Path) -> None:
    """Write word2vec's text: numbers as short as they can be read back exactly."""
    file.write(f"{len(words)} {vectors.shape[1]}\n")
    for word, row in zip(words, vectors, strict=True):
        file.write(f"{_holdable(word, path)} {' '.join(map(str, row))}\n")


def write_binary(file: BinaryIO, words: Sequence[str], vectors: Vectors, path: Path) -> None:
    """Write word2vec's binary format."""
    file.write(f"{len(words)} {vectors.shape[1]}\n".encode())
    for word, row in zip(words, vectors, strict=True):
        file.write(_holdable(word, path).encode() + b" " + row.astype("<f4").tobytes() + b"\n")


def _holdable(word: str, path: Path) -> str:
    if not word or any(letter in word for letter in " \t\r\n"):
        fix = "write .safetensors, or leave it out"
        raise DataError(
            f"the word {word!r} has white space, which the format cannot hold", path=path, fix=fix
        )
    return word
