"""Labelled pools made ready for a gate: scored, judged, and parted by chance; any risk can then be asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from demur.data import Pools, binary
from demur.errors import UsageError
from demur.rankers import Ranker
from demur.risk.gates.certificate import Certificate
from demur.risk.gates.judging import check_labels, check_seen, finite, judge_answers, scored, settled
from demur.risk.gates.pool_hashes import Marks, ids_sha256, mark
from demur.risk.qualifiers.base import Qualifier
from demur.risk.thresholds.control import USE_GRID, Choice, Evidence
from demur.types import FloatArray, Pool, listed

LEARNT_FROM = 1 / 3  # of the labelled pools, if the qualifier has to learn first
KEPT = 1_000  # confidences kept with a gate, to compare later ones with


@dataclass(frozen=True, eq=False)
class Calibration:
    """A ranker's judged answers to labelled questions."""

    evidence: Evidence
    marks: Marks
    confidences: FloatArray  # of all answers, ascending
    facts: dict[str, Any]  # what a certificate says whatever the risk

    @classmethod
    def of(
        cls,
        ranker: Ranker | str,
        pools: Iterable[Pool],
        *,
        how: Qualifier,
        method: str,
        starts: int,
        seed: int,
        grid: Iterable[Pool] | Sequence[float] | FloatArray | None,
        data: str = "",
        on_batch: Callable[[int], None],
    ) -> Calibration:
        """The answers of the ranker to these questions, judged."""
        data = data or (pools.id if isinstance(pools, Pools) else "")
        known = listed(binary(listed(pools)))
        check_labels(known)
        if grid is not None and method not in USE_GRID:
            what = f"method={method} takes its thresholds from what it tests"
            raise UsageError(f"{what}; leave out the grid, or use {' or '.join(USE_GRID)}")
        ordered = sorted(known, key=mark)  # what chance does must not depend on the order of a file
        ready, marks = settled(ranker, ordered), Marks.of(ordered)
        if how.needs_fitting:
            how, ordered = _taught(how, ready, ordered, seed)
        learnt_from = len(known) - len(ordered)
        answers, seen = judge_answers(ready, ordered, how, on_batch)
        check_seen(ordered, seen)
        fixed = _numbers(grid)
        evidence = Evidence.of(
            answers.confidence[answers.predicted],
            answers.wrong[answers.predicted],
            others=None if grid is None or fixed is not None else _others(ready, grid, how, marks),
            grid=fixed,
            method=method,
            starts=starts,
            seed=seed,
            judged=int(answers.predicted.sum()) + learnt_from,
        )
        facts = {
            "seed": seed,
            "pools": len(known),
            "pools_sha256": ids_sha256(known),
            "data": data,
            "ranker": ready.spec,
            "ranker_fingerprint": ready.fingerprint,
            "qualifier": how.spec,
        }
        return cls(evidence, marks, np.sort(answers.confidence[answers.predicted]), facts)

    def choice(self, risk: float, confidence: float) -> Choice:
        """The threshold for a risk, or `NoThreshold`."""
        choice = self.evidence.choice(risk, 1 - confidence)
        if choice is None:
            raise self.evidence.refused(risk, 1 - confidence)
        return choice

    def certificate(self, choice: Choice, risk: float, confidence: float) -> Certificate:
        """What may be said of a threshold."""
        from demur import __version__

        return Certificate(
            risk=risk,
            confidence=confidence,
            questions=choice.questions,
            accepted=choice.accepted,
            errors=choice.errors,
            bound=choice.bound,
            method=choice.method,
            demur=__version__,
            **self.facts,
        )

    def kept(self) -> tuple[float, ...]:
        """The confidences, or of many 1,000 evenly chosen."""
        m = len(self.confidences)
        places = np.arange(m) if m <= KEPT else ((np.arange(KEPT) + 0.5) * m / KEPT).astype(np.int64)
        return tuple(finite(self.confidences[places]).tolist())


def _taught(how: Qualifier, ranker: Ranker, pools: Sequence[Pool], seed: int) -> tuple[Qualifier, list[Pool]]:
    """A qualifier that has learnt from some of the pools, and the others, which it has not seen."""
    learns = np.random.default_rng(seed).permutation(len(pools)) < len(pools) * LEARNT_FROM
    learnt_from = [pool for pool, learnt in zip(pools, learns, strict=True) if learnt]
    taught = how.fit(learnt_from, scored(ranker, learnt_from, lambda pairs: None))
    return taught, [pool for pool, learnt in zip(pools, learns, strict=True) if not learnt]


def _numbers(grid: Any) -> FloatArray | None:
    """The thresholds themselves, if the grid is of those and not of pools."""
    if not isinstance(grid, np.ndarray):
        if isinstance(grid, Pools) or not isinstance(grid, Sequence) or not grid:
            return None
        if not all(isinstance(each, int | float | np.number) for each in grid):
            return None
    try:
        return np.asarray(grid, np.float64)
    except ValueError:
        raise UsageError("the grid has what is no number; give thresholds, or pools") from None


def _others(ranker: Ranker, pools: Any, how: Qualifier, marks: Marks) -> FloatArray:
    """The confidences on pools that make thresholds; none of them may be tested on as well."""
    given = listed(pools)
    known = marks.known(given)
    if known.any():
        raise UsageError(
            f"{int(known.sum()):,} of the pools for the grid are also calibrated on, such as "
            f"{given[int(np.flatnonzero(known)[0])].id!r}; thresholds must come from other questions"
        )
    answers, _ = judge_answers(ranker, given, how)
    if not answers.predicted.any():
        raise UsageError("the pools for the grid have no candidates; leave grid away, or give others")
    return answers.confidence[answers.predicted]
