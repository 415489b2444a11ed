"""Answer-selection TSV: question, answer, label, one pair to a line, nothing quoted.

Lines with one question that follow each other form a pool; the same question later is another pool. A
header is recognised but not needed. Without one, a third column is the label and further ones are the
extras ``column4``, ``column5`` …, as texts; without ids, pools are ``1``, ``2`` … and candidates ``1-0``,
``1-1`` …. Written files have a header and the columns question, answer, label, question_id, answer_id, then
extras. Tabs and line breaks inside texts cannot be written.

ASNQ is the same without a header, labelled 1 to 4: 4 is positive (1), the others negative (0). The number
it had is kept in the extra ``asnq``, as it tells hard negatives from easy ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from demur.data.formats.shared import columns
from demur.data.formats.shared.checks import Place, label, shown, unwritable
from demur.data.formats.shared.rows import Row, gathered
from demur.errors import DataError
from demur.files import lines, replacing
from demur.types import Pool

_ASNQ: dict[int | None, Mapping[str, int]] = {kind: {"asnq": kind} for kind in (1, 2, 3, 4)}


def read_pools(path: str | Path) -> Iterator[Pool]:
    """The pools of a file, one at a time."""
    return columns.pools(_cells(path), header=False)


def _cells(path: str | Path) -> Iterator[tuple[Place, Sequence[str]]]:
    for line, text in lines(path):
        if text and ("\t" in text or not text.isspace()):
            yield Place(path, line), text.split("\t")


def read_asnq(path: str | Path) -> Iterator[Pool]:
    """The pools of an ASNQ file, one at a time."""
    return gathered(_asnq_rows(path))


def _asnq_rows(path: str | Path) -> Iterator[Row]:
    for place, cells in _cells(path):
        if len(cells) != 3:
            what = f"{len(cells)} column{'s' * (len(cells) != 1)} where ASNQ has question, answer and label"
            raise place.error(what, "separate three columns by tabs")
        kind = label(cells[2], place)
        if kind not in _ASNQ:
            fix = "read it as tsv if its labels are 0 and 1"
            raise place.error(f"label {shown(cells[2])} is not one of ASNQ's 1, 2, 3 and 4", fix)
        yield Row("", cells[0], "", cells[1], int(kind == 4), place, _ASNQ[kind])


def write_pools(path: str | Path, pools: Iterable[Pool], more: Iterable[str] = ()) -> None:
    """Write pools whose texts have no tabs and line breaks."""
    with replacing(path) as file:
        file.writelines(rows(pools, path, more))


def rows(pools: Iterable[Pool], path: str | Path, more: Iterable[str] = ()) -> Iterator[str]:
    """The lines of a file."""
    for pool, cells in columns.table(pools, path, more):
        line = "\t".join(cells)
        if line.count("\t") >= len(cells) or "\n" in line or "\r" in line:
            raise _broken(pool, cells, path)
        yield line + "\n"


def _broken(pool: Pool, cells: Sequence[str], path: str | Path) -> DataError:
    text = next(cell for cell in cells if set(cell) & set("\t\n\r"))
    what = f"has a tab or line break in {shown(text)}, which TSV cannot hold"
    return unwritable(pool, what, path, "write .jsonl or .csv")
