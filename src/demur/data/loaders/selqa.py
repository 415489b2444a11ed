"""SelQA, answer sentence selection: the cased original as JSON, and the tokenised edition as TSV."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from itertools import groupby
from pathlib import Path

from demur import files
from demur.data.loaders import Loader, Split, binary, numbered, rows, shaped
from demur.types import Pool

_ABOUT = ("article", "section", "topic", "q_types", "is_paraphrase")


def read_json(split: str, path: Path) -> Iterator[Pool]:
    """The pools of a JSON file, one per object. Empty sentences are left out, as in the tokenised edition."""
    with shaped(path):
        for number, entry in enumerate(json.loads(files.whole(path)), 1):
            id = f"{split}-{number}"
            right = set(entry["answers"])
            pairs = [(text, int(n in right)) for n, text in enumerate(entry["candidates"]) if text.strip()]
            yield Pool(id, entry["question"], numbered(id, pairs), {key: entry[key] for key in _ABOUT})


def read_tsv(split: str, path: Path) -> Iterator[Pool]:
    """The pools of a tokenised file, one per run of lines: dev has one question text twice."""
    runs = groupby(rows(path, 3), key=lambda row: row[1][0])
    for number, (question, group) in enumerate(runs, 1):
        id = f"{split}-{number}"
        yield Pool(
            id, question, numbered(id, [(cells[1], binary(cells[2], place)) for place, cells in group])
        )


LOADER = Loader(
    {
        name: Split(partial(read_json, name), (f"selqa/selqa-ass-{name}.json.gz",))
        for name in ("train", "dev", "test")
    }
    | {
        f"{name}/tokens": Split(partial(read_tsv, name), (f"selqa/selqa-ass-{name}.tsv.gz",))
        for name in ("train", "dev", "test")
    }
)
