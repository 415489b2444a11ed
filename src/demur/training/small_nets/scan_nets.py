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


@dataclass(frozen=True)
class HyperQA(MatchTrainer):
    """A trainer of HyperQA, with a layer of `hidden` units over words.

    All presets are alike. The other settings are those that all trainers of matching nets share.
    """

    name: ClassVar[str] = "hyperqa"
    kind: ClassVar[type[Match]] = rankers.HyperQA
    hidden: int = 200

    def sizes(self) -> dict[str, int | float]:
        """The settings of the net, but for the width of its words."""
        return {"hidden": self.hidden}


@dataclass(frozen=True)
class CompAgg(MatchTrainer):
    """A trainer of Comp-Agg, with `hidden` units and convolutions over 1 to `windows` words.

    A word attends to the `keep` words of the other text that are most like it. Each text has a mean of the
    `near` of `clusters` latent vectors that it is most like; 0 clusters leave that out.

    All presets are alike. The other settings are those that all trainers of matching nets share.
    """

    name: ClassVar[str] = "comp-agg"
    kind: ClassVar[type[Match]] = rankers.CompAgg
    hidden: int = 100
    filters: int = 50
    windows: int = 5
    keep: int = 5
    clusters: int = 8
    near: int = 6
    dropout: float = 0.2

    def sizes(self) -> dict[str, int | float]:
        """The settings of the net, but for the width of its words."""
        named = "hidden", "filters", "windows", "keep", "clusters", "near"
        return {"drop": self.dropout, **{name: getattr(self, name) for name in named}}


@dataclass(frozen=True)
class Re2(MatchTrainer):
    """A trainer of RE2, with `blocks` of `hidden` units, each with `layers` of convolution.

    All presets are alike. The other settings are those that all trainers of matching nets share.
    """

    name: ClassVar[str] = "re2"
    kind: ClassVar[type[Match]] = rankers.Re2
    hidden: int = 100
    blocks: int = 2
    layers: int = 2
    dropout: float = 0.2

    def sizes(self) -> dict[str, int | float]:
        """The settings of the net, but for the width of its words."""
        named = "hidden", "blocks", "layers"
        return {"drop": self.dropout, **{name: getattr(self, name) for name in named}}
