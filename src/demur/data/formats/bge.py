"""BGE's training JSONL (FlagEmbedding): ``{"query": text, "pos": [texts], "neg": [texts]}``. Read only.

Positives are labelled 1 and negatives 0, positives first; pools and candidates are numbered ``1``, ``1-0``
…. Other keys, such as ``pos_scores``, are extras of the pool.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from demur.data.formats.shared.checks import Place, build_pool
from demur.data.formats.shared.jsonlines import Object, each_pool, list_of, objects, other_keys, text_of
from demur.errors import DataError
from demur.types import Candidate, Pool

_KEYS = frozenset({"query", "pos", "neg"})


def read_pools(path: str | Path) -> Iterator[Pool]:
    """The pools of a file, one at a time."""
    for number, (place, line) in enumerate(objects(path), 1):
        yield _pool(line, place, number)


def each_row(path: str | Path) -> Iterator[tuple[int, Pool | DataError]]:
    """The pools of a file with the numbers of their lines; in place of a bad line, what is wrong with it."""
    return each_pool(path, _pool)


def _pool(line: Object, place: Place, number: int) -> Pool:
    positive = list_of(line, "pos", place, str)
    negative = list_of(line, "neg", place, str) if "neg" in line else []
    marks = [1] * len(positive) + [0] * len(negative)
    pairs = enumerate(zip(positive + negative, marks, strict=True))
    candidates = [Candidate(f"{number}-{n}", text, mark) for n, (text, mark) in pairs]
    question = text_of(line, "query", place)
    return build_pool(str(number), question, candidates, place, other_keys(line, _KEYS, place))
