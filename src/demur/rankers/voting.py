"""What each of several rankers says of pools: nets that are alike read the texts together."""

from __future__ import annotations

from collections.abc import Sequence

from demur.rankers import onnx_match
from demur.rankers.base import Ranker
from demur.rankers.match_nets import Match, score_together
from demur.rankers.onnx_match import OnnxMatch
from demur.types import FloatArray, Pool


def votes(members: Sequence[Ranker], pools: Sequence[Pool]) -> list[list[FloatArray]]:
    """Each member's own scores; those of nets of one shape come of one pass over the texts."""
    found: dict[int, list[FloatArray]] = {}
    for number, member in enumerate(members):
        if number in found:
            continue
        places = [place for place, other in enumerate(members) if _alike(member, other)]
        if not places:
            found[number] = member.score_pools(pools)
            continue
        together = _together([members[place] for place in places], pools)
        found |= dict(zip(places, together, strict=True))
    return [found[number] for number in range(len(members))]


def _alike(one: Ranker, other: Ranker) -> bool:
    """Whether the two are nets that can read texts together."""
    if isinstance(one, Match) and isinstance(other, Match):
        return one.trained.shape == other.trained.shape
    return isinstance(one, OnnxMatch) and isinstance(other, OnnxMatch) and one.shape == other.shape


def _together(members: Sequence[Ranker], pools: Sequence[Pool]) -> list[list[FloatArray]]:
    exported = [member for member in members if isinstance(member, OnnxMatch)]
    if exported:
        return onnx_match.score_together(exported, pools)
    return score_together([member for member in members if isinstance(member, Match)], pools)
