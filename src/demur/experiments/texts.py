"""Word vectors trained on the unlabelled texts of datasets, once for all recipes that name them."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from demur import cache
from demur.embedders.skipgram import Training, train
from demur.embedders.table_formats import write
from demur.experiments.learning import hash_of, pools_of


def vectors(how: Training, data: Sequence[str]) -> Path:
    """The file of the vectors that the questions and answers of these data teach."""
    said = [dataclasses.asdict(how), [hash_of(each) for each in data]]
    name = hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]
    path = cache.folder("vectors") / f"{name}.safetensors"
    if not path.is_file():
        write(path, train(_texts(data), how, made={"data": list(data)}))
    return path


def _texts(data: Sequence[str]) -> Iterator[str]:
    """All questions and candidates."""
    for each in data:
        for pool in pools_of(each):
            yield pool.question
            yield from pool.answers
