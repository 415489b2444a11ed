"""A file of pools scored into a file, so that a run that was killed goes on.

A file is cut into shards of whole pools. Each shard is scored and written at once, beside the result, in
``OUT.parts``; when all are there they are joined into OUT. A run that was killed goes on at the first
shard that is missing, so nothing is lost and nothing is written twice. Another engine, on many machines,
needs only `shards` and `score_batch`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from demur import data
from demur.data import formats, sources
from demur.data.datasets import Pools
from demur.data.formats.beir import is_split
from demur.data.formats.known import by_name, format_named
from demur.data.formats.shared import columns
from demur.errors import DataError, UsageError
from demur.files import check_apart, is_pipe, replacing, sha256, unchanging
from demur.parts import Parts
from demur.rankers import Ranker
from demur.scoring.batch import Scorer, score_batch
from demur.scoring.shard import read_shard, write_shard
from demur.types import Pool

SHARD = 16_384  # pairs
WITH_EXTRAS = ("jsonl", "parquet")  # formats that hold whatever was found
_CHANGED = "start again with --restart when nothing writes there"

Advance = Callable[[int], None]
Meter = Callable[[str, str, int | None], AbstractContextManager[Advance]]


def no_meter(label: str, unit: str, total: int | None) -> AbstractContextManager[Advance]:
    """A meter that shows nothing."""
    return nullcontext(lambda advance: None)


@dataclass(frozen=True)
class Scored:
    """What a run did."""

    pools: int
    pairs: int
    resumed_pools: int


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


def score_stream(ranker: Ranker | Scorer, pools: Iterable[Pool], pairs: int = SHARD) -> Iterator[Pool]:
    """Scored pools as they come, for pipes that cannot be resumed."""
    for shard in shards(pools, pairs):
        yield from score_batch(ranker, shard)


def score_file(
    source: str,
    target: str,
    ranker: Ranker | Scorer,
    *,
    read_as: str | None = None,
    write_as: str | None = None,
    restart: bool = False,
    pairs: int = SHARD,
    meter: Meter = no_meter,
) -> Scored:
    """Score a dataset or file into a file, going on where an earlier run of the same job was stopped."""
    scorer = ranker if isinstance(ranker, Scorer) else Scorer(ranker)
    if is_pipe(source) or is_pipe(target):
        raise UsageError("a pipe cannot be resumed; name files, or use score_stream")
    found = pools_of(source, read_as)
    write_as = writable(target, write_as, scorer.finds_more)  # found out before the work
    parts, read = Parts(target), _files(found)
    check_apart(target, *read.values())
    with parts.held():
        if restart:
            parts.sweep()
        with unchanging(*read.values(), fix=_CHANGED) as check:
            job: dict[str, object] = {
                "source": _named(found),
                "read_as": read_as,
                "files": {name: sha256(path) for name, path in read.items()},
                "shard": pairs,
            }
            scorer = prepared(scorer, found.stream(), meter)
            parts.claim(job | scorer.facts)
            done, extras = _score(found, parts, scorer, pairs, meter, (target, write_as), check)
        with meter("joining", "pairs", done.pairs) as advance:
            join_shards(parts, done.pools, target, write_as, advance, extras)
        parts.publish(target)  # only now, as the folder collects what a kill leaves
        parts.sweep()
    return done


def pools_of(source: str, read_as: str | None = None) -> Pools:
    """The pools of a dataset's id or of a file or folder, which is read as the format says."""
    if read_as is None:
        return data.pools(source)
    format_named(read_as)
    return Pools(source, (source,), partial(formats.read_pools, source, read_as))


def prepared(ranker: Ranker | Scorer, pools: Iterable[Pool], meter: Meter = no_meter) -> Scorer:
    """A scorer whose ranker will score these pools, which it reads if it needs their statistics."""
    scorer = ranker if isinstance(ranker, Scorer) else Scorer(ranker)
    if not scorer.ranker.needs_preparing:
        return scorer
    with meter("counting words", "pairs", None) as advance:
        return replace(scorer, ranker=scorer.ranker.prepare(_metered(pools, advance)))


def writable(target: str, write_as: str | None = None, more: bool = False) -> str:
    """The name of the format to write, or one line on why scored pools cannot be written there so.

    There may be more to write than scores: quotes, or what a gate says.
    """
    path = Path(target)
    if path.is_dir() and write_as != "beir":
        raise DataError("is a folder, not a file", path=target, fix="name a file in it")
    name = write_as or by_name(target)
    if more and name not in WITH_EXTRAS:
        what = f"{target}: quotes and what a gate says cannot be written as {name!r}"
        raise UsageError(f"{what}; these can hold them: {', '.join(WITH_EXTRAS)}")
    if name != "run" and (format_named(name).write is None or name in _WITHOUT_SCORES):
        known = (one for one, each in formats.FORMATS.items() if each.write or one == "run")
        able = ", ".join(one for one in known if one not in _WITHOUT_SCORES)
        raise UsageError(f"{target}: scores cannot be written as {name!r}; these can hold them: {able}")
    if name == "parquet":
        formats.parquet.needed()
    return name


