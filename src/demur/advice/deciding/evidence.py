"""What our own runs say about methods, for those who have no labels: a file that a machine wrote.

``python -m tools.make_evidence`` makes it of results/; nobody types a figure into it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from statistics import NormalDist
from typing import Any

from scipy.special import stdtrit

from demur.advice.deciding.profile import Profile, nearest
from demur.advice.deciding.rules import Lead
from demur.advice.methods import Method
from demur.advice.trials.curves import wins_at

FORMAT = "demur evidence 1"
_ANY = 1.0  # variance where nothing was measured: the labels alone count
_LEAST = 0.02**2  # variance between datasets: a few that agree do not prove that all do
_UPPER = 0.975  # quantile where a range of 95 % ends


@dataclass(frozen=True)
class Figure:
    """A method's MAP on a dataset's test questions, with its interval over them."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Dataset:
    """What is known of a dataset: how its pools look, and what methods reached there."""

    name: str
    profile: Profile
    figures: Mapping[str, Figure]  # by the method's name
    curves: Mapping[str, Sequence[tuple[int, float]]]  # by method: labelled questions, MAP
    without: float | None  # the best MAP without labels where the curves were measured


@dataclass(frozen=True)
class Evidence:
    """All datasets that were measured."""

    datasets: tuple[Dataset, ...]

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Evidence:
        """The evidence that the tool wrote."""
        return cls(
            tuple(
                Dataset(
                    each["name"],
                    Profile(**each["profile"]),
                    {name: Figure(**figure) for name, figure in each["figures"].items()},
                    {name: [(int(n), float(m)) for n, m in rows] for name, rows in each["curves"].items()},
                    each["without"],
                )
                for each in value["datasets"]
            )
        )

    def without(self, name: str) -> Evidence:
        """The evidence of all other datasets."""
        return Evidence(tuple(each for each in self.datasets if each.name != name))

    def measured(self, name: str, standard: str) -> bool:
        """Whether there are figures of both on several datasets."""
        return len(self._ahead(name, standard)) > 1

    def leads(self, methods: Sequence[Method], standard: str) -> dict[str, Lead]:
        """By method, what it led the standard by on the datasets that have a figure of both.

        Where there are fewer than two such, those of the method that it is `like` count; one that nobody
        measured is as far from the standard as others are, ahead or behind.
        """
        found = {method.name: self._ahead(method.name, standard) for method in methods}
        known = {name: _lead(ahead) for name, ahead in found.items() if len(ahead) > 1}
        every = [lead for name, ahead in found.items() if name != standard for lead in ahead]
        nobody = Lead(0.0, max(sum(lead**2 for lead in every) / len(every), _LEAST) if every else _ANY)
        return {
            method.name: known.get(method.name) or known.get(method.like) or nobody for method in methods
        } | {standard: Lead(0.0, 0.0)}

    def _ahead(self, name: str, standard: str) -> list[float]:
        both = [each.figures for each in self.datasets if {name, standard} <= each.figures.keys()]
        return [figures[name].mean - figures[standard].mean for figures in both]

    def alike(self, profile: Profile) -> list[Dataset]:
        """The datasets with figures, those most like a profile first."""
        known = {each.name: each for each in self.datasets if each.figures}
        return [
            known[name] for name in nearest(profile, {name: each.profile for name, each in known.items()})
        ]


def _lead(ahead: Sequence[float]) -> Lead:
    """What to expect on one more dataset.

    A few datasets say little of how much leads differ, so that the 95 % range of one more lead is that of
    Student's t. The variance is that of a normal distribution with the same range.
    """
    count, mean = len(ahead), sum(ahead) / len(ahead)
    between = max(sum((each - mean) ** 2 for each in ahead) / (count - 1), _LEAST)
    wider = float(stdtrit(count - 1, _UPPER)) / NormalDist().inv_cdf(_UPPER)
    return Lead(mean, between * (1 + 1 / count) * wider**2)


@lru_cache(maxsize=1)
def packaged() -> Evidence:
    """The evidence that comes with demur."""
    text = (files("demur.advice") / "evidence.json").read_text("utf-8")
    return Evidence.from_json(json.loads(text))


@dataclass(frozen=True)
class OtherData:
    """What to take without labels: the method, where it was best, and what labels would change.

    The latter comes from the most similar dataset on which learning curves were measured.
    """

    method: Method
    dataset: Dataset
    figure: Figure | None
    labels: float  # questions with which a trained method was level; infinite if none was, NaN if unknown
    curves: str = ""  # where that was
    most: int = 0  # questions that were tried there
    instead: Method | None = None  # one that has no fair figure there
    elsewhere: Dataset | None = None  # where that one was clearly better


def by_evidence(profile: Profile, methods: Sequence[Method], evidence: Evidence) -> OtherData | None:
    """The method, of those that need no labels, that did best on the dataset most like one's own.

    The simplest within the interval of the best is taken. None where nothing was measured.
    """
    alike = evidence.alike(profile)
    curved = next((each for each in alike if each.without is not None and each.curves), None)
    for dataset in alike:
        known = [method for method in methods if not method.labels and method.name in dataset.figures]
        if not known:
            continue
        best = max(known, key=lambda method: dataset.figures[method.name].mean)
        enough = dataset.figures[best.name].low
        taken = next(method for method in known if dataset.figures[method.name].mean >= enough)
        labels, where, most = math.nan, "", 0
        if curved is not None:
            labels, where, most = _labels(curved), curved.name, _most(curved)
        better = _instead(taken, dataset, methods, alike)
        return OtherData(taken, dataset, dataset.figures[taken.name], labels, where, most, *better)
    return None


def _instead(
    taken: Method, dataset: Dataset, methods: Sequence[Method], alike: Sequence[Dataset]
) -> tuple[Method | None, Dataset | None]:
    """A method without a figure on the dataset, and the most similar one with figures, if it won there."""
    for method in methods:
        if method.labels or method.name in dataset.figures:
            continue
        both = [each for each in alike if {method.name, taken.name} <= each.figures.keys()]
        if both and both[0].figures[method.name].low > both[0].figures[taken.name].mean:
            return method, both[0]
    return None, None


def _most(dataset: Dataset) -> int:
    return max((size for points in dataset.curves.values() for size, _ in points), default=0)


def _labels(dataset: Dataset) -> float:
    if dataset.without is None or not dataset.curves:
        return math.nan
    return min(wins_at(points, dataset.without) for points in dataset.curves.values() if points)
