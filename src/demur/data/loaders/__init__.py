"""The loaders, a small file for each dataset; and what a dataset is to demur: splits, files, subsets."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from demur import files
from demur.data.formats.shared.checks import Place, shown
from demur.errors import DataError
from demur.types import Candidate, Pool

Subset = Callable[[Iterable[Pool]], Iterator[Pool]]


@dataclass(frozen=True)
class Split:
    """How one split is read: `read` is called with the paths of `files`, named below the data folder."""

    read: Callable[..., Iterator[Pool]]
    files: tuple[str, ...]


@dataclass(frozen=True)
class Loader:
    """What stands under a dataset's name: its splits, and the subsets that only it has.

    Where answers are right from another label than 1 on, `relevant` says so for the subset that labels them.
    """

    splits: Mapping[str, Split]
    subsets: Mapping[str, Subset] = field(default_factory=dict)
    relevant: Mapping[str, int] = field(default_factory=dict)


def rows(path: Path, width: int, separator: str = "\t") -> Iterator[tuple[Place, list[str]]]:
    """The cells of each line that is not empty, with their place."""
    for number, line in files.lines(path):
        if line:
            cells = line.split(separator)
            place = Place(path, number)
            if len(cells) != width:
                raise place.error(
                    f"{len(cells)} columns where {width} were expected", "obtain the file again"
                )
            yield place, cells


def binary(text: str, place: Place) -> int:
    """The label that ``0`` or ``1`` spells."""
    if text not in ("0", "1"):
        raise place.error(f"label {shown(text)} is neither 0 nor 1", "obtain the file again")
    return int(text)


def numbered(pool: str, pairs: Iterable[tuple[str, int]]) -> tuple[Candidate, ...]:
    """Candidates for texts and labels that have no ids of their own: ``dev-1-0``, ``dev-1-1`` and so on."""
    return tuple(Candidate(f"{pool}-{n}", text, label) for n, (text, label) in enumerate(pairs))


def csv_rows(path: Path, width: int, delimiter: str) -> Iterator[tuple[Place, list[str]]]:
    """The cells of each row of a file whose cells may be quoted, with their place."""
    reader = csv.reader((f"{line}\n" for _, line in files.lines(path)), delimiter=delimiter, strict=True)
    try:
        for cells in reader:
            place = Place(path, reader.line_num)
            if len(cells) != width:
                raise place.error(
                    f"{len(cells)} columns where {width} were expected", "obtain the file again"
                )
            yield place, cells
    except csv.Error as error:
        raise Place(path, reader.line_num).error(str(error), "obtain the file again") from None


@contextmanager
def shaped(path: Path, line: int | None = None) -> Iterator[None]:
    """A block in which broken JSON, a missing key or a wrong type is one clear line about the file."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, IndexError, json.JSONDecodeError) as error:
        line = error.lineno if line is None and isinstance(error, json.JSONDecodeError) else line
        what = f"not of the expected shape ({type(error).__name__}: {error})"
        raise DataError(what, path=path, line=line, fix="obtain the file again") from None


def relabelled(pool: Pool, labels: Sequence[int | None]) -> Pool:
    """The same pool under other labels."""
    pairs = zip(pool.candidates, labels, strict=True)
    return Pool(
        pool.id,
        pool.question,
        tuple(Candidate(c.id, c.text, label, c.extra) for c, label in pairs),
        pool.extra,
    )
