"""Pools in files: read and written as streams, gzipped or not, from a path, a BEIR folder, or ``-``.

`FORMATS` is the table of all formats. What is written is read back equal; what a format cannot hold is one
clear error. Runs and judgements, which have no texts, are read by `read_run` and `read_qrels`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from demur.data.formats import bge, jsonl, parquet, tevatron
from demur.data.formats.known import FORMATS, Format, by_first_line, by_name, format_named
from demur.data.formats.shared.checks import repeated, shown, unencodable, unwritable
from demur.data.formats.trec import read_qrels, read_run, run_lines, write_qrels, write_run
from demur.errors import DataError, UsageError
from demur.types import Pool

__all__ = [
    "FORMATS",
    "Format",
    "detect",
    "each_row",
    "read_pools",
    "read_qrels",
    "read_run",
    "run_lines",
    "write_pools",
    "write_qrels",
    "write_run",
]


def read_pools(path: str | Path, format: str | None = None) -> Iterator[Pool]:
    """The pools of a file or folder, one at a time; ``-`` is stdin, as jsonl unless a format is given.

    At most one pool is held, but SQuAD files are held whole, and of a BEIR folder the judged documents.
    """
    chosen = format_named(detect(path) if format is None else format)
    if chosen.read is None:
        raise UsageError(
            f"{path}: no pools in the format {chosen.name!r} ({chosen.about}); "
            "name a file with questions and answers"
        )
    return chosen.read(path)


def each_row(path: str | Path, format: str | None = None) -> Iterator[tuple[int, Pool | DataError]]:
    """The pools of a file with the numbers of their rows; in place of a bad row, what is wrong with it.

    A row is a line of JSONL that holds a pool, or a row of parquet; it can be left out alone. Of other
    formats, where a pool may have many lines, pools are numbered, and the first error is raised.
    """
    if format is None:
        try:
            format = detect(path)
        except DataError:  # the first line has keys that nobody knows; others may be sound
            format = "jsonl"
    rows = {"jsonl": jsonl, "parquet": parquet, "bge": bge, "tevatron": tevatron}.get(format)
    return enumerate(read_pools(path, format), 1) if rows is None else rows.each_row(path)


def write_pools(
    path: str | Path, pools: Iterable[Pool], format: str | None = None, more: Iterable[str] = ()
) -> int:
    """How many pools were written; the file appears only when all are. ``.gz`` packs it, ``-`` is stdout.

    A table has columns for the extras of the first pool and for more, if they are named.
    """
    chosen = format_named(by_name(path) if format is None else format)
    if chosen.write is None:
        known = ", ".join(name for name, one in FORMATS.items() if one.write)
        raise UsageError(f"{path}: pools cannot be written as {chosen.name!r}; these can: {known}")
    stream = _Stream(pools, path)
    try:
        chosen.write(path, stream, more) if chosen.table else chosen.write(path, stream)
    except UnicodeEncodeError as error:
        if stream.last is None:
            raise
        raise unwritable(stream.last, unencodable(error), path, fix="") from None
    return stream.count


def detect(path: str | Path) -> str:
    """The name of a file's format, told by its ending, or for JSONL by the keys of its first line."""
    name = by_name(path)
    return name if name != "jsonl" or str(path) == "-" else by_first_line(path)


class _Stream:
    """Pools as they pass to a writer: counted, and each known by name should it fail."""

    def __init__(self, pools: Iterable[Pool], path: str | Path) -> None:
        self.pools, self.path = pools, path
        self.count = 0
        self.last: Pool | None = None

    def __iter__(self) -> Iterator[Pool]:
        for pool in self.pools:
            self.count += 1
            self.last = pool
            again = repeated([candidate.id for candidate in pool.candidates])
            if again is not None:
                what = f"has two candidates with the id {pool.candidates[again].id!r}"
                raise unwritable(pool, what, self.path, "give each an id of its own")
            for candidate in pool.candidates:
                mark: object = candidate.label
                if type(mark) is not int and mark is not None and not hasattr(mark, "__index__"):
                    what = f"has the label {shown(mark)}, which is not a whole number"
                    raise unwritable(
                        pool, what, self.path, "use whole numbers, or None where there is no judgement"
                    )
            yield pool
