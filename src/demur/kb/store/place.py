"""Where a base is kept: what every such place can do, and which one is meant."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from demur.embedders.base import Vectors
from demur.errors import UsageError
from demur.kb.store.truth import Generation, Row, Truth
from demur.types import FloatArray, IntArray

if TYPE_CHECKING:
    from demur.kb.lance.address import Bucket
    from demur.kb.postgres.address import Address

    Elsewhere = Address | Bucket

SEARCHED, QUESTION = 0, 1
"""The two kinds of vectors: of all that is searched of a passage, and of its own question."""
Advance = Callable[[int], None]


class Words(Protocol):
    """The passages by their words."""

    def search(self, weights: Mapping[str, float], top: int, now: Generation) -> list[int]:
        """The places of passages that have one of these hashed words, about the best first."""

    def having(self, word: str, now: Generation) -> int:
        """How many passages have a hashed word."""


class Meanings(Protocol):
    """The passages by their vectors."""

    def open(self, truth: Truth, embedder: str | None = None) -> str:
        """The embedder whose vectors these are, or nothing where there are none of this base.

        With `embedder` they are to be added to, and those of another one go.
        """

    def see(self, truth: Truth, now: Generation) -> None:
        """Find those of a generation from now on."""

    def embedded(self) -> int:
        """How many passages have vectors."""

    @property
    def indexed(self) -> bool:
        """Whether the vectors have the index by which they are found fast."""

    def lacking(self, truth: Truth, now: Generation) -> Iterator[list[Row]]:
        """Place, heading, text and question of passages without a vector, some at a time."""

    def add(self, entries: Sequence[tuple[int, int]], vectors: Vectors, now: Generation) -> None:
        """Take in the vectors of some places, each of a kind: all of them, or none."""

    def search(self, vector: Vectors, top: int) -> tuple[IntArray, FloatArray]:
        """The nearest passages and the cosines; one with a question counts with the nearer vector."""

    def cosines(self, vector: Vectors, places: IntArray) -> tuple[FloatArray, FloatArray]:
        """Of each passage the cosines with its question and with its text; nan where there is no vector."""

    def remove(self) -> None:
        """Remove all vectors."""

    def forget(self) -> None:
        """Close what is open, and forget what was read."""


class Store(Protocol):
    """A place that keeps a base, and finds its passages."""

    @property
    def path(self) -> Path | Elsewhere:
        """What people call it; as a text it has no password."""

    @property
    def words(self) -> Words:
        """What finds passages by their words."""

    @property
    def meanings(self) -> Meanings:
        """What finds passages by their vectors."""

    @property
    def there(self) -> bool:
        """Whether there is a base."""

    @property
    def uploads(self) -> Path:
        """The folder where files wait that a server took, until they are in the base."""

    def open(self, stem: str | None) -> Truth:
        """What the base holds; with `stem` it is made if it is not there."""

    def make(self) -> None:
        """Prepare for a base that is not there yet; an error where none may be made."""

    def unmake(self) -> None:
        """Take away a base that was just made, and to which nothing was added."""

    def check_writable(self) -> None:
        """Raise an error if no change could be kept."""

    def writing(self, wait: float) -> AbstractContextManager[None]:
        """A block that changes the base in one or several transactions."""

    def embedding(self, wait: float) -> AbstractContextManager[None]:
        """A block in which no other process makes vectors."""

    def readable(self, truth: Truth, wait: float) -> Generation:
        """The last generation that can be found by words."""

    def catch_up(self, truth: Truth) -> None:
        """Make the last generation one that can be found by words."""

    def index_anew(self, truth: Truth, advance: Advance | None) -> None:
        """Make anew what finds passages by their words."""

    def gate_state(self) -> object:
        """What differs as soon as the base's own gate does; false where it has none."""

    def gate_file(self) -> Path:
        """A file with the base's own gate, as it is now."""

    def keep_gate(self, save: Callable[[Path], object]) -> None:
        """Keep what is written to the file that is named, as the base's own gate, safe from a crash."""


def address_of(path: object) -> Elsewhere | None:
    """The address that a text means; None where it means a folder."""
    from demur.kb.lance.address import Bucket, is_bucket
    from demur.kb.postgres.address import Address, is_address

    if isinstance(path, Address | Bucket):
        return path
    if isinstance(path, str | Path):
        if is_address(str(path)):
            return Address.of(str(path))
        if is_bucket(str(path)):
            return Bucket.of(str(path))
        found = re.match(r"([a-z][a-z0-9+.-]+):/", str(path), re.IGNORECASE)
        if found and not Path(path).exists():
            raise UsageError(f"{found[1]}:// is not a place for a base; use a folder, postgresql:// or s3://")
    return None


def store_at(path: object) -> Store:
    """The place that a path or an address names; nothing is made there."""
    from demur.kb.postgres.address import Address

    if (address := address_of(path)) is None:
        from demur.kb.store.folder import Folder

        if path == "":
            raise UsageError("the name of a base is empty; name a folder, postgresql:// or s3://")
        if not isinstance(path, str | Path):
            raise UsageError(f"{type(path).__name__} is not a folder; name one by a string or a Path")
        return Folder(Path(path))
    if isinstance(address, Address):
        from demur.kb.postgres.database import Database

        return Database(address)
    from demur.kb.lance.store import Published

    return Published(address)
