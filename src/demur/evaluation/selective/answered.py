"""What was answered to each question: how sure, how wrong, and whether it could have been right.

The answer is the top candidate. Where several are equally good it is one of them at random, so that "wrong"
is a chance; a convention that settles ties settles it. A question without candidates has no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from demur.errors import UsageError
from demur.evaluation.conventions import Rules
from demur.evaluation.judged import Judged
from demur.evaluation.measures import precision
from demur.evaluation.ranked import rank
from demur.evaluation.selective.ordered import Answers
from demur.specs import Spec
from demur.types import FloatArray, Pool

BoolArray = NDArray[np.bool_]


class Qualifier(Protocol):
    """What says how sure answers are, as `demur.risk.qualifiers.base` has them."""

    @property
    def spec(self) -> str:
        """The spelling that builds it again."""
        ...

    def confidence(self, pools: Sequence[Pool], scores: Sequence[FloatArray]) -> FloatArray:
        """One number per pool, higher where the ranker is surer of its top candidate."""
        ...

    @property
    def needs_fitting(self) -> bool:
        """Whether it has yet to learn from labelled pools."""
        ...

    def out_of_fold(self, pools: Sequence[Pool], scores: Sequence[FloatArray], folds: int = 5) -> FloatArray:
        """Confidences for labelled pools, each from a fit that has not seen this pool's labels."""
        ...


@dataclass(frozen=True, eq=False)
class Answered:
    """Arrays with an entry for each pool of a report; `confidence` and `wrong` are NaN without an answer."""

    confidence: FloatArray
    wrong: Mapping[int, FloatArray]
    """For the lowest label that counts as right: nearly always 1."""
    answerable: Mapping[int, BoolArray]
    """For the same: whether there is a right candidate."""
    qualifier: str = ""
    """Where the confidence comes from; empty if it was given as numbers."""

    @classmethod
    def of(
        cls, judged: Judged, rules: Rules, confidence: FloatArray, rels: Iterable[int], qualifier: str = ""
    ) -> Answered:
        """The answers of scored pools. The confidence of pools without candidates is not looked at."""
        predicted = np.diff(judged.bounds) > 0
        if (bad := np.isnan(confidence) & predicted).any():
            name = judged.ids[int(bad.argmax())]
            raise UsageError(
                f"the confidence in the answer to {name!r} is not a number (NaN); mend its source"
            )
        ranked = rank(judged, rules)
        kept = sorted(set(rels))
        wrong = {rel: np.where(predicted, 1 - precision(ranked, 1, rel), np.nan) for rel in kept}
        answerable = {rel: ranked.hits(rel).positives > 0 for rel in kept}
        return cls(np.where(predicted, confidence, np.nan), wrong, answerable, qualifier)

    @property
    def predicted(self) -> BoolArray:
        """Which pools have an answer."""
        return ~np.isnan(self.confidence)

    def answers(self, rel: int = 1, places: Any = None) -> Answers:
        """The answers, or those of the pools at some places, for measures over them."""
        kept = np.flatnonzero(self.predicted) if places is None else places
        return Answers.of(self.confidence[kept], self.wrong[rel][kept])

    @property
    def outcomes(self) -> dict[str, float]:
        """How many questions end in each outcome of `demur.risk.predictions` if every answer is given.

        Tied top candidates make parts of a question.
        """
        rel = min(self.wrong)
        answerable, predicted = self.answerable[rel], self.predicted
        wrong = np.where(predicted, self.wrong[rel], 0)
        return {
            "AD+": float((predicted - wrong).sum()),
            "AD-": float(wrong[answerable].sum()),
            "AN": float((answerable & ~predicted).sum()),
            "UD": float(wrong[~answerable].sum()),
            "UN": float((~answerable & ~predicted).sum()),
        }

    def to_json(self, ids: Sequence[str]) -> dict[str, Any]:
        """The answers as plain values, keyed by pool; None where there is no answer."""
        columns: dict[str, list[Any]] = {"confidence": [_plain(value) for value in self.confidence.tolist()]}
        for rel, wrong in self.wrong.items():
            columns[_column("wrong", rel)] = [_plain(value) for value in wrong.tolist()]
            columns[_column("answerable", rel)] = self.answerable[rel].tolist()
        rows = zip(*columns.values(), strict=True)
        return {
            "qualifier": self.qualifier,
            "predicted": int(self.predicted.sum()),
            "outcomes": self.outcomes,
            "rels": list(self.wrong),
            "per_pool": {id: dict(zip(columns, row, strict=True)) for id, row in zip(ids, rows, strict=True)},
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any], ids: Sequence[str]) -> Answered:
        """The answers that `to_json` gave, in the order of the ids."""
        rows = [value["per_pool"][id] for id in ids]

        def column(name: str) -> FloatArray:
            return np.array([row[name] for row in rows], np.float64)  # None becomes NaN, "inf" infinity

        return cls(
            column("confidence"),
            {rel: column(_column("wrong", rel)) for rel in value["rels"]},
            {rel: column(_column("answerable", rel)) > 0 for rel in value["rels"]},
            str(value["qualifier"]),
        )


def _column(name: str, rel: int) -> str:
    return str(Spec(name, {} if rel == 1 else {"rel": rel}))


def _plain(value: float) -> float | str | None:
    """The number as JSON can hold it."""
    return value if abs(value) < np.inf else None if value != value else str(value)
