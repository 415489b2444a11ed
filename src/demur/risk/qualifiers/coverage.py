"""Confidence from words: how much of the question the top candidate speaks of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from demur.rankers.lexical.bm25 import idf
from demur.rankers.lexical.matches import Matches, in_batches, match
from demur.risk.qualifiers.base import Qualifier
from demur.risk.qualifiers.scored import Scored
from demur.types import FloatArray, Pool


@dataclass(frozen=True)
class Coverage(Qualifier):
    """The share of the question's content words, weighted by idf in the pool, that the top candidate has.

    0 for a question without content words. Of several best candidates the one with the least share counts.
    """

    name: ClassVar[str] = "coverage"
    stem: str = "none"

    def confidence_of(self, pools: Sequence[Pool], scored: Scored) -> FloatArray:
        """The shares."""
        shares = in_batches(pools, lambda batch: _shares(match(batch, "content", self.stem)))
        return scored.of_top(np.concatenate(shares))


def _shares(matches: Matches) -> FloatArray:
    """Per answer of a batch, the weight of the question's words it has among that of all."""
    weights = idf(matches.sizes[matches.pool].astype(np.float64), matches.answers_having())
    has = matches.sums(np.where(matches.counts > 0, weights[matches.term], 0.0))
    totals = np.bincount(matches.pool, weights=weights, minlength=len(matches.sizes))
    all_of_them = np.repeat(totals, matches.sizes)
    return np.divide(has, all_of_them, out=np.zeros_like(has), where=all_of_them > 0)
