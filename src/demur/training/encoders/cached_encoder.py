"""Rankers whose encoders look vectors up on disk, where a training run computed them before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from demur.embedders.caching import cached_on_disk
from demur.rankers import Ranker
from demur.rankers.ensembles.fusion import Fusion
from demur.rankers.vectors.cosine import EncoderRanker, cosines
from demur.rankers.vectors.feedback import Feedback
from demur.types import FloatArray, Pool


@dataclass(frozen=True)
class CachedEncoder(EncoderRanker):
    """The encoder ranker itself, but for where it has its vectors from."""

    def score_pools(self, pools: Sequence[Pool]) -> list[FloatArray]:
        """One array of scores per pool."""
        asker, answerer = self.of_questions, self.of_answers
        return cosines(pools, cached_on_disk(answerer), None if asker == answerer else cached_on_disk(asker))


def with_kept_vectors(ranker: Ranker) -> Ranker:
    """The ranker, if it embeds whole texts with an encoder then with vectors kept on disk; scores stay.

    It is for scoring the same texts several times, not to be saved.
    """
    if type(ranker) is EncoderRanker:
        return CachedEncoder(
            **{field.name: getattr(ranker, field.name) for field in fields(ranker) if field.init}
        )
    if isinstance(ranker, Fusion):
        return ranker.holding(tuple(with_kept_vectors(member) for member in ranker.members))
    if isinstance(ranker, Feedback):
        first, features = ranker.members
        return ranker.holding(with_kept_vectors(first), cached_on_disk(features))
    return ranker
