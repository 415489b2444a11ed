"""What a small net is shown: labelled pairs, or triplets of a question, a right and a wrong answer.

The vectors of all different texts are in one table, so a batch only gathers rows of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from demur.embedders.base import Embedder, Vectors
from demur.embedders.caching import cached_on_disk
from demur.embedders.rows import Rows
from demur.types import IntArray, Pool

if TYPE_CHECKING:
    from torch import Tensor

    from demur.nets.small.base import SmallNet


@dataclass(frozen=True)
class Labelled:
    """The judged pairs of some pools, as rows of a table of vectors; `pools` numbers the pool of each."""

    vectors: Tensor  # texts × width
    questions: IntArray
    answers: IntArray
    labels: IntArray  # 1 for a right answer, else 0
    pools: IntArray

    @classmethod
    def of(cls, pools: Sequence[Pool], embedder: Embedder) -> Labelled:
        """The judged pairs of pools, their texts embedded."""
        import torch

        rows = Rows.of(pools)
        marks = [candidate.label for pool in pools for candidate in pool.candidates]
        judged = np.array([mark is not None for mark in marks], np.bool_)
        right = np.array([int(mark is not None and mark > 0) for mark in marks], np.int64)
        vectors = torch.from_numpy(np.ascontiguousarray(vectors_of(rows.texts, embedder), np.float32))
        return cls(vectors, rows.questions[judged], rows.answers[judged], right[judged], rows.pools[judged])

    def __len__(self) -> int:
        return len(self.labels)


def vectors_of(texts: Sequence[str], embedder: Embedder) -> Vectors:
    """One row per text, from the disk where it was computed before."""
    return cached_on_disk(embedder).embed(texts)


class Examples(ABC):
    """So many examples, of which the loss of some can be asked."""

    unit: str

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def loss(self, net: SmallNet, chosen: Tensor | slice) -> Tensor:
        """The loss of these examples, as it is followed downhill: see each examples."""


class Pairs(Examples):
    """Each pair by itself: the mean cross-entropy of its label."""

    unit = "pairs"

    def __init__(self, data: Labelled, balance: bool = False) -> None:
        import torch

        self.vectors = data.vectors
        self.questions, self.answers = torch.from_numpy(data.questions), torch.from_numpy(data.answers)
        self.labels = torch.from_numpy(data.labels.astype(np.float32))
        right = int(data.labels.sum())
        self.weights: Tensor | None = None
        if balance and 0 < right < len(data):  # as if there were as many right as wrong ones
            of_right, of_wrong = len(data) / (2 * right), len(data) / (2 * (len(data) - right))
            self.weights = torch.where(self.labels > 0, of_right, of_wrong)

    def __len__(self) -> int:
        return len(self.labels)

    def loss(self, net: SmallNet, chosen: Tensor | slice) -> Tensor:
        """The mean cross-entropy."""
        scores = net(self.vectors[self.questions[chosen]], self.vectors[self.answers[chosen]])
        return net.entropy(
            scores, self.labels[chosen], None if self.weights is None else self.weights[chosen]
        )


class Triplets(Examples):
    """Each right answer against each wrong one of its pool: by how much a margin between them is missed."""

    unit = "triplets"

    def __init__(self, data: Labelled, margin: float, negatives: int = 0, seed: int = 0) -> None:
        import torch

        self.vectors, self.margin = data.vectors, margin
        right, wrong = triplets(data, negatives, seed)
        self.questions = torch.from_numpy(data.questions[right])
        self.right, self.wrong = torch.from_numpy(data.answers[right]), torch.from_numpy(data.answers[wrong])

    def __len__(self) -> int:
        return len(self.questions)

    def loss(self, net: SmallNet, chosen: Tensor | slice) -> Tensor:
        """The sum of what is missing to the margin."""
        right, wrong = net.triplets(
            self.vectors[self.questions[chosen]],
            self.vectors[self.right[chosen]],
            self.vectors[self.wrong[chosen]],
        )
        return (self.margin - net.similarity(right) + net.similarity(wrong)).clamp(min=0).sum()


def triplets(data: Labelled, negatives: int = 0, seed: int = 0) -> tuple[IntArray, IntArray]:
    """Places of right and of wrong answers, each with each of its pool; or with at most so many wrong."""
    draws = np.random.default_rng(seed)
    ends = np.flatnonzero(np.diff(data.pools, prepend=-1, append=-1))
    right, wrong = [], []
    for start, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        labels = data.labels[start:end]
        good, bad = start + np.flatnonzero(labels), start + np.flatnonzero(labels == 0)
        for place in good.tolist() if len(bad) else ():
            some = (
                bad if not negatives or len(bad) <= negatives else draws.choice(bad, negatives, replace=False)
            )
            right.append(np.full(len(some), place))
            wrong.append(some)
    none = np.empty(0, np.int64)
    return np.concatenate([none, *right]), np.concatenate([none, *wrong])
