"""What early stopping looks at: a figure over the judged pairs of a dev set, the lower the better."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from demur.rankers.match_nets.match_nets import Match, Trained
from demur.training.dev_set import NEVER, judges, on_dev
from demur.training.small_nets.cached_words import CachedWords
from demur.training.small_nets.examples import Labelled, triplets
from demur.types import Pool

if TYPE_CHECKING:
    from torch import Tensor

    from demur.nets.small.base import SmallNet

_TOGETHER = 2048  # pairs


class DevMeasure(ABC):
    """A figure over the scores of a dev set's pairs."""

    def __init__(self, data: Labelled) -> None:
        self.data = data

    def __call__(self, net: SmallNet) -> float:
        """The figure of a net as it is, nothing dropped."""
        import torch

        net.eval()
        questions, answers = torch.from_numpy(self.data.questions), torch.from_numpy(self.data.answers)
        with torch.no_grad():
            parts = [
                net(self.data.vectors[q], self.data.vectors[a])
                for q, a in zip(
                    torch.split(questions, _TOGETHER), torch.split(answers, _TOGETHER), strict=True
                )
            ]
            return float(self.figure(net, torch.cat(parts)))

    @abstractmethod
    def figure(self, net: SmallNet, scores: Tensor) -> Tensor | float:
        """The figure of these scores."""


class Entropy(DevMeasure):
    """The mean cross-entropy of a pair."""

    def figure(self, net: SmallNet, scores: Tensor) -> Tensor:
        """The mean cross-entropy."""
        import torch

        return net.entropy(scores, torch.from_numpy(self.data.labels.astype(np.float32)))


class Margins(DevMeasure):
    """What is missing to the margin, summed over a batch of triplets, on average."""

    def __init__(self, data: Labelled, margin: float, batch: int) -> None:
        super().__init__(data)
        self.right, self.wrong = triplets(data)
        self.margin, self.batch = margin, batch

    def figure(self, net: SmallNet, scores: Tensor) -> Tensor:
        """The sum for an average batch."""
        similarity = net.similarity(scores)
        missing = (self.margin - similarity[self.right] + similarity[self.wrong]).clamp(min=0)
        return missing.mean() * self.batch


class Ranking(DevMeasure):
    """What is missing to a MAP of 1, on average over the orders of ties."""

    def figure(self, net: SmallNet, scores: Tensor) -> float:
        """1 - MAP over the pools with a right answer."""
        from demur.evaluation import Judged, convention, measured, parse_measures

        bounds = np.flatnonzero(np.diff(self.data.pools, prepend=-1, append=-1))
        nothing = np.empty(0, np.int64)
        judged = Judged(
            ids=tuple(map(str, range(len(bounds) - 1))),
            bounds=bounds,
            scores=scores.double().numpy(),
            labels=self.data.labels,
            documents=[],  # their order settles no ties
            unranked_pool=nothing,
            unranked_label=nothing,
            absent=np.zeros(len(bounds) - 1, np.bool_),
        )
        (values,) = measured(judged, parse_measures("MAP"), convention("fixed")).values()
        return 1 - float(np.nanmean(values))


def dev_measure(
    kind: type[Match], has: Trained, dev: Sequence[Pool], measure: str
) -> Callable[[], float] | None:
    """What says how good a net is as it stands; None if there is nothing to say it by."""
    if measure in NEVER or not judges(dev):
        return None
    words = CachedWords(has.words)
    looked_at = kind.of(Trained(has.network, words, has.question_words, has.answer_words))
    has.network.train()
    return lambda: on_dev(looked_at, dev, measure)
