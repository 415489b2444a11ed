"""Vectors for a dataset's own kind of text: "specific" ones, trained on it, or the encoder's of its words.

They are made when first asked for, from all texts whatever their labels, and then kept in the cache. The
scarce-annotations paper took all of Wikipedia for WikiQA and TrecQA; here it is the Wikipedia text of SQuAD
and of the datasets.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

from demur import cache, data
from demur.data import sources
from demur.editions import edition
from demur.embedders.word_vectors import skipgram, table_formats
from demur.embedders.word_vectors.skipgram import Meter, Training
from demur.files import sha256

_WIKIPEDIA = (
    "squad/1.1/train",
    *("wikiqa/train", "wikiqa/dev", "wikiqa/test"),
    *("trecqa/train-all", "trecqa/dev", "trecqa/test"),
)
_FORUM = ("train-part2", "dev", "test", "train-2015", "dev-2015", "test-2015")
TEXTS = {
    "wikiqa": _WIKIPEDIA,
    "trecqa": _WIKIPEDIA,
    "selqa": ("selqa/dev", "selqa/test", *_WIKIPEDIA),
    "semeval2016": tuple(f"semeval2016/{split}" for split in _FORUM),
}
"""The pools whose texts a dataset's vectors are trained on; of other datasets those that are here."""
KINDS = {
    "specific": Training(model="ppmi"),
    "encoder": Training(model="encoder", width=200, min_count=2, clean="plain", stopwords="keep"),
}
"""How vectors such as ``specific:wikiqa`` are made: by counting, on dev sets better than word2vec."""

_log = logging.getLogger(__name__)


def texts(id: str) -> Iterator[str]:
    """The questions and candidates of a split or file, or of all splits of a dataset whose files are here."""
    for pools in _splits(id):
        for pool in pools.stream():
            yield pool.question
            yield from pool.answers


def vectors_file(ids: Sequence[str], how: Training) -> Path:
    """Where the vectors of these data lie, once there; named by a hash of what they are made from."""
    files = {file for id in ids for pools in _splits(id) for file in pools.files}
    sums = {file: sha256(_located(file)) for file in sorted(files)}
    known_by = [edition(f"vectors {how.model}"), list(ids), sums, dataclasses.asdict(how)]
    key = hashlib.sha256(json.dumps(known_by, sort_keys=True).encode()).hexdigest()[:16]
    return cache.folder("vectors") / f"{key}.safetensors"


def dataset_vectors(
    ids: Sequence[str], how: Training | None = None, meter: Meter = skipgram.no_meter
) -> Path:
    """The file of the vectors that the texts of these data teach: trained if it is not in the cache."""
    how = how or Training()
    path = vectors_file(ids, how)
    if not path.is_file():
        _log.warning("training word vectors on %s; this takes minutes, once: %s", ", ".join(ids), path)
        all_texts = (text for id in ids for text in texts(id))
        table_formats.write_table(
            path, skipgram.train(all_texts, how, made={"texts of": list(ids)}, meter=meter)
        )
    return path


def vectors_named(name: str, kind: str = "specific") -> Path:
    """The file of one of `KINDS` of vectors for a dataset."""
    return dataset_vectors(TEXTS.get(name, (name,)), KINDS[kind])


def _splits(id: str) -> list[data.Pools]:
    found = data.load(id)
    if isinstance(found, data.Pools):
        return [found]
    splits = list(found.pools.values())
    return [pools for pools in splits if all(map(sources.find_file, pools.files))] or splits


def _located(file: str) -> Path:
    path = Path(file)
    return path if path.is_file() else sources.locate(file.partition("/")[0], file)
