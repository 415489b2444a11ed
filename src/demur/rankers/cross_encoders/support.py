"""A cross-encoder that asks other answers whether they support the one that it scores.

ASR of "Joint Models for Answer Verification in Question Answering Systems" (Zhang, Vu, Moschitti 2021), and
with ``by=pair`` DAR of "Double Retrieval and Ranking for Accurate Question Answering" (the same, 2022).
docs/training.md says what was taken from where.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from demur.embedders.encoders.loading import device_named, together
from demur.errors import UsageError
from demur.rankers.cross_encoders.beside import FIRST, Beside, Row, best, ordered
from demur.rankers.cross_encoders.pairs import Pairs, by_length, stretches
from demur.rankers.cross_encoders.weights import read_network
from demur.types import FloatArray, IntArray, Pool

if TYPE_CHECKING:
    import torch

BY = ("question", "pair")
_TOGETHER = 4096  # answers whose rows are held at a time
_ASKED = 512  # answers that are asked with at a time


@dataclass(frozen=True)
class Support(Beside):
    """A trained network that reads question and answer, and the answer beside each of its `k` supports.

    A score hangs on the vector of question and answer, and on the largest of each number of the vectors with
    a support; the order of the supports does not matter, and a pool of one answer has none. Supports are
    other answers of the pool. With ``by=question`` (ASR) they are those that `first` ranks highest for the
    question; with ``by=pair`` (DAR) each answer chooses its own, those that are highest for the question and
    that answer together. That asks `first` as often as there are answers.
    """

    name: ClassVar[str] = "support"
    shaped: ClassVar[tuple[str, ...]] = ("k", "by", "block")
    first: str = FIRST
    k: int = 5
    by: str = "question"
    block: int = 64

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.by not in BY:
            raise UsageError(f"by={self.by!r} is not known; use by=question or by=pair")

    def score_pools(self, pools: Sequence[Pool]) -> list[FloatArray]:
        """One array of scores per pool."""
        return [scores for some in stretches(pools, _TOGETHER) for scores in self._scored(some)]

    def others(self, pools: Sequence[Pool]) -> list[list[list[int]]]:
        """For each pool and candidate, the places of its supports: never itself, nor one with its text."""
        if self.by == "question":
            return super().others(pools)
        found = []
        for some in stretches(pools, _ASKED):
            asked = [
                replace(pool, question=f"{pool.question} {text}") for pool in some for text in pool.answers
            ]
            scores = iter(self.before.score_pools(asked))
            for pool in some:
                texts = pool.answers
                orders = [ordered(next(scores), texts) for _ in texts]
                found.append([best(order, texts, place, self.k) for place, order in enumerate(orders)])
        return found

    def _scored(self, pools: Sequence[Pool]) -> list[FloatArray]:
        rows: dict[Row, int] = {}
        asked: dict[tuple[int, ...], int] = {}  # equal answers once: a network rounds by place
        each: list[int] = []
        for pool, near in zip(pools, self.others(pools), strict=True):
            for text, places in zip(pool.answers, near, strict=True):
                alone: list[Row] = [(pool.question, text, ())]
                beside: list[Row] = [(pool.question, text, (pool.answers[n],)) for n in places]
                known = tuple(rows.setdefault(row, len(rows)) for row in alone + beside)
                each.append(asked.setdefault(known, len(asked)))
        if not rows:
            return [np.empty(0) for _ in pools]
        network, tokenizer = self.able()
        own, supports = [known[0] for known in asked], filled([known[1:] for known in asked])
        scores = self._judged(network, self.tokens(network, tokenizer, list(rows)), own, supports)[each]
        return np.split(scores, np.cumsum([len(pool) for pool in pools])[:-1])

    def _judged(self, network: Any, pairs: Pairs, own: Sequence[int], supports: IntArray) -> FloatArray:
        """The scores of answers, whose rows of tokens are `own`, and `supports` those beside another."""
        import torch

        device = device_named(self.device)
        logits = torch.empty(len(pairs.lengths))
        features = torch.empty(len(pairs.lengths), int(network.config.hidden_size))
        for batch in by_length(pairs.lengths, together(device)):
            said = pairs.batch(batch, device)
            logits[batch], features[batch] = (
                each.cpu()
                for each in self.computed(lambda said=said: network.read(said))  # type: ignore[misc]
            )
        with torch.inference_mode():
            places = torch.from_numpy(supports).to(device)
            found = network.judged(logits[own].to(device), features.to(device), places)
        scores: FloatArray = found.cpu().numpy().astype(np.float64)
        return scores

    @staticmethod
    def load(place: str) -> tuple[torch.nn.Module, Any]:
        """The network and the tokeniser that lie in a folder."""
        from demur.nets.transformers.support import load

        return read_network(place, load, "cross-encoder")


def filled(supports: Sequence[Sequence[int]]) -> IntArray:
    """Lists of places as one array, in which -1 stands for no support."""
    found = np.full((len(supports), max([1, *map(len, supports)])), -1, np.int64)
    for row, places in enumerate(supports):
        found[row, : len(places)] = places
    return found
