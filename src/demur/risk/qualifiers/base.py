"""How sure a ranker may be of the top candidate of each pool: scores in, one number per pool out.

A qualifier sees questions, answers and scores, never labels. Higher is surer; the scale is the qualifier's
own, since the gate calibrates it. A pool without candidates has the confidence -inf. A lone candidate has
beaten nobody: each qualifier says what it gets.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from demur import registry
from demur.errors import UsageError
from demur.risk.qualifiers.scored import Scored, check
from demur.specs import Setting, Spelled
from demur.types import FloatArray, Pool


class Qualifier(Spelled, ABC):
    """A frozen dataclass whose fields are its settings; write `confidence_of`."""

    def confidence(self, pools: Sequence[Pool], scores: Sequence[FloatArray]) -> FloatArray:
        """One number per pool, higher where the top candidate is surer to be right."""
        check(pools, scores)
        found = np.full(len(pools), -np.inf)
        filled = [place for place, pool in enumerate(pools) if len(pool)]
        if filled:
            scored = Scored.of([scores[place] for place in filled])
            found[filled] = self.confidence_of([pools[place] for place in filled], scored)
        return found

    @abstractmethod
    def confidence_of(self, pools: Sequence[Pool], scored: Scored) -> FloatArray:
        """One number per pool, of pools that all have candidates."""

    @property
    def needs_fitting(self) -> bool:
        """Whether it must see labelled pools, by `fit`, before it can be asked."""
        return False

    def fit(self, pools: Sequence[Pool], scores: Sequence[FloatArray]) -> Self:
        """The qualifier trained on these labelled pools: itself, unless it learns."""
        return self

    def out_of_fold(self, pools: Sequence[Pool], scores: Sequence[FloatArray], folds: int = 5) -> FloatArray:
        """Confidences for labelled pools, each from a qualifier that has not seen this pool's labels."""
        return self.confidence(pools, scores)


def qualifier(spec: str | Qualifier, **settings: Setting) -> Qualifier:
    """The qualifier a spec names, such as ``margin`` or ``softmax(temperature=2)``."""
    if isinstance(spec, Qualifier):
        return spec
    built: Qualifier = registry.build("qualifier", spec, settings)
    return built


@dataclass(frozen=True)
class Top(Qualifier):
    """The top score itself; a lone candidate has its score."""

    name: ClassVar[str] = "top"

    def confidence_of(self, pools: Sequence[Pool], scored: Scored) -> FloatArray:
        """The top scores."""
        return scored.top


@dataclass(frozen=True)
class Margin(Qualifier):
    """The top score minus the second; 0 for a tie, and for a lone candidate."""

    name: ClassVar[str] = "margin"

    def confidence_of(self, pools: Sequence[Pool], scored: Scored) -> FloatArray:
        """The margins."""
        return scored.margin


@dataclass(frozen=True)
class Softmax(Qualifier):
    """The top candidate's probability by softmax; 1 for a lone candidate.

    With `above_chance` the probability of a random guess is subtracted, so that pools of different sizes are
    comparable: 0 where all are equal, and for a lone candidate; 1 where nothing else is probable.
    """

    name: ClassVar[str] = "softmax"
    temperature: float = 1.0
    above_chance: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.temperature < np.inf:
            raise UsageError(f"softmax needs a temperature above 0, not {self.temperature}")

    def confidence_of(self, pools: Sequence[Pool], scored: Scored) -> FloatArray:
        """The largest probabilities."""
        best = scored.odds(self.temperature)[scored.first]
        if not self.above_chance:
            return best
        return (best * scored.sizes - 1).clip(0) / np.maximum(scored.sizes - 1, 1)


@dataclass(frozen=True)
class Entropy(Qualifier):
    """Minus the entropy of the softmax, as a share of its maximum: 0 is certain, -1 uniform.

    A lone candidate has -1.
    """

    name: ClassVar[str] = "entropy"
    temperature: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.temperature < np.inf:
            raise UsageError(f"entropy needs a temperature above 0, not {self.temperature}")

    def confidence_of(self, pools: Sequence[Pool], scored: Scored) -> FloatArray:
        """Minus the normalised entropies."""
        odds = scored.odds(self.temperature)
        terms = np.zeros_like(odds)
        np.multiply(odds, np.log(odds, out=np.zeros_like(odds), where=odds > 0), out=terms)
        most = np.log(scored.sizes)
        return np.divide(scored.sums(terms), most, out=-np.ones(len(most)), where=most > 0).clip(-1, 0)


@dataclass(frozen=True)
class ZScore(Qualifier):
    """By how many standard deviations of its pool the top score is above the mean; 0 for a lone candidate."""

    name: ClassVar[str] = "zscore"

    def confidence_of(self, pools: Sequence[Pool], scored: Scored) -> FloatArray:
        """The z-scores."""
        return scored.standard[scored.first]


@dataclass(frozen=True)
class Size(Qualifier):
    """Minus the logarithm of the number of candidates: the fewer, the fewer can be wrong."""

    name: ClassVar[str] = "size"

    def confidence_of(self, pools: Sequence[Pool], scored: Scored) -> FloatArray:
        """Minus the logarithms of the sizes."""
        return 0.0 - np.log(scored.sizes)  # 0 - 0 is 0, not -0
