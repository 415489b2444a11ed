"""What can be told of answers without reading them: how likely each is right by overlap, lengths and place.

A model of the bias alone shows others what to unlearn. Its probabilities are out of fold: for no pool was the
model fitted on that pool.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from demur import logistic
from demur.rankers.lexical.overlap import Overlap
from demur.text import tokenize
from demur.types import Candidate, FloatArray, IntArray, Pool

_LIMIT = 6.0  # log-odds; nothing is surer


def features(pools: Sequence[Pool]) -> list[FloatArray]:
    """Per pool, candidates × 5: shared idf, Jaccard, length of question and of answer, place in the pool."""
    asked = [Pool(p.id, p.question, (*p.candidates, Candidate("", p.question))) for p in pools]
    shared = Overlap(stats="dataset").prepare(pools).score_pools(asked)
    return [_of(pool, overlap) for pool, overlap in zip(pools, shared, strict=True)]


def _of(pool: Pool, overlap: FloatArray) -> FloatArray:
    words = set(tokenize(pool.question))
    answers = [tokenize(text) for text in pool.answers]
    rows = np.empty((len(pool), 5))
    rows[:, 0] = overlap[:-1] / max(overlap[-1], 1e-12)  # of the question's own weight
    rows[:, 1] = [len(words & set(a)) / max(len(words | set(a)), 1) for a in answers]
    rows[:, 2] = np.log1p(len(words))
    rows[:, 3] = np.log1p([len(a) for a in answers])
    rows[:, 4] = np.arange(len(pool)) / max(len(pool) - 1, 1)
    return rows


def out_of_fold(rows: FloatArray, right: FloatArray, of: IntArray, folds: int, seed: int) -> FloatArray:
    """The log-odds of each row, by models fitted without the rows of its pool; `of` numbers the pools."""
    pools = int(of.max(initial=-1)) + 1
    fold = np.random.default_rng([seed, pools]).permutation(pools) % max(folds, 1)
    odds = np.zeros(len(rows))
    for each in np.unique(fold):
        out = fold[of] == each
        if 0 < right[~out].sum() < (~out).sum():  # else nothing is known: even odds
            slopes, shift = logistic.fit(rows[~out], right[~out], signed=True, ridge=1.0)
            odds[out] = rows[out] @ slopes + shift
    return odds.clip(-_LIMIT, _LIMIT)


def terciles(values: FloatArray) -> IntArray:
    """0, 1 or 2 for the low, middle and high third; equal values lie together."""
    low, high = np.quantile(values, [1 / 3, 2 / 3])
    return np.searchsorted(np.array([low, high]), values).astype(np.int64)
