"""Pools as rows of one table of texts: each different text has one row, and each pair names two."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from demur.types import FloatArray, IntArray, Pool


@dataclass(frozen=True)
class Rows:
    """The pairs of some pools, pool after pool, as rows of their different texts."""

    texts: Sequence[str]
    questions: IntArray  # per pair: the row of its question
    answers: IntArray  # per pair: the row of its answer
    sizes: IntArray  # per pool: how many pairs

    @classmethod
    def of(cls, pools: Iterable[Pool]) -> Rows:
        """The rows of pools, in the order in which the texts first come."""
        rows: dict[str, int] = {}
        questions, answers, sizes = [], [], []
        for pool in pools:
            question = rows.setdefault(pool.question, len(rows))
            sizes.append(len(pool.candidates))
            questions += [question] * len(pool.candidates)
            answers += [rows.setdefault(candidate.text, len(rows)) for candidate in pool.candidates]
        arrays = (np.array(each, np.int64) for each in (questions, answers, sizes))
        return cls(list(rows), *arrays)

    @property
    def pools(self) -> IntArray:
        """Per pair: the number of its pool."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def split(self, values: FloatArray) -> list[FloatArray]:
        """One array per pool out of one number per pair."""
        return np.split(values, np.cumsum(self.sizes)[:-1]) if len(self.sizes) else []
