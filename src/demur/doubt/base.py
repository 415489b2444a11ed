"""How sure a reader may be of what it quotes: observations in, one number per question out.

The prediction is fixed: whatever is asked, it is asked of the spans of one observation, so that all doubts
are compared on the same right and wrong answers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from demur import registry
from demur.doubt.observed import Observed
from demur.errors import UsageError
from demur.risk.predictions import BoolArray
from demur.specs import Setting, Spelled
from demur.types import FloatArray

Arrays = Mapping[str, NDArray[Any]]
"""What a doubt has learnt, by name."""


class Doubt(Spelled, ABC):
    """A frozen dataclass whose fields are its settings; write `confidence_of`."""

    pictures: ClassVar[bool] = False
    """Whether it looks at what probes see."""
    lowest: ClassVar[float] = 0.0
    """The confidence where there is nothing to quote: no higher than that of any span."""

    @abstractmethod
    def confidence_of(self, seen: Observed, others: Sequence[Observed] = ()) -> FloatArray:
        """One number per question, higher where its best span is surer to be right.

        `others` are what other readers, or the same at other times, say of the same spans.
        """

    @property
    def needs_fitting(self) -> bool:
        """Whether it must see right and wrong answers, by `fit`, before it can be asked."""
        return False

    def fit(self, seen: Observed, right: BoolArray) -> Self:
        """The doubt trained on these answers: itself, unless it learns."""
        return self

    @property
    def learnt(self) -> Arrays:
        """What it has learnt, to be kept."""
        return {}

    def knowing(self, learnt: Arrays) -> Self:
        """The doubt with what was learnt before."""
        return self


def doubt(spec: str | Doubt, **settings: Setting) -> Doubt:
    """The doubt that a spec names, such as ``proba`` or ``probe-cnn(layers=last)``."""
    if isinstance(spec, Doubt):
        return spec
    built: Doubt = registry.build("doubt", spec, settings)
    return built


@dataclass(frozen=True)
class Proba(Doubt):
    """The probability of the best span: of its start times of its end (Hendrycks and Gimpel 2016)."""

    name: ClassVar[str] = "proba"

    def confidence_of(self, seen: Observed, others: Sequence[Observed] = ()) -> FloatArray:
        """The probabilities."""
        return seen.probability


@dataclass(frozen=True)
class Averaged(Doubt):
    """The mean over several readers: snapshots (AES), seeds (ENS), or passes with dropout.

    By ``fixed`` the mean probability of the span that was predicted. By ``max``, as in the risk-control
    paper, the largest probability of any span by the mean starts and ends, perhaps of another span. With
    `own` the reader itself is one of them.
    """

    name: ClassVar[str] = "averaged"
    by: str = "fixed"
    own: bool = True

    def __post_init__(self) -> None:
        if self.by not in ("fixed", "max"):
            raise UsageError(f"averaged by {self.by!r} is not known; write by=fixed or by=max")

    def confidence_of(self, seen: Observed, others: Sequence[Observed] = ()) -> FloatArray:
        """The means, or the largest of the means."""
        members = [seen] * self.own + list(others)
        if not others:
            raise UsageError("averaged needs other readers: snapshots, seeds, or passes with dropout")
        given = np.array([each.probability_of(seen) for each in members])  # checks that they fit together
        if self.by == "fixed":
            return np.asarray(given.mean(axis=0))
        starts = np.mean([np.exp(each.starts) for each in members], axis=0) * seen.fair
        ends = np.mean([np.exp(each.ends) for each in members], axis=0)
        pairs = zip(seen.bounds[:-1].tolist(), seen.bounds[1:].tolist(), seen.longest.tolist(), strict=True)
        return np.array([_largest(starts[a + 1 : b], ends[a + 1 : b], most) for a, b, most in pairs])


def _largest(starts: FloatArray, ends: FloatArray, longest: int) -> float:
    """The largest product of a start and an end not before it, of at most so many tokens; 0 of none."""
    ahead = min(longest, len(starts))
    if not ahead:
        return 0.0
    behind = np.append(ends, np.zeros(ahead - 1))
    furthest = np.lib.stride_tricks.sliding_window_view(behind, ahead).max(axis=1)
    return float((starts * furthest).max())
