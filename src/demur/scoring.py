"""Scoring many pools: one pure function over a batch, and a resumable way to map it over a file.

A file is cut into shards of whole pools. Each shard is scored and written at once, beside the result, in
``OUT.parts``; when all are there they are joined into OUT. A run that was killed goes on at the first
shard that is missing, so nothing is lost and nothing is written twice. Another engine, on many machines,
needs only `shards` and `score_batch`.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from demur.data import formats
from demur.data.formats.known import by_name
from demur.errors import UsageError
from demur.files import replacing, sha256
from demur.rankers import Ranker
from demur.types import Pool

SHARD = 16_384  # pairs


@dataclass(frozen=True)
class Scored:
    """What a run did."""

    pools: int
    pairs: int
    resumed_pools: int


def score_batch(ranker: Ranker, pools: Sequence[Pool]) -> list[Pool]:
    """The same pools, with each candidate's score as an extra. Depends on nothing but its arguments."""
    return [
        dataclasses.replace(
            pool,
            candidates=tuple(
                dataclasses.replace(candidate, extra={**candidate.extra, "score": float(score)})
                for candidate, score in zip(pool.candidates, scores, strict=True)
            ),
        )
        for pool, scores in zip(pools, ranker.score_pools(pools), strict=True)
    ]


def shards(pools: Iterable[Pool], pairs: int = SHARD) -> Iterator[list[Pool]]:
    """Runs of whole pools with about so many pairs: the same cuts whenever the pools are the same."""
    shard: list[Pool] = []
    size = 0
    for pool in pools:
        shard.append(pool)
        size += max(len(pool), 1)
        if size >= pairs:
            yield shard
            shard, size = [], 0
    if shard:
        yield shard


def score_stream(ranker: Ranker, pools: Iterable[Pool], pairs: int = SHARD) -> Iterator[Pool]:
    """Scored pools as they come, for pipes that cannot be resumed."""
    for shard in shards(pools, pairs):
        yield from score_batch(ranker, shard)


def score_file(
    source: str,
    target: str,
    ranker: Ranker,
    *,
    read_as: str | None = None,
    write_as: str | None = None,
    restart: bool = False,
    pairs: int = SHARD,
    on_shard: Callable[[int], None] = lambda pairs: None,
) -> Scored:
    """Score a file into another, going on where an earlier run of the same job was stopped."""
    write_as = write_as or by_name(target)  # a name that says nothing is found out before the work
    parts = Path(f"{target}.parts")
    if restart:
        shutil.rmtree(parts, ignore_errors=True)
    _claim(parts, {"source": sha256(source), "ranker": ranker.fingerprint, "shard": pairs})
    ranker = ranker.prepare(formats.read(source, read_as)) if ranker.needs_preparing else ranker
    pools = scored = resumed = 0
    files: list[Path] = []
    for number, shard in enumerate(shards(formats.read(source, read_as), pairs)):
        files.append(part := parts / f"{number:06d}.jsonl")
        if part.exists():
            resumed += len(shard)
        else:
            formats.write(part, score_batch(ranker, shard), "jsonl")
        pools += len(shard)
        scored += sum(len(pool) for pool in shard)
        on_shard(sum(len(pool) for pool in shard))
    write(target, (pool for part in files for pool in formats.read(part, "jsonl")), write_as)
    shutil.rmtree(parts)
    return Scored(pools, scored, resumed)


def write(target: str, pools: Iterable[Pool], write_as: str | None = None) -> None:
    """Write scored pools in a format of pools, or as a TREC run."""
    if (write_as or by_name(target)) != "run":
        formats.write(target, pools, write_as)
        return
    with replacing(target) as file:
        for pool in pools:
            scores = {candidate.id: candidate.extra["score"] for candidate in pool.candidates}
            file.writelines(formats.run_lines(pool.id, scores, path=target))


def _claim(parts: Path, job: dict[str, str | int]) -> None:
    """Make the folder of shards, or make sure that the one there is of the same job."""
    ticket = parts / "job.json"
    if ticket.exists():
        found = json.loads(ticket.read_text("utf-8"))
        if found != job:
            changed = ", ".join(key for key in job if found.get(key) != job[key])
            raise UsageError(
                f"{parts} holds the unfinished work of another job ({changed} differs); "
                "finish that one, or start afresh with --restart"
            )
        return
    try:
        parts.mkdir(exist_ok=True)
    except FileNotFoundError:
        raise UsageError(f"{parts.parent} is not there; make the folder to write into first") from None
    with replacing(ticket) as file:
        json.dump(job, file)
