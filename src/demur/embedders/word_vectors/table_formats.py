"""Word vectors in files. What one holds is told by its content when it is read, by its name when written.

=============== ===================================================================================
demur           ``.safetensors``: ``vectors``, ``words`` (bytes, a line feed between words), ``counts``;
                with how they were made, and a checksum that is checked at reading
word2vec binary ``.bin``: a line ``words width``, then each word, a space, its numbers as bytes
word2vec text   ``.txt``, ``.vec``: a line ``words width``, then a line for each word
GloVe           a line for each word, nothing before; only read
npz             ``.npz``: numpy's arrays ``words`` and ``vectors`` (or ``vecs``), perhaps ``counts``
=============== ===================================================================================
"""

from __future__ import annotations

import json
import logging
import os
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from demur import files
from demur.embedders.word_vectors import word2vec
from demur.embedders.word_vectors.tables import Table, checksum, packed
from demur.errors import DataError, UsageError, refuse_newer

FORMAT = "demur vectors 1"
ENDINGS = (".safetensors", ".txt", ".vec", ".bin", ".npz")
_AGAIN = "copy it again, or make it again"
_OF_NPZ = (ValueError, OSError, EOFError, KeyError, NotImplementedError, RuntimeError)  # what numpy raises
_log = logging.getLogger(__name__)


def read_table(path: str | Path) -> Table:
    """The table in a file. Of a word that comes twice the first vector is kept, with a warning."""
    path = Path(path)
    with files.opened(path) as file:
        start = file.read(16)
        if not start:
            raise DataError("is empty, not a table of word vectors", path=path, fix=_AGAIN)
    try:
        if start.startswith(b"PK\x03\x04"):
            found = _read_npz(path)
        elif start[8:9] == b"{" and int.from_bytes(start[:8], "little") < 1 << 32:
            found = _read_safetensors(path)
        else:
            found = Table(*word2vec.read_vectors(path))
    except MemoryError:
        raise DataError("is larger than memory", path=path, fix="trim it on a larger machine") from None
    return _checked(found, path)


def _checked(table: Table, path: Path) -> Table:
    """The table with each word once, if all its numbers are numbers."""
    if len(table) == 0 or table.width == 0:
        raise DataError("holds no word vectors", path=path, fix=_AGAIN)
    for start in range(0, len(table), 10_000):  # a part at a time, as the file may be larger than memory
        bad = np.flatnonzero(~np.isfinite(table.vectors[start : start + 10_000]).all(axis=1))
        if len(bad):
            row = start + int(bad[0])
            what = f"the vector of {table.words[row]!r} (number {row + 1:,}) holds NaN or an infinite number"
            raise DataError(what, path=path, fix=_AGAIN)
    first = {word: row for row, word in reversed(list(enumerate(table.words)))}
    if len(first) == len(table):
        return table
    kept = sorted(first.values())
    again = next(word for row, word in enumerate(table.words) if first[word] != row)
    extra = len(table) - len(kept)
    _log.warning("%s: %s words come more than once, such as %r; the first is kept", path, f"{extra:,}", again)
    counts = None if table.counts is None else table.counts[kept]
    return Table([table.words[row] for row in kept], table.vectors[kept], counts, table.made)


def _read_npz(path: Path) -> Table:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            name = next((name for name in ("vectors", "vecs") if name in arrays), None)
            if name is None or "words" not in arrays:
                what = f"has no arrays words and vectors, but {', '.join(arrays) or 'none at all'}"
                raise DataError(what, path=path, fix="save it with these names")
            words, vectors = arrays["words"], arrays[name]
            counts = arrays.get("counts")
    except DataError:
        raise
    except (*_OF_NPZ, zipfile.BadZipFile, zlib.error) as error:
        raise _broken("npz", error, path) from None
    if words.dtype.kind not in "US" or words.ndim != 1:
        raise DataError(
            f"words must be a list of texts ({words.dtype}, {words.shape})", path=path, fix=_AGAIN
        )
    if words.dtype.kind == "S":
        words = np.char.decode(words, "utf-8", "replace")
    return _of_arrays(words.tolist(), vectors, counts, {}, path)


def _read_safetensors(path: Path) -> Table:
    import safetensors

    try:
        with safetensors.safe_open(path, framework="numpy") as file:  # checks that the header fits the file
            facts = file.metadata() or {}
            missing = {"words", "vectors"} - set(file.keys())
    except safetensors.SafetensorError as error:
        raise _broken("safetensors", error, path) from None
    refuse_newer(facts.get("format"), FORMAT, path)
    if missing or facts.get("format") != FORMAT:
        what = "is a safetensors file, but not of word vectors as demur writes them"
        raise DataError(what, path=path, fix="give a file of demur vectors train or convert")
    arrays = _mapped(path)
    words, vectors, counts = arrays["words"], arrays["vectors"], arrays.get("counts")
    if checksum(words, vectors, counts) != facts.get("sha256"):
        raise DataError("is not as it was written (checksum)", path=path, fix=_AGAIN)
    listed = words.tobytes().decode("utf-8", "surrogatepass").split("\n")
    return _of_arrays(listed, vectors, counts, json.loads(facts.get("made", "{}")), path)


