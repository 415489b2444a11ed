"""Small nets over vectors of texts, as trained by `demur train`: numpy alone, in double precision."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from demur.embedders.base import Embedder
from demur.embedders.caching import cached_if_asked, cached_in_memory
from demur.embedders.rows import Rows
from demur.errors import DataError, UsageError
from demur.rankers.base import Ranker
from demur.rankers.vectors import net_weights
from demur.rankers.vectors.cosine import pairwise
from demur.rankers.vectors.net_weights import NetWeights
from demur.types import FloatArray, IntArray, Pool

TOGETHER = 2048  # pairs


@dataclass(frozen=True)
class Network(Ranker):
    """What both nets share: a folder of weights, or weights just learnt, and the features that go in."""

    tolerance: ClassVar[float] = 1e-5  # of the features: encoders round by batch
    alone: ClassVar[bool] = True
    wide: ClassVar[int]
    """How many times wider than a text's vector the hidden layer is."""
    folder: str = ""
    learnt: NetWeights = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.folder:
            fix = f"train one with demur train --trainer {self.name}, or name its folder"
            raise UsageError(f"{self.name} has learnt nothing yet; {fix}: {self.name}(folder=DIR)")
        object.__setattr__(self, "learnt", net_weights.read_weights(Path(self.folder), self.shapes))

    @classmethod
    def of(cls, what: NetWeights) -> Self:
        """The ranker with weights just learnt, which lie in no folder yet."""
        made = cls.__new__(cls)  # past the question for a folder
        object.__setattr__(made, "folder", "")
        object.__setattr__(made, "learnt", what)
        return made

    @staticmethod
    def shapes(units: int) -> Mapping[str, tuple[int, ...]]:
        """The shape of each array of weights, where the hidden layer has so many units."""
        raise NotImplementedError

    @property
    def parts(self) -> Sequence[Embedder]:
        """What makes the features that go in."""
        return (self.learnt.embedder,)

    @property
    def width(self) -> int:
        """How many numbers a text's vector has."""
        return self.learnt.units // self.wide

    def score_pools(self, pools: Sequence[Pool]) -> list[FloatArray]:
        """One array of scores per pool. Each different text and pair is computed once.

        Pools that come one at a time find the vectors of the last texts in memory.
        """
        rows = Rows.of(pools)
        if not len(rows.answers):
            return [np.zeros(0) for _ in pools]
        makes = (cached_if_asked if len(pools) > 1 else cached_in_memory)(self.learnt.embedder)
        vectors = np.asarray(makes.embed(rows.texts), np.float64)
        if vectors.shape[1] != self.width:
            what = f"{self.learnt.features} makes vectors of {vectors.shape[1]} numbers"
            fix = f"this {self.name} was trained on {self.width}; name the features of its training"
            raise DataError(what, path=self.folder or None, fix=fix)
        pairs = np.stack([rows.questions, rows.answers], axis=1)
        different, places = np.unique(pairs, axis=0, return_inverse=True)
        scores = self.weigh(vectors, different[:, 0], different[:, 1])
        return rows.split(scores[places.reshape(-1)])

    def weigh(self, vectors: FloatArray, questions: IntArray, answers: IntArray) -> FloatArray:
        """One score for each pair of rows of the vectors."""
        raise NotImplementedError

    def save_into(self, folder: Path) -> str:
        """The spec of the ranker whose weights, and the files of whose features, now lie in the folder."""
        self.learnt.save(folder)
        return self.name

    @property
    def fingerprint(self) -> str:
        """A hash of the weights and of what makes the features, wherever they lie."""
        return hashlib.sha256(f"{self.name} {self.learnt.fingerprint}".encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Siamese(Network):
    """A trained siamese net: the cosine between the projections of both texts, from 0 to 1."""

    name: ClassVar[str] = "siamese"
    wide: ClassVar[int] = 1

    @staticmethod
    def shapes(units: int) -> Mapping[str, tuple[int, ...]]:
        """The shape of each array of weights, where the hidden layer has so many units."""
        return {"hidden.weight": (units, units), "hidden.bias": (units,)}

    def weigh(self, vectors: FloatArray, questions: IntArray, answers: IntArray) -> FloatArray:
        """The cosine of each pair's projections."""
        weights = self.learnt.doubles
        hidden = np.maximum(vectors @ weights["hidden.weight"].T + weights["hidden.bias"], 0)
        return _in_batches(lambda q, a: pairwise(hidden[q], hidden[a]), questions, answers)


@dataclass(frozen=True)
class Concat(Network):
    """A trained concat net: the log-odds of a right answer, from both texts, their product and difference."""

    name: ClassVar[str] = "concat"
    wide: ClassVar[int] = 4

    @staticmethod
    def shapes(units: int) -> Mapping[str, tuple[int, ...]]:
        """The shape of each array of weights, where the hidden layer has so many units."""
        output = {"output.weight": (1, units), "output.bias": (1,)}
        return {"hidden.weight": (units, units), "hidden.bias": (units,), **output}

    def weigh(self, vectors: FloatArray, questions: IntArray, answers: IntArray) -> FloatArray:
        """The log-odds of each pair."""
        weights = self.learnt.doubles
        of_question, of_answer, of_both = np.split(weights["hidden.weight"].T, [self.width, 2 * self.width])
        asked, which = np.unique(questions, return_inverse=True)
        part = (
            vectors[asked] @ of_question + weights["hidden.bias"]
        )  # a question's part is the same in each pair

        def logits(q: IntArray, a: IntArray, whose: IntArray) -> FloatArray:
            both = np.concatenate([vectors[q] * vectors[a], np.abs(vectors[q] - vectors[a])], axis=1)
            hidden = np.maximum(part[whose] + vectors[a] @ of_answer + both @ of_both, 0)
            scores: FloatArray = hidden @ weights["output.weight"][0] + weights["output.bias"][0]
            return scores

        return _in_batches(logits, questions, answers, which.reshape(-1))


def _in_batches(score: Callable[..., FloatArray], *rows: IntArray) -> FloatArray:
    """The scores of pairs, not all of them at once."""
    parts = [score(*(each[at : at + TOGETHER] for each in rows)) for at in range(0, len(rows[0]), TOGETHER)]
    return np.concatenate(parts)
