"""Confidence from a committee: how far its members agree, on the top candidate or on the whole order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

import numpy as np

from demur import store
from demur.errors import UnknownName, UsageError
from demur.rankers import ranker
from demur.rankers.ensembles.committee import Committee
from demur.risk.qualifiers.agreement import WAYS, committee
from demur.risk.qualifiers.base import Qualifier
from demur.risk.qualifiers.scored import Scored
from demur.specs import Spec
from demur.types import FloatArray, Pool

BY = (*WAYS, "entropy", "ranks")


@dataclass(frozen=True)
class Disagreement(Qualifier):
    """How far the members of a committee agree; `model` is its folder.

    By ``votes``, ``mean`` or ``variance`` of the top candidate, as in ``agreement``; by ``entropy``, minus
    that of the votes for first place, as a share of the most it can be; by ``ranks``, the mean rank
    correlation (Kendall) of two members, from -1 to 1. A lone candidate has agreed votes.
    """

    name: ClassVar[str] = "committee"
    tolerance: ClassVar[float] = 1e-4
    """By how much a number may change with what else is scored at the same time."""
    model: str = ""
    by: str = "variance"
    of: str = ""
    """A hash of the committee, which a gate keeps: when it changes, the gate must be made anew."""

    def __post_init__(self) -> None:
        if self.by not in BY:
            raise UnknownName("way to agree", self.by, BY)

    @property
    def spec(self) -> str:
        """The spelling that builds this again, with the hash of what it asks."""
        of = self.of or (open_committee(self.model).fingerprint if self.model else "")
        return str(Spec(self.name, {"model": self.model, "by": self.by, "of": of}))

    def confidence_of(self, pools: Sequence[Pool], scored: Scored) -> FloatArray:
        """How far the members agree, pool by pool."""
        if not self.model:
            raise UsageError("committee needs the folder of a committee; write committee(model=FOLDER)")
        asked = open_committee(self.model)
        if self.of not in ("", asked.fingerprint):
            raise UsageError(f"the committee {self.model} has changed; calibrate the gate again")
        votes = asked.votes(pools)
        if self.by in WAYS:
            given = np.split(scored.as_given(scored.scores), np.cumsum(scored.sizes)[:-1])
            return committee(given, votes, self.by)
        agreed = vote_entropy if self.by == "entropy" else rank_agreement
        return np.array([agreed(np.array(each)) for each in zip(*votes, strict=True)])


def vote_entropy(scores: FloatArray) -> float:
    """Minus the entropy of the votes for first place, members × candidates: 0 agreed, -1 all of their own.

    A member with several best divides its vote.
    """
    best = scores == scores.max(axis=1, keepdims=True)
    shares = (best / best.sum(axis=1, keepdims=True)).mean(axis=0)
    most = np.log(min(scores.shape))
    terms = shares[shares > 0] * np.log(shares[shares > 0])
    return max(float(terms.sum() / most), -1.0) if most > 0 else 0.0


def rank_agreement(scores: FloatArray) -> float:
    """The mean of Kendall's tau between members, of members × candidates; a tie agrees with nothing."""
    members, count = scores.shape
    if members < 2 or count < 2:
        return 1.0
    total = np.zeros((count, count))
    own = 0.0
    for each in scores:
        order = np.sign(each[:, None] - each)
        total += order
        own += float((order**2).sum())
    same = float((total**2).sum()) - own  # over all ordered pairs of different members
    return float(same / (members * (members - 1) * count * (count - 1)))


def open_committee(model: str) -> Committee:
    """The committee; opened again only when what lies in its folder has changed."""
    file = Path(model) / store.FACTS
    return _opened(model, file.stat().st_mtime_ns if file.is_file() else 0)


@lru_cache(maxsize=2)
def _opened(model: str, written: int) -> Committee:
    found = ranker(model)
    if not isinstance(found, Committee):
        raise UsageError(
            f"{model} is not a committee, so it has no members that may disagree; name the folder of one"
        )
    for member in found.members:
        if member.needs_preparing:
            what = f"the member {member.spec} of {model} needs word statistics first"
            raise UsageError(f"{what}; make the committee with one that has stats=pool, or a file")
    return found
