"""Pools to be scored, a ranker for them, and one that stops midway."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import demur
from demur.data import formats
from demur.rankers import Ranker
from demur.types import Candidate, FloatArray, Pool

RANKER = demur.ranker("bm25")


def made(number: int) -> list[Pool]:
    return [
        Pool.of(f"ape w{n}", [f"w{n} ape bee", "ape", f"cat {n}"], [1, 0, 0], id=f"q{n}")
        for n in range(number)
    ]


def apart(number: int) -> list[Pool]:
    """Pools whose candidates have ids of their own, as in BEIR."""
    return [
        Pool(f"q{n}", f"ape w{n}", (Candidate(f"q{n}", f"w{n} ape" + " bee" * n, 1),)) for n in range(number)
    ]


def written(folder: Path) -> Path:
    """A file of a hundred pools."""
    formats.write_pools(folder / "in.jsonl", made(100))
    return folder / "in.jsonl"


def scores(path: Path) -> dict[str, list[float]]:
    return {pool.id: [c.extra["score"] for c in pool.candidates] for pool in formats.read_pools(path)}


@dataclass(frozen=True)
class Failing(Ranker):
    """BM25 that fails at one question, once: what a killed process leaves behind."""

    name = "failing"
    at: str = ""

    @property
    def fingerprint(self) -> str:
        return RANKER.fingerprint

    def score_pools(self, pools: Sequence[Pool]) -> list[FloatArray]:
        if any(pool.id == self.at for pool in pools):
            raise RuntimeError("killed")
        return RANKER.score_pools(pools)
