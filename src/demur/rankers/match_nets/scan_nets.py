"""Rankers by the nets of word vectors that the SCAN paper is compared with, as `demur train` makes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from demur.rankers.match_nets.match_nets import Match

if TYPE_CHECKING:
    from demur.nets.matching.match_net import MatchNet


@dataclass(frozen=True)
class Anmm(Match):
    """A trained aNMM: it weighs matches by how strong they are, and the words of a question by attention."""

    name: ClassVar[str] = "anmm"

    @classmethod
    def net(cls, **sizes: Any) -> MatchNet:
        """A net of this kind, whose weights are drawn."""
        from demur.nets.matching.anmm import Anmm as Net

        return Net(**sizes)
