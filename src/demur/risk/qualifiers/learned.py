"""Confidence that is learnt: other qualifiers' numbers as features, right or wrong as the target.

What has been learnt is in the spec, as numbers, and a gate keeps it. A
gate must be calibrated on other pools than those the qualifier was fitted on; to evaluate on the labelled
pools themselves use `out_of_fold`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import logit

from demur import logistic
from demur.data import binary
from demur.errors import UsageError, require
from demur.risk.predictions import BoolArray, Predictions
from demur.risk.qualifiers.base import Qualifier, qualifier
from demur.risk.qualifiers.scored import Scored
from demur.specs import listed
from demur.types import FloatArray, IntArray, Pool

FEATURES = "top; margin; softmax; entropy; zscore; size; coverage"


@dataclass(frozen=True)
class Learned(Qualifier):
    """The probability that the top candidate is right, trained on labelled pools.

    `kind` is ``logistic``, or ``boosting`` for evaluation only: boosted trees cannot be kept in a gate.
    """

    name: ClassVar[str] = "learned"
    edition: ClassVar[int] = 2  # 1 was fitted by scikit-learn, which stops further from the likeliest weights
    kind: str = "logistic"
    features: str = FEATURES
    weights: str = ""  # JSON: the constant, then lowest value, highest value and weight of each feature
    trees: Any = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.kind not in ("logistic", "boosting"):
            raise UsageError(f"learned(kind={self.kind}) is not known; write kind=logistic or kind=boosting")
        if not self.qualifiers:
            raise UsageError("learned needs at least one feature, such as features=margin")
        if self.weights:
            self._numbers()

    @property
    def qualifiers(self) -> list[Qualifier]:
        """The qualifiers whose numbers are the features."""
        return [qualifier(spec) for spec in listed(self.features)]

    @property
    def needs_fitting(self) -> bool:
        """Whether nothing has been learnt yet."""
        return not self.weights and self.trees is None

    @property
    def spec(self) -> str:
        """The spelling that builds this again, with what was learnt."""
        if self.trees is not None:
            raise UsageError(
                "boosted trees cannot be spelled, so no gate can keep them: they are for evaluation only, by "
                "evaluate(…, confidences=…); for a gate use learned(kind=logistic)"
            )
        return super().spec

    def fit(self, pools: Sequence[Pool], scores: Sequence[FloatArray]) -> Self:
        """The qualifier as these labelled pools have taught it."""
        correct = Predictions.of_pools(pools, scores, np.zeros(len(pools))).correct
        filled = [place for place, pool in enumerate(pools) if len(pool)]
        if not filled:
            raise UsageError("learned needs labelled pools with candidates to be fitted on")
        features = self._features(
            [pools[place] for place in filled], Scored.of([scores[place] for place in filled])
        )
        return self._fitted(features, correct[filled])

    def out_of_fold(self, pools: Sequence[Pool], scores: Sequence[FloatArray], folds: int = 5) -> FloatArray:
        """Confidences for labelled pools, each from a fit without this pool's fold; ids say which fold."""
        pools = list(binary(pools))
        fold = _folds(pools, min(folds, len(pools)))
        found = np.empty(len(pools))
        for number in range(fold.max(initial=-1) + 1):
            inside, outside = np.flatnonzero(fold == number).tolist(), np.flatnonzero(fold != number).tolist()
            fitted = self.fit([pools[place] for place in outside], [scores[place] for place in outside])
            found[inside] = fitted.confidence([pools[at] for at in inside], [scores[at] for at in inside])
        return found

    def confidence_of(self, pools: Sequence[Pool], scored: Scored) -> FloatArray:
        """The probabilities of being right."""
        if self.needs_fitting:
            raise UsageError(
                "learned has learnt nothing yet; call fit(pools, scores) with labelled pools, "
                "other than those that a gate is calibrated on"
            )
        features = self._features(pools, scored)
        if self.trees is not None:
            return np.asarray(self.trees.predict_proba(_finite(features))[:, 1], np.float64)
        constant, ranges = self._numbers()
        return logistic.probability(features, constant, ranges)

    def _features(self, pools: Sequence[Pool], scored: Scored) -> FloatArray:
        return np.column_stack([each.confidence_of(pools, scored) for each in self.qualifiers])

    def _numbers(self) -> tuple[float, FloatArray]:
        try:
            constant, *ranges = json.loads(self.weights)
            table = np.array(ranges, np.float64)
            if table.shape != (len(self.qualifiers), 3) or not np.isfinite(table).all():
                raise ValueError
            return float(constant), table
        except (ValueError, TypeError):
            raise UsageError(
                f"the weights of learned are broken; it needs a constant and 3 numbers for each of "
                f"{len(self.qualifiers)} features: fit it again"
            ) from None

    def _fitted(self, features: FloatArray, correct: BoolArray) -> Self:
        order = np.lexsort((correct, *features.T))  # rounding must not depend on the order of pools
        features, correct = _finite(features[order]), correct[order]
        if self.kind == "boosting":
            ensemble = require("sklearn.ensemble", extra="risk")
            fitted = dataclasses.replace(self)
            trees = ensemble.GradientBoostingClassifier(max_depth=2, random_state=0)
            object.__setattr__(fitted, "trees", _constant(correct) or trees.fit(features, correct))
            return fitted
        low, high = features.min(axis=0), features.max(axis=0)
        if 0 < correct.sum() < len(correct):
            weights, constant = logistic.fit(features, correct.astype(np.float64), signed=True, ridge=1.0)
        else:  # all right or all wrong: nothing tells them apart
            weights, constant = np.zeros(len(low)), float(logit((correct.sum() + 0.5) / (len(correct) + 1)))
        numbers = [constant, *np.column_stack([low, high, weights]).tolist()]
        return dataclasses.replace(self, weights=json.dumps(numbers))


class _Constant:
    """The stand-in for trees where all training pools are right, or all wrong."""

    def __init__(self, share: float) -> None:
        self.share = share

    def predict_proba(self, features: FloatArray) -> FloatArray:
        """The same two probabilities for each row."""
        return np.tile([1 - self.share, self.share], (len(features), 1))


def _constant(correct: BoolArray) -> _Constant | None:
    """A constant where there is but one class."""
    if 0 < correct.sum() < len(correct):
        return None
    return _Constant(float((correct.sum() + 0.5) / (len(correct) + 1)))


def _finite(features: FloatArray) -> FloatArray:
    """The features with infinite values drawn in to the largest and smallest finite ones of their column."""
    finite = np.isfinite(features)
    low = np.where(finite, features, np.inf).min(axis=0, initial=np.inf)
    high = np.where(finite, features, -np.inf).max(axis=0, initial=-np.inf)
    none = ~finite.any(axis=0)
    return features.clip(np.where(none, 0.0, low), np.where(none, 0.0, high))


def _folds(pools: Sequence[Pool], folds: int) -> IntArray:
    """Per pool, its fold: even in size, and by a hash of the ids alone."""
    if folds < 2:
        raise UsageError("out-of-fold confidences need at least 2 pools and 2 folds")
    keys = [hashlib.sha256(pool.id.encode("utf-8", "surrogatepass")).digest() for pool in pools]
    fold = np.empty(len(pools), np.int64)
    fold[sorted(range(len(pools)), key=keys.__getitem__)] = np.arange(len(pools)) % folds
    return fold
