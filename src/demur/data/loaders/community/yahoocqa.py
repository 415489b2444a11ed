"""YahooCQA: ``question#answer#label``, five answers to a question, of which four were drawn at random."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from demur.data.loaders import Loader, Split, binary, numbered, rows
from demur.types import Pool


def read_pools(split: str, path: Path) -> Iterator[Pool]:
    """The pools of a file, one per question text: a question asked twice has ten answers."""
    pools: dict[str, list[tuple[str, int]]] = {}
    for place, (question, answer, label) in rows(path, 3, "#"):
        pools.setdefault(question, []).append((answer, binary(label, place)))
    for number, (question, pairs) in enumerate(pools.items(), 1):
        id = f"{split}-{number}"
        yield Pool(id, question, numbered(id, pairs))


LOADER = Loader(
    {name: Split(partial(read_pools, name), (f"yahoocqa/{name}.txt.gz",)) for name in ("train", "test")}
)
