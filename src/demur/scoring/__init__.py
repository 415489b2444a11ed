"""Scoring many pools: one pure function over a batch, and a resumable way to map it over a file.

`Scorer` is the function; whatever scores many pools calls it: `score_file` here, and engines on many machines
through `demur.scale`.
"""

from demur.scoring.batch import Judge, Scorer, score_batch
from demur.scoring.files import (
    SHARD,
    WITH_EXTRAS,
    Advance,
    Meter,
    Scored,
    no_meter,
    pools_of,
    prepared,
    score_file,
    score_stream,
    shards,
    writable,
    write_scores,
)

__all__ = [
    "SHARD",
    "WITH_EXTRAS",
    "Advance",
    "Judge",
    "Meter",
    "Scored",
    "Scorer",
    "no_meter",
    "pools_of",
    "prepared",
    "score_batch",
    "score_file",
    "score_stream",
    "shards",
    "writable",
    "write_scores",
]
