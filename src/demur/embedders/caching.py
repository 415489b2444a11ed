"""Embedders that look up what they have computed before: on disk for training, in memory for questions."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Protocol

import numpy as np

from demur.embedders.base import Embedder, Tokens, Vectors
from demur.embedders.vector_store import BoolArray, Keys, Shelf
from demur.errors import DataError

_ON_DISK: ContextVar[bool] = ContextVar("on disk", default=False)
_BYTES = 1 << 26  # of vectors in memory, for each embedder
_log = logging.getLogger("demur")


class Store(Protocol):
    """Vectors by the keys of their texts; may forget."""

    def find(self, keys: Keys, width: int) -> tuple[BoolArray, Vectors]:
        """Which keys are there, and a row for each key, with its vector if it is."""
        ...

    def add(self, keys: Keys, vectors: Vectors) -> None:
        """Take vectors in."""
        ...


@dataclass(frozen=True)
class CachedEmbedder(Embedder):
    """An embedder that computes only what its store does not have; otherwise just like it."""

    name: ClassVar[str] = "kept"
    of: Embedder
    store: Store

    @property
    def parts(self) -> Sequence[Embedder]:
        """The embedder that computes."""
        return (self.of,)

    @property
    def spec(self) -> str:
        """The spelling of the embedder itself, as the cache changes no vector."""
        return self.of.spec

    @property
    def fingerprint(self) -> str:
        """The embedder's own."""
        return self.of.fingerprint

    @property
    def width(self) -> int:
        """How many numbers a vector has."""
        return self.of.width

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, in single precision, as the embedder gave it when it was computed."""
        places: dict[str, int] = {}
        rows = [places.setdefault(text, len(places)) for text in texts]
        different = list(places)
        keys = keys_of(different)
        found, vectors = self.store.find(keys, self.width)
        missing = np.flatnonzero(~found)
        if len(missing):
            vectors[missing] = self.of.embed([different[place] for place in missing.tolist()])
            self.store.add(keys[missing], vectors[missing])
        return vectors[rows]

    def lacking(self, texts: Sequence[str]) -> int:
        """How many texts have no vector yet, neither here nor where the embedder itself looks them up."""
        different = list(dict.fromkeys(texts))
        found, _ = self.store.find(keys_of(different), self.width)
        new = [text for text, known in zip(different, found.tolist(), strict=True) if not known]
        return self.of.lacking(new) if isinstance(self.of, CachedEmbedder) else len(new)

    def tokens(self, texts: Sequence[str], words: str = "content") -> Tokens:
        """The words of each text; they are not kept."""
        return self.of.tokens(texts, words)


def cached_on_disk(embedder: Embedder) -> Embedder:
    """The embedder, with its vectors of whole texts kept on disk; as it is where nothing can be written."""
    try:
        return CachedEmbedder(embedder, Shelf.of(embedder.kept_as))
    except DataError as error:
        _log.warning(f"embeddings are not kept: {error}")
        return embedder


@contextmanager
def disk_cache() -> Iterator[None]:
    """A block in which rankers keep their vectors on disk, as experiments need; elsewhere they do not."""
    before = _ON_DISK.set(True)
    try:
        yield
    finally:
        _ON_DISK.reset(before)


def cached_if_asked(embedder: Embedder) -> Embedder:
    """The embedder, with its vectors kept on disk within a block of `disk_cache`."""
    return cached_on_disk(embedder) if _ON_DISK.get() else embedder


def cached_in_memory(embedder: Embedder) -> CachedEmbedder:
    """The embedder, with its last vectors in this process's memory."""
    return CachedEmbedder(embedder, Memory(embedder.kept_as))


@dataclass(frozen=True)
class Memory:
    """The vectors that an embedder made last; the same for all that name it."""

    fingerprint: str

    def find(self, keys: Keys, width: int) -> tuple[BoolArray, Vectors]:
        """Which keys are there, and a row for each key, with its vector if it is."""
        held, lock = _memory(self.fingerprint)
        vectors, found = np.zeros((len(keys), width), np.float32), np.zeros(len(keys), np.bool_)
        with lock:
            for place, key in enumerate(map(bytes, keys)):
                if key in held:
                    held.move_to_end(key)
                    vectors[place], found[place] = held[key], True
        return found, vectors

    def add(self, keys: Keys, vectors: Vectors) -> None:
        """Take vectors in; those not asked for longest go."""
        held, lock = _memory(self.fingerprint)
        with lock:
            held.update((bytes(key), vector.copy()) for key, vector in zip(keys, vectors, strict=True))
            while len(held) > max(_BYTES // (4 * vectors.shape[1]), 1):
                held.popitem(last=False)


@lru_cache(maxsize=4)
def _memory(fingerprint: str) -> tuple[OrderedDict[bytes, Vectors], threading.Lock]:
    return OrderedDict(), threading.Lock()


def keys_of(texts: Sequence[str]) -> Keys:
    """128 bits for each text."""
    digests = (hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16) for text in texts)
    joined = b"".join(digest.digest() for digest in digests)
    return np.frombuffer(joined, np.uint64).reshape(-1, 2)
