"""WikiQA: one line per sentence of a Wikipedia summary, with a header and ids of its own."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, islice
from pathlib import Path

from demur.data.loaders import Loader, Split, binary, rows
from demur.types import Candidate, Pool


def read_pools(path: Path) -> Iterator[Pool]:
    """The pools of a file: id and text of question, document and sentence, then the label."""
    below_header = islice(rows(path, 7), 1, None)
    for id, group in groupby(below_header, key=lambda row: row[1][0]):
        members = list(group)
        _, question, document, title, *_ = members[0][1]
        candidates = tuple(Candidate(cells[4], cells[5], binary(cells[6], place)) for place, cells in members)
        yield Pool(id, question, candidates, {"document": document, "title": title})


LOADER = Loader(
    {name: Split(read_pools, (f"wikiqa/WikiQA-{name}.tsv.gz",)) for name in ("train", "dev", "test")}
)
