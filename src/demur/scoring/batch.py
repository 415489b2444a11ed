"""The one function that scores a batch: what comes back is the batch, and what was found about it.

It depends on nothing but its arguments, so that any engine can call it: `demur score` and Ray call it with
pools, Daft, Spark's ``mapInArrow``, Dask or Ray Data with columns or an Arrow table. A row is a question
with all its answers, because scores, ranks and a gate's verdict are about these together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from demur.rankers import Ranker
from demur.scoring import columns
from demur.types import Candidate, FloatArray, IntArray, Pool, Ranking, SeenPassage, Span, Verdict


class Judge(Protocol):
    """A gate, as far as it judges rankings."""

    def judge(self, ranking: Ranking) -> Verdict:
        """How sure the ranker may be of its best answer, and why the gate refuses it, if it does."""
        ...


LookAtPools = Callable[[Sequence[Pool]], Sequence[Sequence[SeenPassage]]]


class PoolResult(NamedTuple):
    """What was found for one pool; None where nobody was asked."""

    scores: FloatArray
    spans: list[Span | None] | None = None
    span_confidences: list[float] | None = None
    confidence: float | None = None
    refusal: str | None = None

    @property
    def order(self) -> list[int]:
        """The places of the answers, best first; equal scores keep their order."""
        return [int(place) for place in np.argsort(-self.scores, kind="stable")]

    @property
    def ranks(self) -> IntArray:
        """The rank of each answer, from 1."""
        ranks = np.empty(len(self.scores), np.int64)
        ranks[self.order] = np.arange(1, len(self.scores) + 1)
        return ranks

    def judged(self, pool: Pool, gate: Judge) -> PoolResult:
        """The same with a gate's verdict; where its confidence is no finite number there is none."""
        order = self.order
        best_first = tuple(pool.candidates[at] for at in order)
        verdict = gate.judge(Ranking(pool.question, best_first, tuple(self.scores[order].tolist())))
        confidence = float(verdict.confidence)
        return self._replace(
            confidence=confidence if math.isfinite(confidence) else None, refusal=verdict.refusal
        )


@dataclass(frozen=True)
class Scorer:
    """A ranker that is loaded, with a reader's look and a gate if there are any: call it with a batch.

    A batch is a mapping of columns, an Arrow table or a record batch, and comes back as what it was. Of its
    columns ``question`` and ``answers`` (a list of texts to each question) are read, all others are left as
    they are, and ``scores`` and ``ranks`` are added. A reader adds ``spans`` and ``span_confidences``; a gate
    adds ``confidence`` and ``refusal``, which is empty where it lets the answer with rank 1 pass.
    """

    ranker: Ranker
    look: LookAtPools | None = None
    gate: Judge | None = None
    one_pass: bool = False
    """Whether the look is the ranker's own, so that its scores are the ranker's."""
    also: Mapping[str, str] = field(default_factory=dict)
    """Hashes of reader and gate, by these names; the ranker has its own."""

    def __call__(self, batch: Any) -> Any:
        """The batch with its new columns."""
        if columns.is_arrow(batch):
            return columns.with_columns(batch, self._columns(columns.pools_of(columns.asked(batch))))
        return {**batch, **self._columns(columns.pools_of(batch))}

    def pools(self, pools: Sequence[Pool]) -> list[Pool]:
        """The same pools, with what was found as extras of pools and of their candidates."""
        return [_told(pool, found) for pool, found in zip(pools, self.found(pools), strict=True)]

    @property
    def finds_more(self) -> bool:
        """Whether there is more than scores."""
        return self.look is not None or self.gate is not None

    @property
    def facts(self) -> dict[str, str]:
        """Hashes of all that the result depends on."""
        return {"ranker": self.ranker.fingerprint, **self.also}

    def found(self, pools: Sequence[Pool]) -> list[PoolResult]:
        """What is found for each pool."""
        if self.look is None:
            found = [PoolResult(np.asarray(each, np.float64)) for each in self.ranker.score_pools(pools)]
        else:
            seen = self.look(pools)
            scores = (
                [np.array([look.score for look in looks], np.float64) for looks in seen]
                if self.one_pass
                else self.ranker.score_pools(pools)
            )
            found = [
                PoolResult(each, [look.span for look in looks], [float(look.confidence) for look in looks])
                for each, looks in zip(scores, seen, strict=True)
            ]
        if self.gate is None:
            return found
        return [each.judged(pool, self.gate) for pool, each in zip(pools, found, strict=True)]

    def _columns(self, pools: Sequence[Pool]) -> dict[str, Any]:
        """The new columns."""
        found = self.found(pools)
        new: dict[str, Any] = {
            columns.SCORES: columns.objects([each.scores for each in found]),
            columns.RANKS: columns.objects([each.ranks for each in found]),
        }
        if self.look is not None:
            spans = [[_plain(span) for span in each.spans or ()] for each in found]
            new[columns.SPANS] = columns.objects(spans)
            new[columns.SPAN_CONFIDENCES] = columns.objects(
                [np.array(each.span_confidences or (), np.float64) for each in found]
            )
        if self.gate is not None:
            confidences = [np.nan if each.confidence is None else each.confidence for each in found]
            new[columns.CONFIDENCE] = np.array(confidences, np.float64)
            new[columns.REFUSAL] = columns.objects([each.refusal for each in found])
        return new


def score_batch(ranker: Ranker | Scorer, pools: Sequence[Pool]) -> list[Pool]:
    """The same pools, with each candidate's score as an extra. Depends on nothing but its arguments."""
    return (ranker if isinstance(ranker, Scorer) else Scorer(ranker)).pools(pools)


def _told(pool: Pool, found: PoolResult) -> Pool:
    """A pool with what was found as extras; ranks are left out, as the scores say them."""
    new: dict[str, list[Any]] = {"score": found.scores.tolist()}
    if found.spans is not None and found.span_confidences is not None:
        new |= {"span": [_plain(span) for span in found.spans], "span_confidence": found.span_confidences}
    candidates = tuple(
        Candidate(one.id, one.text, one.label, {**one.extra, **dict(zip(new, values, strict=True))})
        for one, *values in zip(pool.candidates, *new.values(), strict=True)
    )
    extra = pool.extra
    if found.refusal is not None:
        extra = {**extra, columns.CONFIDENCE: found.confidence, columns.REFUSAL: found.refusal}
    return Pool(pool.id, pool.question, candidates, extra)


def _plain(span: Span | None) -> dict[str, Any] | None:
    return None if span is None else {"start": span.start, "end": span.end, "text": span.text}
