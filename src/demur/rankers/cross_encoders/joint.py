"""A cross-encoder that reads each answer beside the best of the others: an answer seldom stands alone.

After joint answer sentence selection (Zhang et al. 2021, Di Liello et al. 2022); `support` is nearer to the
first of these.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from demur.errors import UsageError
from demur.rankers.cross_encoders.beside import FIRST, Beside
from demur.types import FloatArray, Pool

MODES = ("others", "pairwise")


@dataclass(frozen=True)
class Joint(Beside):
    """A trained network that reads question, answer, and the `k` others of the pool that `first` puts first.

    ``mode=others`` reads them all at once. ``pairwise`` reads one at a time, in both orders, and a score is
    the mean by which an answer is thought better than each of them.
    """

    name: ClassVar[str] = "joint"
    shaped: ClassVar[tuple[str, ...]] = ("k", "mode", "block")
    first: str = FIRST
    k: int = 3
    mode: str = "others"
    block: int = 64

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mode not in MODES:
            raise UsageError(f"mode={self.mode!r} is not known; use mode=others or mode=pairwise")

    def score_pools(self, pools: Sequence[Pool]) -> list[FloatArray]:
        """One array of scores per pool."""
        beside = self.others(pools)
        targets, others, ends = [], [], [0]
        for pool, of_pool in zip(pools, beside, strict=True):
            for place, near in enumerate(of_pool):
                for group in [near] if self.mode == "others" else [[each] for each in near] or [[]]:
                    targets.append((pool.question, pool.answers[place]))
                    others.append([pool.answers[each] for each in group])
                    if self.mode == "pairwise" and group:
                        targets.append((pool.question, pool.answers[group[0]]))
                        others.append([pool.answers[place]])
                ends.append(len(targets))
        scores = self._read(targets, others)
        if self.mode == "pairwise":
            sums = [_mean_gap(scores[a:b]) for a, b in itertools.pairwise(ends)]
            scores = np.array(sums, np.float64)
        parts = np.split(scores, np.cumsum([len(pool) for pool in pools])) if len(pools) else []
        return [np.asarray(part, np.float64) for part in parts[: len(pools)]]

    def _read(self, targets: Sequence[tuple[str, str]], others: Sequence[Sequence[str]]) -> FloatArray:
        if not targets:
            return np.empty(0)
        rows = [
            (question, answer, tuple(near)) for (question, answer), near in zip(targets, others, strict=True)
        ]
        places = {row: n for n, row in enumerate(dict.fromkeys(rows))}
        network, tokenizer = self.able()
        scores = self.read(network, self.tokens(network, tokenizer, list(places)))
        return scores[[places[row] for row in rows]]

    @property
    def kinds(self) -> int:
        """How many kinds of texts there are: question, answer, and each of the others."""
        return 2 + (self.k if self.mode == "others" else 1)


def _mean_gap(scores: FloatArray) -> float:
    """Of scores that stand in twos, the mean of the first less the second; of one alone, that one."""
    return float(scores[0]) if len(scores) == 1 else float((scores[::2] - scores[1::2]).mean())
