"""Confidence from agreement: whether other rankers would choose the same candidate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from demur.errors import UsageError
from demur.rankers import Ranker, ranker
from demur.risk.qualifiers.base import Qualifier
from demur.risk.qualifiers.scored import Scored
from demur.specs import members_of
from demur.types import FloatArray, Pool

WAYS = ("votes", "mean", "variance")


@dataclass(frozen=True)
class Agreement(Qualifier):
    """How far several rankers agree on the top candidate.

    By ``votes``, the share of them that put it first; a ranker with several best divides its vote. By
    ``mean``, the mean of the probabilities that they give it, each by softmax of its z-scores, so that the
    scales of rankers do not matter. By ``variance``, minus their variance: for an ensemble of one kind of
    ranker, as rankers of different kinds differ most where one of them is confident. A lone candidate has
    every vote: 1, or 0 by variance.
    """

    name: ClassVar[str] = "agreement"
    rankers: str = "bm25; overlap; length"
    by: str = "votes"

    def __post_init__(self) -> None:
        if self.by not in WAYS:
            raise UsageError(f"agreement by {self.by!r} is not known; write by={', by='.join(WAYS)}")
        for member in self.members:
            if member.needs_preparing:
                raise UsageError(
                    f"agreement asks {member.spec}, which needs word statistics first; write stats=pool"
                )

    @property
    def members(self) -> list[Ranker]:
        """The rankers that are asked."""
        return [ranker(spec) for spec in members_of(self.rankers)]

    def confidence_of(self, pools: Sequence[Pool], scored: Scored) -> FloatArray:
        """How far the rankers agree, pool by pool."""
        return _agreement(scored, (member.score_pools(pools) for member in self.members), self.by)


def committee(
    scores: Sequence[FloatArray], members: Sequence[Sequence[FloatArray]], by: str = "votes"
) -> FloatArray:
    """How far members, given as their scores, agree on the top of `scores`; -inf for a pool without any."""
    if by not in WAYS:
        raise UsageError(f"agreement by {by!r} is not known; write {', '.join(WAYS)}")
    shape = [len(each) for each in scores]
    for number, member in enumerate(members, 1):
        if [len(each) for each in member] != shape:
            raise UsageError(
                f"member {number} of the committee has scored other pools or candidates; "
                "let all score the same"
            )
    filled = [place for place, size in enumerate(shape) if size]
    found = np.full(len(shape), -np.inf)
    if filled:
        parts = ([member[place] for place in filled] for member in members)
        found[filled] = _agreement(Scored.of([scores[place] for place in filled]), parts, by)
    return found


def _agreement(scored: Scored, members: Iterable[Sequence[FloatArray]], by: str) -> FloatArray:
    views = np.array([_view(Scored.of(member), by) for member in members])
    if not len(views):
        raise UsageError("agreement needs at least one ranker")
    return scored.of_top(-views.var(axis=0) if by == "variance" else views.mean(axis=0))


def _view(member: Scored, by: str) -> FloatArray:
    """What a member gives each candidate, in the order of input: its vote, or a probability."""
    if by == "votes":
        best = (member.below == 0).astype(np.float64)
        return member.as_given(best / np.repeat(member.sums(best), member.sizes))
    raw = np.exp(member.standard)
    return member.as_given(raw / np.repeat(member.sums(raw), member.sizes))
