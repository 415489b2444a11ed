"""Small nets that match words, and as they are with the vectors of thirty words, which learn along."""

from __future__ import annotations

from collections.abc import Callable

import torch

from demur.nets.matching.anmm import Anmm
from demur.nets.matching.deep_matching import DeepMatching
from demur.nets.matching.match_net import MatchNet, Worded
from demur.nets.matching.match_pyramid import MatchPyramid
from demur.nets.matching.multihop import Multihop

NETS: dict[str, Callable[[], MatchNet]] = {
    "match-pyramid": lambda: MatchPyramid(6),
    "deep-matching": lambda: DeepMatching(6, rows=12, columns=14, hidden=5),
    "deep-matching, two GRUs": lambda: DeepMatching(6, rows=12, columns=14, hidden=5, shared=0),
    "multihop": lambda: Multihop(6, hidden=5),
    "multihop, code": lambda: Multihop(6, hidden=5, length=14),
    "anmm": lambda: Anmm(6),
}


def worded(made: Callable[[], MatchNet]) -> Worded:
    """A net with weights and vectors that are drawn, ready to score."""
    torch.manual_seed(0)
    vectors = torch.randn(30, 6)
    vectors[0] = 0
    net: Worded = Worded(made(), vectors, tuned=True).eval()
    return net
