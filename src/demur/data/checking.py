"""Whether the data at hand is what its authors published: files by checksum, splits by count."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from demur import files
from demur.data import sources
from demur.data.datasets import pools
from demur.data.sources import Facts
from demur.errors import DataError, MissingData, UnknownName
from demur.types import Pool

State = Literal["ok", "known hole", "missing", "changed", "wrong"]
BAD: frozenset[State] = frozenset({"missing", "changed", "wrong"})


@dataclass(frozen=True)
class Finding:
    """What a look at one file or split found."""

    dataset: str
    what: str
    state: State
    note: str = ""


def check(names: Iterable[str] = ()) -> list[Finding]:
    """The findings about the datasets of these names, or about all."""
    return list(findings(names))


def findings(names: Iterable[str] = ()) -> Iterator[Finding]:
    """The findings of `check`, one by one as they are made."""
    known = sources.known()
    chosen = list(names) or list(known)
    for name in chosen:
        if name not in known:
            raise UnknownName("dataset", name, known)
    if (root := sources.root()) is None:
        raise MissingData("DEMUR_DATA is not set; set it to the folder with the datasets' folders")
    if not root.is_dir():
        fix = "set it to the folder with the datasets' folders"
        raise MissingData(f"DEMUR_DATA is {root}, which is no folder; {fix}")
    for name in chosen:
        facts = known[name]
        for file in facts.files:
            yield _file(facts, file)
        for rest in facts.counts:
            yield from _counts(facts, rest)
        for what, why in facts.holes.items():
            if sources.find_file(what) is None:
                yield Finding(name, what, "known hole", why)


def _file(facts: Facts, file: str) -> Finding:
    expected = facts.files[file]
    path = sources.find_file(file)
    if path is None:
        return Finding(facts.name, file, "missing", facts.obtain)
    if path.name != Path(file).name:
        return Finding(facts.name, file, "ok", f"here as {path.name}: its checksum cannot be compared")
    if path.stat().st_size != expected["bytes"] or files.sha256(path) != expected["sha256"]:
        return Finding(facts.name, file, "changed", "its checksum differs; obtain it again")
    return Finding(facts.name, file, "ok", "checksum")


def _counts(facts: Facts, rest: str) -> Iterator[Finding]:
    """The finding about one id's counts; none where a file is missing, which its own finding says."""
    id = f"{facts.name}/{rest}"
    found = pools(id)
    if any(sources.find_file(file) is None for file in found.files):
        return
    expected = dict(facts.counts[rest])
    by = "by our own count" if expected.pop("by", "") else "as published"
    try:
        counted = _count(found.stream())
    except DataError as error:
        yield Finding(facts.name, id, "wrong", str(error))
        return
    if counted.items() >= expected.items():
        yield Finding(facts.name, id, "ok", f"{_said(expected)} {by}")
    else:
        there = {key: counted[key] for key in expected}
        yield Finding(facts.name, id, "wrong", f"{_said(there)}; {by} it has {_said(expected)}")


def _count(pools: Iterator[Pool]) -> dict[str, int]:
    counts = dict.fromkeys(("pools", "pairs", "positives", "empty"), 0)
    for pool in pools:
        counts["pools"] += 1
        counts["pairs"] += len(pool)
        counts["positives"] += pool.positives
        counts["empty"] += pool.answers.count("")
    return counts


def _said(counts: dict[str, int]) -> str:
    return ", ".join(f"{number:,} {key}" for key, number in counts.items())
