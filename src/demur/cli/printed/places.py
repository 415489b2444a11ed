"""What `demur kb`, `demur data` and `demur vectors` print with --json."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NotRequired, TypedDict

from demur.data.summary import Summary


class File(TypedDict):
    """What became of a file, how many passages it has, and why."""

    source: str
    status: Literal["added", "changed", "unchanged", "removed", "skipped"]
    passages: int
    reason: str | None


class Base(TypedDict):
    """What is in the base, how many files are of each status, and each file; alike passages count once."""

    base: str
    generation: int
    sources: int
    passages: int
    embedded: int
    added: int
    changed: int
    unchanged: int
    removed: int
    skipped: int
    files: list[File]


class Source(TypedDict):
    """A file in the base."""

    source: str
    kind: str
    passages: int


class BaseStatus(Base):
    """What is in the base, with the language of its texts and each of its files."""

    stem: str
    listed: list[Source]


class Dataset(TypedDict):
    """A dataset: which splits have their files here, which files they need, and what is known of it."""

    state: Literal["here", "partly", "missing"]
    splits: dict[str, bool]
    needs: dict[str, list[str]]
    name: str
    description: str
    licence: str
    citation: str
    obtain: str
    files: dict[str, dict[str, Any]]
    counts: dict[str, dict[str, Any]]
    holes: dict[str, str]
    pitfalls: list[str]


@dataclass(frozen=True)
class Split(Summary):
    """The figures of a split or a file, and three of its pools."""

    id: str


class Vectors(TypedDict):
    """What a file of word vectors holds: its first words, and how it was made."""

    words: int
    width: int
    fingerprint: str
    counts: Literal["yes", "no"]
    first: list[str]
    made: dict[str, Any]


class VectorsShown(Vectors):
    """What a file of word vectors holds; `nearest` with --like: words and their cosines."""

    nearest: NotRequired[dict[str, float]]


class VectorsWritten(Vectors):
    """The file of word vectors that was written, and what it holds."""

    output: str
