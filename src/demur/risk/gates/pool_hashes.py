"""Short hashes of pools, to know again those that a gate was calibrated on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demur.risk.predictions import BoolArray
from demur.types import Pool

_BYTES = 6  # a million pools against a million: some two in a thousand such checks would find a false one


def mark(pool: Pool) -> bytes:
    """The hash of a pool's id and question: other data may have the same ids, from 0 on."""
    text = f"{pool.id}\0{pool.question}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=_BYTES).digest()


@dataclass(frozen=True)
class Marks:
    """The hashes of some pools, one after another."""

    hashes: bytes

    @classmethod
    def of(cls, pools: Iterable[Pool]) -> Marks:
        """The marks of these pools, in an order that says nothing."""
        return cls(b"".join(sorted(map(mark, pools))))

    @classmethod
    def of_text(cls, text: str) -> Marks:
        """The marks that a text spells; a ValueError if it spells none."""
        hashes = bytes.fromhex(text)
        if len(hashes) % _BYTES:
            raise ValueError("the hashes are cut off")
        return cls(hashes)

    def __str__(self) -> str:
        return self.hashes.hex()

    def known(self, pools: Sequence[Pool]) -> BoolArray:
        """For each pool, whether it is among those marked."""
        seen = set(_parts(self.hashes).tolist())
        return np.array([mark(pool) in seen for pool in pools], np.bool_)


def _parts(hashes: bytes) -> NDArray[np.void]:
    return np.frombuffer(hashes, np.dtype((np.void, _BYTES)))


def ids_sha256(pools: Iterable[Pool]) -> str:
    """The sha256 of the sorted ids of pools, a line each."""
    digest = hashlib.sha256()
    for name in sorted(pool.id for pool in pools):
        digest.update(f"{name}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
