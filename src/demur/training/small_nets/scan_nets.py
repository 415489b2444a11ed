"""Trainers of the nets of word vectors that the SCAN paper is compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from demur.errors import UsageError
from demur.rankers.match_nets import scan_nets as rankers
from demur.rankers.match_nets.match_nets import Match, Trained
from demur.training.small_nets.match_nets import MatchTrainer

if TYPE_CHECKING:
    from demur.training.objectives.pairwise import Pairwise

LOSSES = ("hinge", "dan")


@dataclass(frozen=True)
class Anmm(MatchTrainer):
    """A trainer of aNMM, with `bins` for cosines of words, and one for those of the same word.

    All presets are alike. The other settings are those that all trainers of matching nets share.
    """

    name: ClassVar[str] = "anmm"
    kind: ClassVar[type[Match]] = rankers.Anmm
    bins: int = 20


@dataclass(frozen=True)
class HyperQA(MatchTrainer):
    """A trainer of HyperQA, with a layer of `hidden` units over words.

    All presets are alike. The other settings are those that all trainers of matching nets share.
    """

    name: ClassVar[str] = "hyperqa"
    kind: ClassVar[type[Match]] = rankers.HyperQA
    hidden: int = 200


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


@dataclass(frozen=True)
class Cnn(MatchTrainer):
    """A trainer of the CNN of Santos et al., with `filters` over `window` words.

    With ``loss=hinge`` it is their CNN-hinge, and with ``loss=dan`` their CNN-DAN: a judge, which has a
    convolution of its own and `hidden` units, learns to tell its scores from 1 and 0, and it learns to pass.

    All presets are alike. The other settings are those that all trainers of matching nets share.
    """

    name: ClassVar[str] = "cnn"
    kind: ClassVar[type[Match]] = rankers.Cnn
    filters: int = 200
    window: int = 3
    loss: str = "hinge"
    hidden: int = 50

    def sizes(self) -> dict[str, int | float]:
        """The settings of the net, but for the width of its words."""
        return {"filters": self.filters, "window": self.window}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.loss not in LOSSES:
            raise UsageError(f"loss={self.loss!r} is not known; use {' or '.join(LOSSES)}")
        if self.hidden < 1:
            raise UsageError(f"hidden={self.hidden} must be 1 or more")

    def _objective(self, has: Trained) -> Pairwise:
        if self.loss == "hinge":
            return super()._objective(has)
        from demur.nets.matching.cnn import Judge, Views
        from demur.nets.matching.match_net import Worded
        from demur.training.objectives.pairwise import Judged

        views = Worded(Views(has.words.width, self.filters, self.window), has.network.vectors.detach())
        return Judged(views, Judge(self.filters, self.hidden))


@dataclass(frozen=True)
class Drcn(MatchTrainer):
    """A trainer of DRCN, with `layers` of an LSTM of `hidden` units each way, and attention.

    After every second layer an autoencoder leaves `small` numbers of each word; what it loses costs `weight`.
    Two layers of `dense` units compare the texts.

    All presets are alike. The other settings are those that all trainers of matching nets share.
    """

    name: ClassVar[str] = "drcn"
    kind: ClassVar[type[Match]] = rankers.Drcn
    hidden: int = 50
    layers: int = 4
    small: int = 100
    dense: int = 200
    weight: float = 1.0
    dropout: float = 0.2


@dataclass(frozen=True)
class Acnn(MatchTrainer):
    """A trainer of ACNN, whose `filters` over `window` words are made from the text itself.

    A text is a `code` of so many numbers first, and a layer makes the filters from it; `hidden` units compare
    the texts.

    All presets are alike. The other settings are those that all trainers of matching nets share.
    """

    name: ClassVar[str] = "acnn"
    kind: ClassVar[type[Match]] = rankers.Acnn
    filters: int = 50
    window: int = 3
    code: int = 100
    hidden: int = 50
    dropout: float = 0.2


@dataclass(frozen=True)
class AdaQA(MatchTrainer):
    """A trainer of AdaQA, whose `filters` over `window` words of a text are made from the other text.

    A text is a `code` of so many numbers first, and a layer makes the filters from it; `hidden` units compare
    the texts.

    All presets are alike. The other settings are those that all trainers of matching nets share.
    """

    name: ClassVar[str] = "adaqa"
    kind: ClassVar[type[Match]] = rankers.AdaQA
    filters: int = 50
    window: int = 3
    code: int = 100
    hidden: int = 50
    dropout: float = 0.2
