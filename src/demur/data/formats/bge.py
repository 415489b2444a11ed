"""BGE's training JSONL (FlagEmbedding): ``{"query": text, "pos": [texts], "neg": [texts]}``. Read only.

Positives are labelled 1 and negatives 0, positives first; pools and candidates are numbered ``1``, ``1-0``
…. Other keys, such as ``pos_scores``, are extras of the pool.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from demur.data.formats.shared.checks import build_pool
from demur.data.formats.shared.jsonlines import list_of, objects, other_keys, text_of
from demur.types import Candidate, Pool

_KEYS = frozenset({"query", "pos", "neg"})


def read_pools(path: str | Path) -> Iterator[Pool]:
    """The pools of a file, one at a time."""
    for number, (place, line) in enumerate(objects(path), 1):
        positive = list_of(line, "pos", place, str)
        negative = list_of(line, "neg", place, str) if "neg" in line else []
        marks = [1] * len(positive) + [0] * len(negative)
        pairs = enumerate(zip(positive + negative, marks, strict=True))
        candidates = [Candidate(f"{number}-{n}", text, mark) for n, (text, mark) in pairs]
        yield build_pool(
            str(number), text_of(line, "query", place), candidates, place, other_keys(line, _KEYS, place)
        )
