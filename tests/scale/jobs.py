"""Folders of files to be scored, a ranker that dies, and how scores must come out."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from demur import scoring
from demur.data import formats
from demur.rankers import Ranker
from demur.scoring import Scorer
from demur.types import FloatArray, Pool
from scored import RANKER


def made(number: int, first: int = 0) -> list[Pool]:
    return [
        Pool.of(f"ape w{n} é", [f"w{n} ape bee", "ape", f"cat {n}"], [1, 0, 0], id=f"q{n}")
        for n in range(first, first + number)
    ]


def folder(place: Path, number: int = 60) -> Path:
    """A folder with files of three kinds, one of them in a folder of its own."""
    (place / "in" / "more").mkdir(parents=True)
    for n, name in enumerate(["a.parquet", "b.jsonl", "more/c.jsonl.gz"]):
        formats.write_pools(place / "in" / name, made(number, n * number))
    (place / "in" / "_SUCCESS").touch()
    (place / "in" / "notes.txt").write_text("not read")
    return place / "in"


def same(source: Path, target: Path, scorer: Scorer, pairs: int) -> None:
    """Nothing, if each file is to the last byte what `demur score` writes."""
    for path in sorted(source.rglob("*")):
        name = path.name.removesuffix(".gz")
        if path.is_file() and name.endswith((".parquet", ".jsonl")):
            ours = target / path.relative_to(source).parent / f"{name.rpartition('.')[0]}.parquet"
            theirs = target.parent / "alone.parquet"
            scoring.score_file(str(path), str(theirs), scorer, pairs=pairs)
            assert ours.read_bytes() == theirs.read_bytes(), ours
            theirs.unlink()


@dataclass(frozen=True)
class Dying(Ranker):
    """BM25 that kills its process at a question with the word `dies`, and is slow where it is told to be."""

    name: ClassVar[str] = "dying"
    seconds: float = 0.0
    once: str = ""
    """A file: where it is named, death comes only while it is not there."""

    @property
    def fingerprint(self) -> str:
        return RANKER.fingerprint

    def score_pools(self, pools: Sequence[Pool]) -> list[FloatArray]:
        time.sleep(self.seconds)
        if any("dies" in pool.question for pool in pools) and not (self.once and Path(self.once).exists()):
            if self.once:
                Path(self.once).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if any("fails" in pool.question for pool in pools):
            raise ValueError("it fails\nhere")
        return RANKER.score_pools(pools)


@dataclass(frozen=True)
class Stopping(Ranker):
    """BM25 that somebody stops with Ctrl-C at one question."""

    name: ClassVar[str] = "stopping"
    at: str = ""

    @property
    def fingerprint(self) -> str:
        return RANKER.fingerprint

    def score_pools(self, pools: Sequence[Pool]) -> list[FloatArray]:
        if any(pool.id == self.at for pool in pools):
            raise KeyboardInterrupt
        return RANKER.score_pools(pools)
