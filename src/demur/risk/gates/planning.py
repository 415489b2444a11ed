"""What some labelled questions can promise, from both sides: what they buy now, and what more would take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from demur.rankers import Ranker
from demur.risk.gates.calibration import Calibration
from demur.risk.qualifiers.base import Qualifier
from demur.risk.qualifiers.base import qualifier as resolve_qualifier
from demur.risk.thresholds.control import STARTS
from demur.types import FloatArray, Pool

RISKS = (0.01, 0.02, 0.05, 0.10, 0.20, 0.30)


@dataclass(frozen=True)
class Level:
    """One risk: the threshold that can be certified and the share of answers it lets through, or neither."""

    risk: float
    threshold: float | None  # None where every answer passes, too
    coverage: float | None
    bound: float | None
    more: int | None  # labelled questions to add; None where no number would do, and where none is needed
    fewest: int | None = None
    """Answers that it takes even without an error, where too few are labelled to say how many more."""


@dataclass(frozen=True)
class Plan:
    """A level to each risk, each by itself: choose one by need, or calibrate on fresh questions."""

    levels: tuple[Level, ...]
    confidence: float
    questions: int  # labelled
    tested: int
    ranker: str
    qualifier: str
    method: str
    lowest: float | None = None
    """The least whole percentage that these labels can promise, where one of the levels cannot be had."""


def plan(
    ranker: Ranker | str,
    pools: Iterable[Pool],
    confidence: float = 0.95,
    *,
    risks: Sequence[float] = RISKS,
    qualifier: str | Qualifier = "margin",
    method: str = "ltt",
    starts: int = STARTS,
    seed: int = 0,
    grid: Iterable[Pool] | Sequence[float] | FloatArray | None = None,
    on_batch: Callable[[int], None] = lambda pairs: None,
) -> Plan:
    """For each risk the certified coverage, or how many more labelled questions it would take."""
    ready = Calibration.of(
        ranker,
        pools,
        how=resolve_qualifier(qualifier),
        method=method,
        starts=starts,
        seed=seed,
        grid=grid,
        on_batch=on_batch,
    )
    return plan_of(ready, confidence, risks)


def plan_of(ready: Calibration, confidence: float, risks: Sequence[float] = RISKS) -> Plan:
    """The same for labelled pools that are scored and judged already."""
    levels = tuple(_level(ready, risk, 1 - confidence) for risk in risks)
    missed = [level.risk for level in levels if level.coverage is None]
    return Plan(
        levels,
        confidence,
        questions=int(ready.facts["pools"]),
        tested=len(ready.evidence.tested),
        ranker=str(ready.facts["ranker"]),
        qualifier=str(ready.facts["qualifier"]),
        method=ready.evidence.method,
        lowest=ready.evidence.lowest(min(missed), 1 - confidence) if missed else None,
    )


def _level(ready: Calibration, risk: float, delta: float) -> Level:
    choice = ready.evidence.choice(risk, delta)
    if choice is None:
        more = ready.evidence.more_labels(risk, delta)
        fewest = ready.evidence.fewest(risk, delta) if more is None else None
        return Level(risk, None, None, None, more, fewest)
    threshold = None if choice.threshold == float("-inf") else choice.threshold
    return Level(risk, threshold, choice.accepted / choice.questions, choice.bound, None)
