"""What mini learns beside labels: its own opinion from before, and that of another ranker, of many texts.

Labelled pools have only texts that somebody put beside a question, so that a network which learns from them
alone forgets what other words mean. The encoder knows that; so the two are added, and learnt from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from demur.precision import AUTO
from demur.rankers import Ranker
from demur.rankers.ensembles.base import standardised
from demur.reading.readers.mini_torch import MiniTorch
from demur.training.base import Reporter
from demur.training.encoders.cached_encoder import with_kept_vectors
from demur.types import FloatArray, Pool

LABELS = 0.5
"""The share of a pool's loss that is the labels'."""
_SHARP = 1.5  # times the sum of standard scores, before it becomes a distribution
_AT_ONCE = 32  # pools


def shares(
    pools: Sequence[Pool], own: MiniTorch, teacher: Ranker, report: Reporter, precision: str = AUTO
) -> list[FloatArray]:
    """Of each pool, what share of trust each candidate has from both: a softmax of their standard scores.

    Its own opinion is computed in the precision that it learns in, which is near enough.
    """
    before = replace(own, precision=precision).holding(*own.fresh())
    beside = with_kept_vectors(teacher)
    found: list[FloatArray] = []
    for at in range(0, len(pools), _AT_ONCE):
        some = pools[at : at + _AT_ONCE]
        for a, b in zip(before.score_pools(some), beside.score_pools(some), strict=True):
            found.append(_trust(standardised(a) + standardised(b)))
        report({"share": len(found) / len(pools)})
    return found


def shares_of_teacher(pools: Sequence[Pool], teacher: Ranker) -> list[FloatArray]:
    """The same where only the teacher is asked, whose opinion counts twice."""
    return [_trust(2 * standardised(scores)) for scores in with_kept_vectors(teacher).score_pools(pools)]


def _trust(chances: FloatArray) -> FloatArray:
    odds = np.exp(_SHARP * (chances - chances.max()))
    shares: FloatArray = odds / odds.sum()
    return shares
