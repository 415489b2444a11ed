"""Changes of a knowledge base's truth: each is one transaction and one generation."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from demur import tokens
from demur.kb.passages import Passage
from demur.kb.store.truth import Statements, Truth

_BATCH = 4096
KEPT = 3600.0
"""Seconds that what was taken out is kept for those who still read an older generation."""


@dataclass(frozen=True)
class Source:
    """A file, or a text with a name, and what tells whether it has changed."""

    name: str
    kind: str
    path: str | None = None
    folder: int | None = None
    sha256: str = ""
    size: int = 0
    mtime: int = 0
    checked: int = 0
    id: int = 0


@dataclass(frozen=True)
class Change:
    """A change that is being made."""

    said: Statements
    number: int

    def put(self, source: Source, passages: Iterable[Passage], advance: Any = None) -> int:
        """How many passages a new source has, or one in place of that with its id."""
        values = (source.name, source.path, source.folder, source.kind, source.sha256, source.size)
        if source.id:
            self.said.execute("UPDATE sources SET died = ? WHERE id = ?", (self.number, source.id))
        inserted = self.said.execute(
            "INSERT INTO sources (name, path, folder, kind, sha256, size, mtime, checked, born) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
            (*values, source.mtime, source.checked, self.number),
        )
        new, count, rest = int(inserted.fetchone()[0]), 0, iter(passages)
        while batch := list(islice(rest, _BATCH)):
            self._insert(new, source, batch, count)
            count += len(batch)
            if advance is not None:
                advance(len(batch))
        if source.id:
            self._bury(source.id)
        return count

    def remove(self, sources: Iterable[int]) -> None:
        """Take sources out."""
        for source in sources:
            update = "UPDATE sources SET died = ? WHERE id = ? AND died IS NULL"
            self.said.execute(update, (self.number, source))
            self._bury(source)

    def _insert(self, source: int, of: Source, batch: Sequence[Passage], first: int) -> None:
        searched = [passage.searched for passage in batch]
        counts = np.concatenate(
            [tokens.read_words(chunk).counts for chunk in tokens.chunks(searched)]
        ).tolist()
        hashes = [_hash(passage) for passage in batch]
        self.said.executemany(
            "INSERT INTO passages (hash, heading, text, question, words, born) VALUES (?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (hash) WHERE died IS NULL DO NOTHING",
            (
                (hash, passage.heading, passage.text, passage.question, words, self.number)
                for hash, passage, words in zip(hashes, batch, counts, strict=True)
            ),
        )
        self.said.executemany(
            "INSERT INTO occurrences VALUES "
            "(?, ?, (SELECT id FROM passages WHERE hash = ? AND died IS NULL), ?, ?, ?)",
            (
                (
                    source,
                    number,
                    hash,
                    _renamed(passage.id, of),
                    _renamed(passage.source, of, ""),
                    passage.line,
                )
                for number, (hash, passage) in enumerate(zip(hashes, batch, strict=True), first)
            ),
        )

    def _bury(self, source: int) -> None:
        """Take out the passages that stood only in a source that was taken out."""
        self.said.execute(
            "UPDATE passages SET died = ? WHERE died IS NULL "
            "AND id IN (SELECT passage FROM occurrences WHERE source = ?) AND NOT EXISTS "
            "(SELECT 1 FROM occurrences o JOIN sources s ON s.id = o.source "
            "WHERE o.passage = passages.id AND s.died IS NULL)",
            (self.number, source),
        )


@contextmanager
def change(truth: Truth, what: str) -> Iterator[Change]:
    """A block that changes a base, all or nothing; when it is over, there is one more generation."""
    with truth.turn(), truth.transaction() as connection:
        before = truth.generation()
        yield Change(connection, before.number + 1)
        truth.index(before, before.number + 1)
        born = _counted(truth, "born = ? AND id > ?", (before.number + 1, before.newest))
        died = _counted(truth, "died = ?", (before.number + 1,))
        sources = truth.rows("SELECT count(*) FROM sources WHERE died IS NULL")[0][0]
        newest = truth.rows("SELECT coalesce(max(id), 0) FROM passages")[0][0]
        summed = _sum(before.digest) + born[2] - died[2]
        connection.execute(
            "INSERT INTO generations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                before.number + 1,
                secrets.token_hex(8),
                time.time(),
                what,
                sources,
                before.passages + born[0] - died[0],
                before.words + born[1] - died[1],
                max(before.newest, newest),
                summed.tobytes().hex(),
            ),
        )


def purge(truth: Truth, upto: int, kept: float = KEPT) -> None:
    """Delete what was taken out up to a generation, if that was long enough ago."""
    old = truth.rows(
        "SELECT coalesce(max(number), 0) FROM generations WHERE number <= ? AND made <= ?",
        (upto, time.time() - kept),
    )[0][0]
    if old <= truth.purged:
        return
    with truth.transaction() as connection:
        dead = "SELECT id FROM sources WHERE died <= ?"
        connection.execute(f"DELETE FROM occurrences WHERE source IN ({dead})", (old,))
        connection.execute(
            "INSERT INTO gone SELECT born, died, count(*) FROM passages WHERE died <= ? "
            "GROUP BY born, died "
            "ON CONFLICT (born, died) DO UPDATE SET passages = gone.passages + excluded.passages",
            (old,),
        )
        connection.execute("DELETE FROM passages WHERE died <= ?", (old,))
        connection.execute("DELETE FROM sources WHERE died <= ?", (old,))
        connection.execute("UPDATE facts SET value = ? WHERE name = 'purged'", (str(old),))


def _counted(truth: Truth, where: str, values: tuple[int, ...]) -> tuple[int, int, Any]:
    """How many passages, how many words they have, and the sum of their hashes."""
    count, words, hashes = 0, 0, _sum("")
    for some in truth.batches(f"SELECT words, hash FROM passages WHERE {where}", values, _BATCH * 16):
        count += len(some)
        words += sum(each for each, _ in some)
        hashes = hashes + np.frombuffer(b"".join(hash for _, hash in some), np.uint64).reshape(-1, 2).sum(0)
    return count, words, hashes


def _sum(digest: str) -> Any:
    return np.frombuffer(bytes.fromhex(digest or "00" * 16), np.uint64)


def _hash(passage: Passage) -> bytes:
    """128 bits for what is searched of a passage, and for its question."""
    said = f"{passage.heading}\0{passage.text}\0{passage.question}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(said, digest_size=16).digest()


def _renamed(text: str, source: Source, name: str | None = None) -> str:
    """A passage's id or source with the source's name in place of its path."""
    if source.path is not None and text.startswith(source.path):
        return (source.name if name is None else name) + text[len(source.path) :]
    return text if name is None else text.removeprefix(source.name)