def write_scores(
    target: str | Path, pools: Iterable[Pool], write_as: str | None = None, more: Iterable[str] = ()
) -> None:
    """Write scored pools in a format of pools, a table with columns for more extras, or as a TREC run."""
    if (write_as or by_name(target)) != "run":
        formats.write_pools(target, pools, write_as, more)
        return
    with replacing(target) as file:
        file.writelines(_run_lines(_once(pools, target), target))


def _run_lines(pools: Iterable[Pool], path: str | Path) -> Iterator[str]:
    for pool in pools:
        scores = {candidate.id: candidate.extra["score"] for candidate in pool.candidates}
        yield from formats.run_lines(pool.id, scores, path=path)


_WITHOUT_SCORES = {"squad", "beir"}  # formats that can be written, but have no place for a candidate's score:
# in BEIR a document that is judged for two questions stands once, and would have two


def _score(
    source: Pools,
    parts: Parts,
    scorer: Scorer,
    pairs: int,
    meter: Meter,
    written: tuple[str, str],
    check: Callable[[], None],
) -> tuple[Scored, list[str]]:
    """Score the missing shards while the check finds the files unchanged; what was done, and all extras."""
    done = scored = resumed = 0
    extras: dict[str, None] = {}
    pools = _differing(source.stream(), *written)
    with meter("scoring", "pairs", None) as advance:
        for number, shard in enumerate(shards(pools, pairs)):
            part = parts.shard(number)
            check()
            if part.exists():
                resumed += len(shard)
            else:
                found = scorer.pools(shard)
                for pool in found:
                    check_held(pool, *written)
                with told_as(f"{part}: pool", f"{source.id}: pool"):
                    write_shard(part, found, written[1])
            extras |= dict.fromkeys(key for pool in shard for one in pool.candidates for key in one.extra)
            done += len(shard)
            size = sum(len(pool) for pool in shard)
            scored += size
            advance(size)
    return Scored(done, scored, resumed), list(extras)


def _differing(pools: Iterable[Pool], target: str, write_as: str) -> Iterable[Pool]:
    """The same pools, if their ids differ as the format to write needs it."""
    if write_as == "run":
        return _once(pools, target)
    return columns.apart(pools, target) if format_named(write_as).table else pools


def check_held(pool: Pool, target: str, write_as: str) -> None:
    """Raise now what the join would raise if the format cannot hold this pool."""
    if write_as != "jsonl":  # as which shards are written anyway
        check = _run_lines if write_as == "run" else format_named(write_as).check
        deque(check([pool], target) if check else (), maxlen=0)


@contextmanager
def told_as(found: str, known: str) -> Iterator[None]:
    """A block whose errors name a place that users know instead of one in the folder of shards."""
    try:
        yield
    except DataError as error:
        raise DataError(str(error).replace(found, known)) from None


class ShardsLost(DataError):
    """Shards that were done hold fewer pools than they did."""

    def __init__(self, found: int, pools: int, folder: Path) -> None:
        super().__init__(f"holds {found:,} pools of {pools:,}", path=folder, fix="start again with --restart")


def join_shards(
    parts: Parts,
    pools: int,
    target: str,
    write_as: str,
    advance: Callable[[int], None] | None = None,
    more: Sequence[str] = (),
) -> None:
    """Write the shards as one file within their folder, if they hold so many pools; errors name OUT."""
    found = 0

    def scored() -> Iterator[Pool]:
        nonlocal found
        for part in parts.shards():
            for pool in read_shard(part, write_as):
                found += 1
                yield pool

    parts.drop_joined()
    with told_as(str(parts.joined), target):
        pools_read = scored() if advance is None else _metered(scored(), advance)
        write_scores(parts.joined, pools_read, write_as, more)
    if found != pools:  # as when a machine lost its power, and with it what was not yet on the disk
        raise ShardsLost(found, pools, parts.folder)


def _once(pools: Iterable[Pool], target: str | Path) -> Iterator[Pool]:
    """The same pools, if their ids differ: a run tells its questions apart by nothing else."""
    seen: set[str] = set()
    for pool in pools:
        if pool.id in seen:
            fix = "give each pool an id of its own, or write .jsonl"
            raise DataError(f"two pools have the id {pool.id!r}, which a run would mix", path=target, fix=fix)
        seen.add(pool.id)
        yield pool


def _metered(pools: Iterable[Pool], advance: Advance) -> Iterator[Pool]:
    for pool in pools:
        yield pool
        advance(len(pool))


def _is_own(pools: Pools) -> bool:
    """Whether these are the user's own file or folder, not a dataset's."""
    return pools.files == (pools.id,)


def _named(pools: Pools) -> str:
    return str(Path(pools.id).resolve()) if _is_own(pools) else pools.id


def _files(pools: Pools) -> dict[str, Path]:
    """The files that the pools are read from, by their names."""
    if not _is_own(pools):
        name = pools.id.partition("/")[0]
        return {file: sources.locate(name, file) for file in pools.files}
    own = Path(pools.id)
    folder = own.parent.parent if is_split(own) else own
    if not folder.is_dir():
        return {own.name: own}
    names = ("corpus.jsonl", "queries.jsonl", "qrels/*.tsv")  # and not whatever else lies in a BEIR folder
    files = sorted(file for name in names for end in ("", ".gz") for file in folder.glob(name + end))
    return {str(file.relative_to(folder)): file for file in files}
