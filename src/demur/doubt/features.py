"""Confidence learnt from a few numbers of each reading, by logistic regression."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np

from demur import logistic
from demur.doubt.base import Arrays, Doubt
from demur.doubt.observed import Observed
from demur.errors import UnknownName, UsageError
from demur.risk.predictions import BoolArray
from demur.specs import listed
from demur.types import FloatArray

_LEAST = 1e-9  # of a probability whose logarithm is taken

Table = FloatArray
"""One row per question."""


def _proba(seen: Observed) -> Table:
    return _log(seen.probability)


def _null(seen: Observed) -> Table:
    return np.column_stack([_log(seen.null), seen.odds.clip(-50, 50)])


def _margin(seen: Observed) -> Table:
    return _log(seen.probability) - _log(seen.second)


def _length(seen: Observed) -> Table:
    return np.asarray(np.log1p(seen.last - seen.first))


def _entropy(seen: Observed) -> Table:
    return np.column_stack([_entropies(seen, logs) for logs in (seen.starts, seen.ends)])


def _wording(seen: Observed) -> Table:
    return seen.wording


def _layers(seen: Observed) -> Table:
    """The logarithms of what each layer gives the best span, and no answer."""
    if not seen.pictures.shape[2]:
        raise UsageError("features=layers needs probes; observe with probes")
    at = seen.bounds[:-1]
    places = [(at + seen.first, at + seen.last), (at, at)]
    found = [
        _log(seen.pictures[start, 0].astype(np.float64)) + _log(seen.pictures[end, 1].astype(np.float64))
        for start, end in places
    ]
    return np.column_stack(found)  # the smallest half-precision number is 6e-8: below that there is 0


FEATURES: dict[str, Callable[[Observed], Table]] = {
    "proba": _proba,
    "null": _null,
    "margin": _margin,
    "length": _length,
    "entropy": _entropy,
    "wording": _wording,
    "layers": _layers,
}


@dataclass(frozen=True)
class Learned(Doubt):
    """The probability that the best span is right, trained on the readings of right and wrong answers.

    Features are the span's probability (``proba``), that of no answer (``null``), how far the second best is
    (``margin``), the tokens of the span (``length``), the entropy of starts and ends (``entropy``), how many
    of the question's words are near the span (``wording``), and the probe scores of each layer for the span
    and for no answer (``layers``).
    """

    name: ClassVar[str] = "learned"
    features: str = "proba; null; margin; length; entropy; wording"
    numbers: FloatArray | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in self.wanted:
            if name not in FEATURES:
                raise UnknownName("feature", name, FEATURES)
        if not self.wanted:
            raise UsageError("learned needs at least one feature, such as features=proba")

    @property
    def wanted(self) -> list[str]:
        """The names of the features."""
        return listed(self.features)

    @property
    def pictures(self) -> bool:  # type: ignore[override]  # here it depends on a setting
        """Whether it looks at what probes see."""
        return "layers" in self.wanted

    @property
    def needs_fitting(self) -> bool:
        """Whether nothing has been learnt yet."""
        return self.numbers is None

    def fit(self, seen: Observed, right: BoolArray) -> Self:
        """The doubt as the answers that are given have taught it."""
        if not seen.says.any():
            raise UsageError("learned needs answers to train on; the reader answers none of these questions")
        constant, ranges = _fitted(self._table(seen)[seen.says], right[seen.says])
        return self.knowing({"constant": np.array([constant]), "ranges": ranges})

    def confidence_of(self, seen: Observed, others: Sequence[Observed] = ()) -> FloatArray:
        """The probabilities of being right."""
        if self.numbers is None:
            raise UsageError("learned is not trained yet; call fit, or open what was saved")
        constant, ranges = self.numbers[0, 0], self.numbers[1:]
        table = self._table(seen)
        if table.shape[1] != len(ranges):
            raise UsageError("learned was fitted on other features; fit it again")
        return logistic.probability(table, constant, ranges)

    @property
    def learnt(self) -> Arrays:
        """The constant, and of each feature its lowest value, its highest, and its weight."""
        numbers = self.numbers if self.numbers is not None else np.zeros((1, 3))
        return {"constant": numbers[0, :1], "ranges": numbers[1:]}

    def knowing(self, learnt: Arrays) -> Self:
        """The doubt with what was learnt before."""
        constant = np.array([[float(learnt["constant"][0]), 0.0, 0.0]])
        found = dataclasses.replace(self)
        object.__setattr__(found, "numbers", np.vstack([constant, np.asarray(learnt["ranges"], np.float64)]))
        return found

    def _table(self, seen: Observed) -> Table:
        return np.column_stack([FEATURES[name](seen) for name in self.wanted])


def _fitted(table: Table, right: BoolArray) -> tuple[float, FloatArray]:
    """The constant; and of each feature its lowest value, its highest, and its weight."""
    weights, constant = logistic.fit(table, logistic.softened(right.astype(np.float64)), signed=True)
    return constant, np.column_stack([table.min(axis=0), table.max(axis=0), weights])


def _log(values: FloatArray) -> FloatArray:
    return np.asarray(np.log(np.maximum(values, _LEAST)))


def _entropies(seen: Observed, logs: object) -> FloatArray:
    """Of each question, how undecided its starts or ends are."""
    each = np.asarray(logs, np.float64)
    return -np.asarray(np.add.reduceat(np.exp(each) * np.maximum(each, -700), seen.bounds[:-1]))