def _mapped(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a safetensors file whose header has been checked, read as they are used."""
    kinds = {"F32": "<f4", "F16": "<f2", "U8": "u1", "I64": "<i8"}
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
    arrays: dict[str, NDArray[Any]] = {}
    for name, one in header.items():
        if name in ("words", "vectors", "counts"):
            if one["dtype"] not in kinds:
                raise DataError(f"{name} is of the kind {one['dtype']}", path=path, fix=_AGAIN)
            kind, shape = np.dtype(kinds[one["dtype"]]), tuple(one["shape"])
            if 0 in shape:
                arrays[name] = np.zeros(shape, kind)
            else:
                place = 8 + length + one["data_offsets"][0]
                arrays[name] = np.asarray(np.memmap(path, kind, "r", place, shape))
    return arrays


def _of_arrays(
    words: Sequence[str], vectors: NDArray[Any], counts: NDArray[Any] | None, made: Any, path: Path
) -> Table:
    if vectors.ndim != 2 or len(vectors) != len(words) or vectors.dtype.kind != "f":
        what = f"{len(words):,} words, but vectors of the shape {vectors.shape} and the kind {vectors.dtype}"
        raise DataError(what, path=path, fix=_AGAIN)
    if counts is not None and (counts.shape != (len(words),) or counts.dtype.kind not in "iu"):
        raise DataError(
            f"{len(words):,} words, but counts of the shape {counts.shape}", path=path, fix=_AGAIN
        )
    with np.errstate(over="ignore"):  # what does not fit is infinite, and told of by _checked
        narrow = vectors.astype(np.float32, copy=False)
    return Table(words, narrow, None if counts is None else counts.astype(np.int64, copy=False), made)


def _broken(kind: str, error: Exception, path: Path) -> DataError:
    return DataError(f"is a broken {kind} file ({' '.join(str(error).split())[:160]})", path=path, fix=_AGAIN)


def check_name(path: str | Path, half: bool = False) -> str:
    """The ending of a name that says how vectors are written; any other is an error."""
    ending = Path(str(path).removesuffix(".gz")).suffix
    if ending not in ENDINGS or (ending not in (".txt", ".vec") and str(path).endswith(".gz")):
        fix = f"let it end in {', '.join(ENDINGS)}, .txt.gz or .vec.gz"
        raise UsageError(f"{path}: the name does not say how to write vectors; {fix}")
    if half and ending != ".safetensors":
        raise UsageError(
            f"{path}: only .safetensors holds half-width numbers; name such a file, or leave out half"
        )
    return ending


def write_table(path: str | Path, table: Table, half: bool = False) -> None:
    """Write a table in the format that the name says; the file is there whole or not at all.

    With `half`, numbers take two bytes in place of four, which .safetensors alone can hold.
    """
    path, ending = Path(path), check_name(path, half)
    if ending in (".txt", ".vec"):
        with files.replacing(path) as text:
            word2vec.write_text(text, table.words, table.vectors, path)
        return
    data = _as_safetensors(table, half, path) if ending == ".safetensors" else b""
    with _replacing(path) as file:
        if ending == ".safetensors":
            file.write(data)
        elif ending == ".bin":
            word2vec.write_binary(file, table.words, table.vectors, path)
        else:
            arrays: dict[str, Any] = {"words": np.array(table.words, np.str_), "vectors": table.vectors}
            if table.counts is not None:
                arrays["counts"] = table.counts
            np.savez(file, **arrays)


def _as_safetensors(table: Table, half: bool, path: Path) -> bytes:
    from safetensors.numpy import save

    for word in table.words:
        if "\n" in word:
            raise DataError(
                f"cannot hold the word {word!r}, as it has a line feed", path=path, fix="leave it out"
            )
    vectors = np.ascontiguousarray(table.vectors, "<f4")
    if half:
        with np.errstate(over="ignore"):
            vectors = vectors.astype("<f2")
        if not np.isfinite(vectors).all():
            raise DataError("the numbers are too large for half width", path=path, fix="leave out --half")
    arrays: dict[str, NDArray[Any]] = {"words": packed(table.words), "vectors": vectors}
    if table.counts is not None:
        arrays["counts"] = np.ascontiguousarray(table.counts, "<i8")
    sums = checksum(arrays["words"], vectors, arrays.get("counts"))
    facts = {"format": FORMAT, "sha256": sums, "made": json.dumps(dict(table.made), ensure_ascii=False)}
    return save(arrays, facts)


@contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    """A file of bytes written beside `path` and renamed into place when all went well."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with files.written(path):
            with beside.open("wb") as file:
                yield file
            beside.replace(path)
    finally:
        with suppress(OSError):
            beside.unlink()
