"""Vectors on disk: a folder of files that are written once, beside their place, and never changed.

Several processes may read and write at a time. A file is named by a hash of its bytes, so one that is broken
is known, and what it held is computed again.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demur import cache
from demur.embedders.base import Vectors

Keys = NDArray[np.uint64]  # texts × 2
BoolArray = NDArray[np.bool_]

_ROWS = 65_536  # of a file
_MANY = 32  # small files, before they are made one
_NAME = re.compile(r"[0-9a-f]{32}\.safetensors")
_log = logging.getLogger("demur")


@dataclass(frozen=True)
class Shelf:
    """The files of one embedder."""

    folder: Path

    @classmethod
    def of(cls, fingerprint: str) -> Shelf:
        """The shelf in the cache for an embedder."""
        return cls(cache.folder(f"embeddings/{fingerprint}"))

    def find(self, keys: Keys, width: int) -> tuple[BoolArray, Vectors]:
        """Which keys are there, and a row for each key, with its vector if it is."""
        found, vectors = np.zeros(len(keys), np.bool_), np.zeros((len(keys), width), np.float32)
        for shard in self._shards():
            if shard.vectors.shape[1] == width and not found.all():
                missing = np.flatnonzero(~found)
                there, rows = shard.find(keys[missing])
                vectors[missing[there]] = shard.vectors[rows]
                found[missing[there]] = True
        return found, vectors

    def add(self, keys: Keys, vectors: Vectors) -> None:
        """Write vectors; where that fails, as on a full disk, they are just not kept."""
        try:
            for start in range(0, len(keys), _ROWS):
                self._write(keys[start : start + _ROWS], vectors[start : start + _ROWS])
            self._tidy()
        except OSError as error:
            _log.warning(f"{self.folder}: embeddings are not kept ({error.strerror})")

    def _shards(self) -> list[_Shard]:
        with suppress(OSError):
            paths = sorted(path for path in self.folder.iterdir() if _NAME.fullmatch(path.name))
            return [shard for shard in map(_readable, paths) if shard is not None]
        return []

    def _write(self, keys: Keys, vectors: Vectors) -> Path:
        from safetensors.numpy import save

        order = np.lexsort((keys[:, 1], keys[:, 0]))
        data = save({"keys": keys[order], "vectors": vectors[order]})
        path = self.folder / f"{_hash(data).hexdigest()}.safetensors"
        beside = path.with_suffix(f".{os.getpid()}.part")
        try:
            beside.write_bytes(data)
            beside.replace(path)
        finally:
            with suppress(OSError):
                beside.unlink()
        return path

    def _tidy(self) -> None:
        """Make many small files one; a process that still reads them goes on doing so."""
        small = [shard for shard in self._shards() if len(shard.keys) < _ROWS // 2]
        if len(small) <= _MANY or len({shard.vectors.shape[1] for shard in small}) > 1:
            return
        keys = np.concatenate([shard.keys for shard in small])
        keys, first = np.unique(keys, axis=0, return_index=True)
        vectors = np.concatenate([shard.vectors for shard in small])[first]
        parts = [slice(start, start + _ROWS) for start in range(0, len(keys), _ROWS)]
        made = {self._write(keys[part], vectors[part]) for part in parts}
        for path in {shard.path for shard in small} - made:
            with suppress(OSError):  # another process was faster
                path.unlink()


@dataclass(frozen=True, eq=False)
class _Shard:
    path: Path
    keys: Keys  # in order
    vectors: Vectors  # as they lie on disk

    def find(self, keys: Keys) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Places of keys that are here, and the rows of their vectors."""
        rows = np.searchsorted(self.keys[:, 0], keys[:, 0])
        rows = np.minimum(rows, len(self.keys) - 1)
        there = np.flatnonzero((self.keys[rows] == keys).all(axis=1))
        return there, rows[there]


def _readable(path: Path) -> _Shard | None:
    """A file's keys and vectors; None, with a warning, if it is broken."""
    try:
        return _opened(path)
    except OSError:  # another process has put it into a larger file
        return None
    except ValueError:
        _log.warning(f"{path}: is damaged; its vectors are computed again")
        with suppress(OSError):
            path.unlink()
        return None


@lru_cache(maxsize=4096)
def _opened(path: Path) -> _Shard:
    """A file's keys and vectors, the latter read when they are used."""
    with path.open("rb") as file:
        if hashlib.file_digest(file, _hash).hexdigest() != path.stem:
            raise ValueError
        file.seek(0)
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))

    def array(name: str, kind: type[np.generic]) -> Any:
        place = header[name]
        return np.memmap(path, kind, "r", 8 + size + place["data_offsets"][0], tuple(place["shape"]))

    return _Shard(path, np.array(array("keys", np.uint64)), array("vectors", np.float32))


def _hash(data: bytes = b"") -> hashlib.blake2b:
    return hashlib.blake2b(data, digest_size=16)
