"""The choice of a threshold: arrays of confidences and errors in, a threshold and what it promises out.

An answer passes if its confidence is at least the threshold, so equal confidences share one fate. For a
threshold fixed beforehand, the errors among the n answers that pass are binomial given n, and the p-value
of "the risk is above the one asked for" is exact. The thresholds come from other questions than those
tested: given the tested confidences themselves, each error has its own chance, the errors that pass are not
binomial with the risk of the threshold, and the p-value is no longer exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from demur.errors import NoThreshold, UnknownName, UsageError
from demur.risk.predictions import BoolArray
from demur.risk.thresholds.bounds import accepted_needed, check_promise, surprise, upper_bound
from demur.risk.thresholds.classic import clopper_pearson, naive, sgr, sgr_code, sgr_ranks
from demur.risk.thresholds.counted_answers import Labelled
from demur.risk.thresholds.learn_then_test import bonferroni, fixed_sequence, start_places
from demur.types import FloatArray

STARTS = 4
GRID = 50  # thresholds made of the questions kept apart
_APART = 1_000  # questions kept apart at most: more would not place the thresholds better
_SEEN = 20  # answers; a rate over fewer foretells nothing
_MANY = 20  # times as many answers as it takes: then more labels would bring nothing new
_SUREST = 5  # answers: where so many or more of the surest are right, there is hope

Rule = Callable[[Labelled, float, float, FloatArray, int], tuple[float, float] | None]

METHODS: dict[str, Rule] = {
    "ltt": fixed_sequence,
    "bonferroni": bonferroni,
    "sgr": sgr,
    "clopper-pearson": clopper_pearson,
    "naive": naive,
    "sgr-code": sgr_code,
}
PROMISING = ("ltt", "bonferroni", "sgr")  # the others are there to compare with, and break their word
USE_GRID = ("ltt", "bonferroni", "clopper-pearson")  # the others take thresholds from what they test


@dataclass(frozen=True)
class Choice:
    """A threshold, and what was seen of it on the questions it was tested on."""

    threshold: float
    accepted: int
    errors: int
    bound: float  # Clopper-Pearson, at the level at which this threshold was tested
    method: str
    questions: int


def choose(
    confidence: FloatArray,
    wrong: BoolArray,
    risk: float,
    delta: float,
    *,
    grid: FloatArray,
    method: str = "ltt",
    starts: int = STARTS,
) -> Choice:
    """The loosest threshold whose risk is at most as given, but for a chance of delta; or `NoThreshold`.

    The grid holds the thresholds to test, fixed without a look at these questions.
    """
    labelled = Labelled.of(confidence, wrong)
    evidence = Evidence(labelled, len(labelled), grid=as_grid(grid), method=method, starts=starts)
    choice = evidence.choice(risk, delta)
    if choice is None:
        raise evidence.refused(risk, delta)
    return choice


def as_grid(grid: Any) -> FloatArray:
    """The thresholds of a grid, each once, the strictest first."""
    found: FloatArray = np.unique(np.asarray(grid, np.float64))[::-1]
    if not len(found) or np.isnan(found).any():
        raise UsageError("the grid needs one threshold or more, all of them numbers")
    return found


def thresholds(
    confidence: FloatArray, questions: int, risk: float, delta: float, size: int = GRID
) -> FloatArray:
    """Thresholds to test on so many questions, strict first, from the confidences of others drawn alike.

    They let through from about 3 ln(delta) / ln(1 - risk) questions up to all, in even steps. Fewer could
    pass only with hardly any error, and a sequence that starts there mostly ends there; how many will get
    through is computed on the other questions too, for a start found on the tested ones would depend on them.
    """
    strict_first = np.sort(confidence)[::-1]
    first = min(_first(risk, delta) / max(questions, 1), 0.5)
    ranks = np.ceil(np.linspace(first, 1, size) * len(strict_first)).astype(np.int64)
    found = strict_first[np.clip(ranks, 1, None) - 1] if len(strict_first) else strict_first
    return as_grid(np.append(found, -np.inf))  # the last lets everything through


def _first(risk: float, delta: float) -> float:
    return float(3 * np.log(delta) / np.log1p(-risk))


@dataclass(frozen=True, eq=False)
class Evidence:
    """Judged questions to test on, and thresholds to test or the confidences that make them."""

    tested: Labelled
    judged: int  # how many somebody judged, tested or not
    apart: FloatArray | None = None  # confidences of other questions
    grid: FloatArray | None = None  # or thresholds, strict first
    method: str = "ltt"
    starts: int = STARTS

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise UnknownName("method", self.method, METHODS)
        if self.starts < 1:
            raise UsageError(f"starts={self.starts} tests nothing; start in one place or more")

    @classmethod
    def of(
        cls,
        confidence: FloatArray,
        wrong: BoolArray,
        *,
        others: FloatArray | None = None,
        grid: FloatArray | None = None,
        method: str = "ltt",
        starts: int = STARTS,
        seed: int = 0,
        judged: int | None = None,
    ) -> Evidence:
        """Questions parted by chance: a tenth, at most 1,000, make the thresholds, the others are tested.

        A tenth places the thresholds well enough: a fifth certifies less. Confidences of other questions,
        which nobody need have judged, save it; so does a method that takes thresholds from what it tests.
        `judged` is how many were labelled, if that is more than are here.
        """
        m = len(confidence)
        labelled = m if judged is None else judged
        if others is not None or grid is not None or method not in USE_GRID:
            thresholds = None if grid is None else as_grid(grid)
            return cls(Labelled.of(confidence, wrong), labelled, others, thresholds, method, starts)
        order = np.random.default_rng(seed).permutation(m)
        apart, tested = np.split(order, [min(-(-m // 10), _APART)])
        kept = Labelled.of(confidence[tested], np.asarray(wrong)[tested])
        return cls(kept, labelled, confidence[apart], None, method, starts)

    def choice(self, risk: float, delta: float) -> Choice | None:
        """The loosest threshold that passes, or None."""
        check_promise(risk, 1 - delta)
        grid = self._grid(risk, delta)
        found = METHODS[self.method](self.tested, risk, delta, grid, self.starts)
        if found is None:
            return None
        threshold, level = found
        n, k = (int(count[0]) for count in self.tested.at(np.array([threshold])))
        bound = float(upper_bound(k, n, level))
        return Choice(threshold, n, k, bound, self.method, len(self.tested))

    def refused(self, risk: float, delta: float) -> NoThreshold:
        """The error for a choice of None, with the least whole percentage that would pass."""
        more = self.more_labels(risk, delta)
        fewest = self.fewest(risk, delta)
        return NoThreshold(risk, 1 - delta, self.judged, self.lowest(risk, delta), more, fewest=fewest)

    def lowest(self, risk: float, delta: float) -> float | None:
        """The least whole percentage above a risk that can be promised; None if 99 % cannot either."""
        levels = (percent / 100 for percent in range(1, 100) if percent / 100 > risk)
        return next((level for level in levels if self.choice(level, delta)), None)

    def more_labels(self, risk: float, delta: float) -> int | None:
        """About how many more judged questions it would take; None if at every threshold too many are wrong.

        Reckoned where tests start, and at stricter thresholds that too few pass to be tested yet, as if the
        share that passes and the share of errors stayed as they are.
        """
        level = self._level(risk, delta)
        needed = [
            (n, least, accepted_needed(k / n, risk, level)) for n, k, least in self._starts(risk, delta)
        ]
        growth = [max(enough, least) / n for n, least, enough in needed if enough is not None]
        return max(1, int(np.ceil((min(growth) - 1) * self.judged))) if growth else None

    @property
    def tells_a_rate(self) -> bool:
        """Whether there are answers enough to say how often they are wrong."""
        return len(self.tested) >= _SEEN

    def fewest(self, risk: float, delta: float) -> int | None:
        """How many answers it takes if none is wrong; None if so many are that more labels would not help.

        Nor would they where there are many times as many answers: the surest of them would do.
        """
        least = accepted_needed(0, risk, self._level(risk, delta))
        many = least is not None and len(self.tested) > _MANY * least
        return None if many or self._hopeless(risk, delta) else least

    def _hopeless(self, risk: float, delta: float) -> bool:
        """Whether too many are wrong wherever one looks, and not by chance: more labels would not help.

        One looks where tests start, and at the surest answers, though they are too few to tell a rate.
        """
        surest = self.tested.confidence[::-1][_SUREST - 1 : _SEEN - 1]
        seen = [(n, k) for n, k, _ in self._starts(risk, delta)]
        enough = any(n >= _SEEN for n, _ in seen)
        seen += self._pairs(surest)
        return enough and all(float(surprise(k, n, risk)) <= delta for n, k in seen)

    def _starts(self, risk: float, delta: float) -> list[tuple[int, int, float]]:
        """Where tests start, or would: how many pass, how many of those are wrong, how many must pass."""
        grid, first = self._grid(risk, delta), _first(risk, delta)
        stricter = self.tested.confidence[::-1][_SEEN - 1 : int(first)]
        found = [(n, k, 0.0) for n, k in self._pairs(grid[self._places(grid)]) if n]
        return found + [(n, k, first) for n, k in self._pairs(stricter) if n < first]

    def _places(self, grid: FloatArray) -> list[int]:
        """The places in the grid where tests start."""
        return start_places(len(grid), self.starts) if self.method == "ltt" else list(range(len(grid)))

    def _level(self, risk: float, delta: float) -> float:
        """The chance of an error that each start may have."""
        grid = self._grid(risk, delta)
        shared = {
            "bonferroni": len(grid),
            "ltt": len(self._places(grid)),
            "sgr": sgr_ranks(len(self.tested)),
        }
        return delta / shared.get(self.method, 1)

    def _grid(self, risk: float, delta: float) -> FloatArray:
        if self.grid is not None:
            return self.grid
        apart = np.empty(0) if self.apart is None else self.apart
        return thresholds(apart, len(self.tested), risk, delta)

    def _pairs(self, where: FloatArray) -> set[tuple[int, int]]:
        """How many pass and how many of those are wrong, each case once."""
        n, k = self.tested.at(where)
        return set(zip(n.tolist(), k.tolist(), strict=True))
