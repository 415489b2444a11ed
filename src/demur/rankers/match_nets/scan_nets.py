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


@dataclass(frozen=True)
class HyperQA(Match):
    """A trained HyperQA: texts are points in a ball, and how far they are apart is hyperbolic."""

    name: ClassVar[str] = "hyperqa"

    @classmethod
    def net(cls, **sizes: Any) -> MatchNet:
        """A net of this kind, whose weights are drawn."""
        from demur.nets.matching.hyperqa import HyperQA as Net

        return Net(**sizes)


@dataclass(frozen=True)
class CompAgg(Match):
    """A trained Comp-Agg: it compares words with what they attend to, and sums up by convolutions."""

    name: ClassVar[str] = "comp-agg"

    @classmethod
    def net(cls, **sizes: Any) -> MatchNet:
        """A net of this kind, whose weights are drawn."""
        from demur.nets.matching.comp_agg import CompAgg as Net

        return Net(**sizes)


@dataclass(frozen=True)
class Re2(Match):
    """A trained RE2: blocks align two texts, each with the words and what blocks before made of them."""

    name: ClassVar[str] = "re2"

    @classmethod
    def net(cls, **sizes: Any) -> MatchNet:
        """A net of this kind, whose weights are drawn."""
        from demur.nets.matching.re2 import Re2 as Net

        return Net(**sizes)


@dataclass(frozen=True)
class Cnn(Match):
    """A trained CNN: each text is a vector, by one convolution, and pairs are compared by cosine."""

    name: ClassVar[str] = "cnn"

    @classmethod
    def net(cls, **sizes: Any) -> MatchNet:
        """A net of this kind, whose weights are drawn."""
        from demur.nets.matching.cnn import Cnn as Net

        return Net(**sizes)


@dataclass(frozen=True)
class Drcn(Match):
    """A trained DRCN: layers of an LSTM and attention, each of which sees all that those before made."""

    name: ClassVar[str] = "drcn"

    @classmethod
    def net(cls, **sizes: Any) -> MatchNet:
        """A net of this kind, whose weights are drawn."""
        from demur.nets.matching.drcn import Drcn as Net

        return Net(**sizes)


@dataclass(frozen=True)
class Acnn(Match):
    """A trained ACNN: each text is seen by filters that are made from itself."""

    name: ClassVar[str] = "acnn"

    @classmethod
    def net(cls, **sizes: Any) -> MatchNet:
        """A net of this kind, whose weights are drawn."""
        from demur.nets.matching.adaqa import Acnn as Net

        return Net(**sizes)


@dataclass(frozen=True)
class AdaQA(Match):
    """A trained AdaQA: each text is seen by filters that are made from the other one."""

    name: ClassVar[str] = "adaqa"

    @classmethod
    def net(cls, **sizes: Any) -> MatchNet:
        """A net of this kind, whose weights are drawn."""
        from demur.nets.matching.adaqa import AdaQA as Net

        return Net(**sizes)
