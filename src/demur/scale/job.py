"""A job: many files scored into many, whoever does the work; a stopped one resumes.

Each file comes out as `demur score` would write it, to the last byte: shards are cut alike and scored by the
same function, because networks round by what is scored together. What is done lies in ``OUT.parts`` until all
is; rows that were left out lie in ``OUT.bad.jsonl`` at the end.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from demur.data import formats
from demur.errors import DataError, DemurError
from demur.files import lines, replacing
from demur.scale.items import Files, Folders, Item, foreign
from demur.scale.work import Outcome, cut, join, score_shard
from demur.scoring import SHARD, Meter, Scorer, no_meter, prepared
from demur.types import Pool


@dataclass(frozen=True)
class Done:
    """What a job did."""

    files: int
    pools: int
    pairs: int
    resumed_pools: int
    bad: list[dict[str, Any]] = field(default_factory=list)
    """The rows that were left out: file, row and problem."""
    failed: list[str] = field(default_factory=list)
    """What is wrong with the files that were left out."""


class Engine(Protocol):
    """Whoever does the work, in any order."""

    def score(self, scorer: Scorer, items: Sequence[Item], pairs: int) -> Iterator[Outcome]:
        """What became of each shard of these files, as it comes."""
        ...

    def join(self, files: Sequence[tuple[Item, int, int]], write_as: str) -> Iterator[Outcome]:
        """What became of joining each file, of which so many pools and pairs are there."""
        ...


class Here:
    """One shard after another, in the process that calls."""

    def score(self, scorer: Scorer, items: Sequence[Item], pairs: int) -> Iterator[Outcome]:
        """What became of each shard."""
        return (score_shard(scorer, shard) for item in items for shard in cut(item, pairs))

    def join(self, files: Sequence[tuple[Item, int, int]], write_as: str) -> Iterator[Outcome]:
        """What became of each file."""
        return (join(*each, write_as) for each in files)


def score_files(
    source: str,
    target: str,
    scorer: Scorer,
    engine: Engine,
    *,
    write_as: str | None = None,
    restart: bool = False,
    pairs: int = SHARD,
    meter: Meter = no_meter,
) -> Done:
    """Score a file into a file or a folder into a folder, going on where an earlier run of it was stopped."""
    files = Files.of(source, target, write_as)
    items, told = files.items, Path(f"{files.target}.bad.jsonl")
    folders = Folders(target)
    with folders.held():
        if (did := folders.finished()) and not restart and _there(items) != did["files"]:
            folders.sweep()
        if not folders.shards() and not folders.finished():
            _check_free(files.target, told)
        elif restart:
            _forget(folders, files.target, told)
        scorer = prepared(scorer, _pools(items), meter)
        stamps = {item.source: item.stamp for item in items}
        job = {"source": str(files.source.absolute()), "files": stamps, "to": files.write_as}
        folders.claim({**job, "shard": pairs, **scorer.facts})
        if did := folders.finished():
            folders.sweep()
            did.pop("written", None)
            return Done(**did, resumed_pools=did["pools"], bad=_told(told))
        for item in items if files.source.is_dir() else ():
            item.check_free()
        done = _run(items, scorer, engine, files.write_as, pairs, meter)
        done = replace(done, failed=[*files.left_out, *done.failed])
        _tell(told, done.bad)
        did = {"files": done.files, "pools": done.pools, "pairs": done.pairs, "failed": done.failed}
        folders.finish({**did, "written": folders.written()})
        folders.sweep()
    return done


def _there(items: Sequence[Item]) -> int:
    """How many of the files to write are there."""
    return sum(Path(item.target).is_file() for item in items)


def _check_free(target: Path, told: Path) -> None:
    """Refuse to begin where something is."""
    for path in (target, told):
        if path.is_file() if path == told else path.is_dir() and any(path.iterdir()):
            raise DataError("exists already", path=path, fix="remove it, or name another place to write")


def _forget(folders: Folders, target: Path, told: Path) -> None:
    """Remove all that a stopped job has written; if its folder holds anything else, remove nothing."""
    ours = folders.published(target)
    known = {path.resolve() for path in ours}
    for path in sorted(target.rglob("*")) if target.is_dir() else ():
        if path.is_symlink() or not (path.is_dir() or path.resolve() in known):
            raise foreign(path)
    for path in ours:
        path.unlink()
        with suppress(OSError):  # as of a folder that is a link
            os.removedirs(path.parent)
    told.unlink(missing_ok=True)
    folders.sweep()


def _run(
    items: Sequence[Item], scorer: Scorer, engine: Engine, write_as: str, pairs: int, meter: Meter
) -> Done:
    before = {item.number: done for item in items if (done := item.done())}
    todo = [item for item in items if item.number not in before]
    pools: dict[int, int] = defaultdict(int)
    size: dict[int, int] = defaultdict(int)
    resumed, failed = sum(each[0] for each in before.values()), {}
    with meter("scoring", "pairs", None) as advance:
        advance(sum(each[1] for each in before.values()))
        for outcome in _going(engine.score(scorer, todo, pairs)):
            pools[outcome.item] += outcome.pools
            size[outcome.item] += outcome.pairs
            resumed += outcome.resumed
            if outcome.failed:
                failed[outcome.item] = outcome.failed
            advance(outcome.pairs)
    whole = [(item, pools[item.number], size[item.number]) for item in todo if item.number not in failed]
    with meter("joining", "pairs", sum(each[2] for each in whole)) as advance:
        for outcome in _going(engine.join(whole, write_as)):
            if outcome.failed:
                failed[outcome.item] = outcome.failed
            advance(outcome.pairs)
    kept = [each for item, *each in whole if item.number not in failed] + [*map(list, before.values())]
    return Done(
        len(kept),
        sum(each[0] for each in kept),
        sum(each[1] for each in kept),
        resumed,
        [told for item in items for told in item.bad()],
        [failed[number] for number in sorted(failed)],
    )


def _going(outcomes: Iterator[Outcome]) -> Iterator[Outcome]:
    """The outcomes, until one says that the job cannot go on."""
    for outcome in outcomes:
        if outcome.stopped:
            raise DemurError(outcome.stopped)
        yield outcome


def _pools(items: Iterable[Item]) -> Iterator[Pool]:
    """All pools that can be read, for a ranker that needs their statistics."""
    for item in items:
        try:
            for _, found in formats.each_row(item.source):
                if not isinstance(found, DataError):
                    yield found
        except DataError:  # it is told when the file is scored
            continue


def _tell(path: Path, bad: Sequence[dict[str, Any]]) -> None:
    """Write which rows were left out, if any were."""
    if not bad:
        return
    with replacing(path) as file:
        file.writelines(json.dumps(told, ensure_ascii=False) + "\n" for told in bad)


def _told(path: Path) -> list[dict[str, Any]]:
    """The rows that were written there as left out."""
    return [json.loads(line) for _, line in lines(path)] if path.is_file() else []
