"""Trainers of the nets of word vectors that the SCAN paper is compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from demur.rankers.match_nets import scan_nets as rankers
from demur.rankers.match_nets.match_nets import Match
from demur.training.small_nets.match_nets import MatchTrainer


@dataclass(frozen=True)
class Anmm(MatchTrainer):
    """A trainer of aNMM, with `bins` for cosines of words, and one for those of the same word.

    All presets are alike. The other settings are those that all trainers of matching nets share.
    """

    name: ClassVar[str] = "anmm"
    kind: ClassVar[type[Match]] = rankers.Anmm
    bins: int = 20

    def sizes(self) -> dict[str, int | float]:
        """The settings of the net, but for the width of its words."""
        return {"bins": self.bins}
