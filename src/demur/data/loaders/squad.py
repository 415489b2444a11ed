"""SQuAD 1.1 and 2.0: one pool per question; its candidate is the paragraph, positive if it has the answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from demur.data import formats
from demur.data.loaders.base import Loader, Split
from demur.data.subsets import sample
from demur.types import Pool

SURE = 0.0  # an `align_margin` above this: the paragraph fits its questions better than any other does
HELD = 15_000  # of a train split's questions; the official dev is for testing

_QUOTED = re.compile(r'"(?:[^"]|"")*""(?:[^"]|"")*"')


def read(path: Path) -> Iterator[Pool]:
    """The pools of a file."""
    return formats.read(path, format="squad")


def read_rebuilt(path: Path) -> Iterator[Pool]:
    """The pools of the rebuilt 2.0 train, with the marks of rebuilding taken off the unanswerable questions.

    1 in 70 is quoted as in CSV and 1 in 20 has spaces around its hyphens; a model could tell them by that.
    """
    for pool in read(path):
        if "align_margin" in pool.extra:
            question = re.sub(r"(?<=\w) - (?=\w)", "-", _unquoted(pool.question))
            yield Pool(pool.id, question, pool.candidates, pool.extra)
        else:
            yield pool


def _unquoted(text: str) -> str:
    return text[1:-1].replace('""', '"') if _QUOTED.fullmatch(text) else text


def strict(pools: Iterable[Pool]) -> Iterator[Pool]:
    """The questions that are sure to be in the published 2.0, with this paragraph.

    Left out: answerable ones not marked `in_v2`, unanswerable ones whose `align_margin` is not above 0.
    """
    for pool in pools:
        if pool.extra.get("in_v2", True) and pool.extra.get("align_margin", SURE + 1) > SURE:
            yield pool


def held(pools: Iterable[Pool]) -> Iterator[Pool]:
    """The 15,000 questions of a train split that are held out, to choose and to calibrate by."""
    return sample(pools, HELD)


def rest(pools: Iterable[Pool]) -> Iterator[Pool]:
    """The questions that are not held out, to learn from."""
    every = list(pools)
    out = {pool.id for pool in held(every)}
    return (pool for pool in every if pool.id not in out)


LOADER = Loader(
    {
        "1.1/train": Split(read, ("squad/train-v1.1.json.gz",)),
        "1.1/dev": Split(read, ("squad/dev-v1.1.json.gz",)),
        "2.0/train": Split(read_rebuilt, ("squad/train-v2.0.json.gz",)),
        "2.0/dev": Split(read, ("squad/dev-v2.0.json.gz",)),
    },
    {"strict": strict, "held": held, "rest": rest},
)
