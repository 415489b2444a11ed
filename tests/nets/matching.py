"""Small nets that match words, and as they are with the vectors of thirty words, which learn along."""

from __future__ import annotations

from collections.abc import Callable

import torch

from demur.nets.matching.adaqa import Acnn, AdaQA
from demur.nets.matching.anmm import Anmm
from demur.nets.matching.cnn import Cnn
from demur.nets.matching.comp_agg import CompAgg
from demur.nets.matching.deep_matching import DeepMatching
from demur.nets.matching.drcn import Drcn
from demur.nets.matching.hyperqa import HyperQA
from demur.nets.matching.match_net import MatchNet, Worded
from demur.nets.matching.match_pyramid import MatchPyramid
from demur.nets.matching.multihop import Multihop
from demur.nets.matching.re2 import Re2

NETS: dict[str, Callable[[], MatchNet]] = {
    "match-pyramid": lambda: MatchPyramid(6),
    "deep-matching": lambda: DeepMatching(6, rows=12, columns=14, hidden=5),
    "deep-matching, two GRUs": lambda: DeepMatching(6, rows=12, columns=14, hidden=5, shared=0),
    "multihop": lambda: Multihop(6, hidden=5),
    "multihop, code": lambda: Multihop(6, hidden=5, length=14),
    "anmm": lambda: Anmm(6),
    "hyperqa": lambda: HyperQA(6, hidden=5),
    "comp-agg": lambda: CompAgg(6, hidden=5, filters=3, windows=3, keep=2, clusters=4, near=2, drop=0.0),
    "re2": lambda: Re2(6, hidden=5, blocks=3, drop=0.0),
    "cnn": lambda: Cnn(6, filters=5),
    "drcn": lambda: Drcn(6, hidden=3, layers=3, small=7, dense=6, drop=0.0),
    "acnn": lambda: Acnn(6, filters=4, code=3, hidden=5, drop=0.0),
    "adaqa": lambda: AdaQA(6, filters=4, code=3, hidden=5, drop=0.0),
}


def worded(made: Callable[[], MatchNet]) -> Worded:
    """A net with weights and vectors that are drawn, ready to score."""
    torch.manual_seed(0)
    vectors = torch.randn(30, 6)
    vectors[0] = 0
    net: Worded = Worded(made(), vectors, tuned=True).eval()
    return net
