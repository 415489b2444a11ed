"""What workers do, one after another for each file: cut it into shards, score each, join what was written.

Each step depends on its arguments and on the files that it names, and may be done again after a kill. A row
that cannot be read or scored is left out and kept with its file and number.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from demur.data import formats
from demur.data.formats import jsonl
from demur.data.formats.shared.checks import unencodable
from demur.errors import DataError, DemurError
from demur.files import replacing
from demur.scale.items import Item
from demur.scoring import SHARD, Scorer, shards
from demur.scoring.files import ShardsLost, check_held, join_shards
from demur.scoring.shard import held
from demur.types import Pool


@dataclass(frozen=True)
class Shard:
    """Whole pools of one file with the numbers of their rows; or why the file cannot be read further."""

    item: Item
    number: int
    pools: Sequence[Pool]
    rows: Sequence[int]
    failed: str = ""

    def outcome(self, without: Collection[int], resumed: bool = False) -> Outcome:
        """What became of it, where these rows were left out."""
        kept = [pool for row, pool in zip(self.rows, self.pools, strict=True) if row not in without]
        return Outcome(self.item.number, len(kept), sum(map(len, kept)), resumed=len(kept) if resumed else 0)


@dataclass(frozen=True)
class Outcome:
    """What became of a shard, or of joining a file."""

    item: int
    pools: int = 0
    pairs: int = 0
    resumed: int = 0
    """Pools that were scored before."""
    failed: str = ""
    """Why the file is left out."""
    stopped: str = ""
    """Why the whole job cannot go on."""


def cut(item: Item, pairs: int = SHARD) -> Iterator[Shard]:
    """The shards of a file, cut as `demur score` cuts them when bad rows are left out."""
    bad: list[tuple[int, str]] = []
    rows: list[int] = []

    def sound() -> Iterator[Pool]:
        for row, found in formats.each_row(item.source):
            if isinstance(found, DataError):
                bad.append((row, str(found)))
            else:
                rows.append(row)
                yield found

    Path(item.folder).mkdir(parents=True, exist_ok=True)
    number = -1
    try:
        for number, shard in enumerate(shards(sound(), pairs)):
            item.check_unchanged()
            yield Shard(item, number, shard, rows[: len(shard)])
            del rows[: len(shard)]
        item.check_unchanged()
    except DataError as error:
        yield Shard(item, number + 1, (), (), _why_unread(item, error))
    item.tell_bad(None, bad)


def _why_unread(item: Item, error: DataError) -> str:
    """Why a file could not be read to its end: perhaps only because another was writing it."""
    try:
        item.check_unchanged()
    except DataError as changed:
        return str(changed)
    return str(error)


def score_shard(scorer: Scorer, shard: Shard, without: Mapping[int, str] = MappingProxyType({})) -> Outcome:
    """What became of a shard; it is written whole, unless it was before.

    Rows may be named that are left out, with the reason.
    """
    if (known := known_outcome(shard)) is not None:
        return known
    item, part = shard.item, shard.item.parts.shard(shard.number)
    given = [(row, pool) for row, pool in zip(shard.rows, shard.pools, strict=True) if row not in without]
    lines = scored_lines(scorer, [pool for _, pool in given], item)
    bad = dict(without)
    bad |= {
        row: why(line) for (row, _), line in zip(given, lines, strict=True) if isinstance(line, Exception)
    }
    item.tell_bad(shard.number, [(row, f"{item.place(row)}: {bad[row]}") for row in sorted(bad)])
    with replacing(part) as file:
        file.writelines(line for line in lines if isinstance(line, str))
    return shard.outcome(bad.keys())


def known_outcome(shard: Shard) -> Outcome | None:
    """What became of a shard that was scored before, or cannot be; None where there is work to do."""
    if shard.failed:
        return Outcome(shard.item.number, failed=shard.failed)
    if shard.item.parts.shard(shard.number).exists():
        return shard.outcome({told["row"] for told in shard.item.bad(shard.number)}, resumed=True)
    return None


def scored_lines(scorer: Scorer, pools: Sequence[Pool], item: Item) -> list[str | Exception]:
    """The line of each scored pool, or why there is none. If it is one for all, it is no fault of a row."""
    try:
        return [_line(pool, item) for pool in scorer.pools(pools)]
    except MemoryError:
        raise
    except Exception as error:  # whatever a ranker may raise
        found = [_alone(scorer, pool, item) for pool in pools]
        sound = [pool for pool, each in zip(pools, found, strict=True) if isinstance(each, str)]
        if len(sound) == len(pools) or (not sound and len(pools) > 1):
            raise error
    together = iter([_line(pool, item) for pool in scorer.pools(sound)] if sound else [])
    return [next(together) if isinstance(each, str) else each for each in found]


def _alone(scorer: Scorer, pool: Pool, item: Item) -> str | Exception:
    try:
        return _line(scorer.pools([pool])[0], item)
    except MemoryError:
        raise
    except Exception as error:
        return error


def _line(pool: Pool, item: Item) -> str:
    line = jsonl.line(held(pool, item.write_as), item.target)
    line.encode()  # half characters fail here
    check_held(pool, item.target, item.write_as)
    return line


def join(item: Item, pools: int, pairs: int, write_as: str) -> Outcome:
    """What became of a file whose shards are all there: one file again, as `demur score` writes it."""
    parts = item.parts
    try:
        join_shards(parts, pools, item.target, write_as)
    except ShardsLost as error:
        return Outcome(item.number, stopped=str(error))
    except DemurError as error:  # such as a label that the format cannot hold
        return Outcome(item.number, failed=f"{item.source}: {error}")
    item.publish(pools, pairs)
    parts.sweep()
    return Outcome(item.number, pools, pairs)


def why(error: Exception) -> str:
    """What an error says, in one line; of one that is not meant for users also what kind it is."""
    if isinstance(error, UnicodeEncodeError):
        return unencodable(error)
    said = " ".join(str(error).split())
    return said if isinstance(error, DemurError) else f"{type(error).__name__}: {said[:400]}"
