"""From confidence to the chance of being right: temperature, Platt, isotonic and beta calibration.

Each is fitted to confidences and whether the answers were right, and never turns their order round. What
was fitted is a value that JSON can hold. Probabilities for the very answers that are at hand come from
`cross_fit`, where no answer helps to fit what calibrates it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from demur import logistic
from demur.errors import DataError, UnknownName, UsageError
from demur.types import FloatArray

HIGHEST = 1 - 1e-15  # a probability of 1 has no logit
LARGEST = 1e100  # stands for an infinite confidence where one is calibrated


class Calibrator(ABC):
    """A frozen dataclass whose fields are what was fitted."""

    name: ClassVar[str]

    @classmethod
    @abstractmethod
    def fit(cls, confidence: ArrayLike, correct: ArrayLike) -> Self:
        """The calibrator of these confidences; answers are right (1), wrong (0) or have a chance."""

    @abstractmethod
    def calibrated(self, confidence: ArrayLike) -> FloatArray:
        """The chance that an answer of this confidence is right."""

    def to_json(self) -> dict[str, Any]:
        """The calibrator as plain values."""
        return {"kind": self.name, **asdict(self)}  # type: ignore[call-overload]  # all are dataclasses


@dataclass(frozen=True)
class Temperature(Calibrator):
    """Temperature scaling: the logit of a probability (or a raw confidence) divided by one number."""

    temperature: float
    raw: bool = False
    name = "temperature"

    @classmethod
    def fit(cls, confidence: ArrayLike, correct: ArrayLike, *, raw: bool = False) -> Self:
        """The likeliest temperature; `raw` says that confidence is a logit, not a probability."""
        confidences, right = _examples(confidence, correct)
        slope, _ = logistic.fit(_logits(confidences, raw)[:, None], logistic.softened(right), intercept=False)
        return cls(float(1 / slope[0]), raw)

    def calibrated(self, confidence: ArrayLike) -> FloatArray:
        """The chance that an answer of this confidence is right."""
        return _chance(_logits(_numbers(confidence), self.raw) / self.temperature)


@dataclass(frozen=True)
class Platt(Calibrator):
    """Platt scaling: a logistic curve over the confidence, which may be any number."""

    slope: float
    intercept: float
    name = "platt"

    @classmethod
    def fit(cls, confidence: ArrayLike, correct: ArrayLike) -> Self:
        """The likeliest curve that does not fall; flat if a higher confidence is not more often right."""
        confidences, right = _examples(confidence, correct)
        slope, intercept = logistic.fit(confidences[:, None], logistic.softened(right), intercept=True)
        return cls(float(slope[0]), intercept)

    def calibrated(self, confidence: ArrayLike) -> FloatArray:
        """The chance that an answer of this confidence is right."""
        return _chance(self.slope * _numbers(confidence) + self.intercept)


@dataclass(frozen=True)
class Beta(Calibrator):
    """Beta calibration of a probability (Kull et al. 2017): a logistic curve over both of its logarithms."""

    right: float
    wrong: float
    intercept: float
    name = "beta"

    @classmethod
    def fit(cls, confidence: ArrayLike, correct: ArrayLike) -> Self:
        """The likeliest curve that does not fall."""
        confidences, right = _examples(confidence, correct)
        slopes, intercept = logistic.fit(_logarithms(confidences), logistic.softened(right), intercept=True)
        return cls(float(slopes[0]), float(slopes[1]), intercept)

    def calibrated(self, confidence: ArrayLike) -> FloatArray:
        """The chance that an answer of this confidence is right."""
        return _chance(
            _logarithms(_numbers(confidence)) @ np.array([self.right, self.wrong]) + self.intercept
        )


@dataclass(frozen=True)
class Isotonic(Calibrator):
    """Isotonic regression: the likeliest steps that do not fall, joined by straight lines.

    It makes ties: answers on one step get one probability.
    """

    confidence: tuple[float, ...]
    chance: tuple[float, ...]
    name = "isotonic"

    @classmethod
    def fit(cls, confidence: ArrayLike, correct: ArrayLike) -> Self:
        """The likeliest steps; answers of equal confidence are one point."""
        from scipy.optimize import isotonic_regression

        confidences, right = _examples(confidence, correct)
        at, place = np.unique(confidences, return_inverse=True)
        count = np.bincount(place)
        steps = isotonic_regression(np.bincount(place, right) / count, weights=count).x.clip(0, 1)
        inside = np.concatenate(([False], (steps[1:-1] == steps[:-2]) & (steps[1:-1] == steps[2:]), [False]))
        kept = ~inside[: len(steps)]  # the ends of each step say it all
        return cls(tuple(at[kept].tolist()), tuple(steps[kept].tolist()))

    def calibrated(self, confidence: ArrayLike) -> FloatArray:
        """The chance that an answer of this confidence is right."""
        between = np.interp(_numbers(confidence), self.confidence, self.chance)
        return np.clip(between, self.chance[0], self.chance[-1])  # steps too near for a slope give infinity


CALIBRATORS: dict[str, type[Calibrator]] = {kind.name: kind for kind in (Beta, Isotonic, Platt, Temperature)}


def calibrator(kind: str) -> type[Calibrator]:
    """The kind of calibrator of this name."""
    if kind not in CALIBRATORS:
        raise UnknownName("calibrator", kind, CALIBRATORS)
    return CALIBRATORS[kind]


def from_json(value: Mapping[str, Any]) -> Calibrator:
    """The calibrator that `to_json` gave."""
    given = dict(value)
    kind = calibrator(str(given.pop("kind", "")))
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]  # all are dataclasses
    if set(given) != names:
        raise DataError(
            f"a {kind.name} calibrator has {', '.join(sorted(names))}, not {', '.join(given)}; fit it again"
        )
    return kind(**{key: tuple(each) if isinstance(each, list) else each for key, each in given.items()})


def cross_fit(
    kind: str, confidence: ArrayLike, correct: ArrayLike, folds: int = 5, seed: int = 0, **settings: Any
) -> FloatArray:
    """The chance of being right for each answer, by a calibrator fitted to the answers of other folds."""
    confidences, right = _examples(confidence, correct)
    if len(confidences) < 2 or folds < 2:
        raise UsageError(f"cannot fit {len(confidences)} answers in {folds} folds; both must be 2 or more")
    fold = np.random.default_rng(seed).permutation(len(confidences)) % min(folds, len(confidences))
    chance = np.empty(len(confidences))
    for each in range(min(folds, len(confidences))):
        fitted = calibrator(kind).fit(confidences[fold != each], right[fold != each], **settings)
        chance[fold == each] = fitted.calibrated(confidences[fold == each])
    return chance


def _examples(confidence: ArrayLike, correct: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """What to fit to; an infinite confidence counts as the highest finite one."""
    confidences, right = np.asarray(confidence, np.float64), np.asarray(correct, np.float64)
    if confidences.ndim != 1 or confidences.shape != right.shape or not len(confidences):
        raise UsageError(
            f"{confidences.shape} confidences but {right.shape} answers; give one of each, at least one"
        )
    if not ((right >= 0) & (right <= 1)).all():
        raise UsageError("correct must be 1 where the answer is right and 0 where it is not")
    finite = _numbers(confidences[np.abs(confidences) < np.inf])
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 0.0)
    return np.clip(_numbers(confidences), low, high), right


def _numbers(confidence: ArrayLike) -> FloatArray:
    confidences = np.asarray(confidence, np.float64)
    if np.isnan(confidences).any():
        raise UsageError(
            "a confidence is not a number (NaN), so it cannot be calibrated; "
            "mend what it comes from, or leave it out"
        )
    return np.clip(confidences, -LARGEST, LARGEST)


def _probabilities(confidences: FloatArray) -> FloatArray:
    if ((confidences < 0) | (confidences > 1)).any():
        raise UsageError(
            "this confidence is not a probability; use platt or isotonic, or temperature with raw=True"
        )
    return np.clip(confidences, 1 - HIGHEST, HIGHEST)


def _logits(confidences: FloatArray, raw: bool) -> FloatArray:
    return confidences if raw else np.asarray(logit(_probabilities(confidences)))


def _logarithms(confidences: FloatArray) -> FloatArray:
    chance = _probabilities(confidences)
    return np.column_stack([np.log(chance), -np.log1p(-chance)])


def _chance(logits: FloatArray) -> FloatArray:
    return np.asarray(expit(logits))
