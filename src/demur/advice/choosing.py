"""Which of the tried methods to take: the simplest of those not significantly worse than the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from demur.advice.trying import Trial
from demur.evaluation import Estimate, Report, compare, evaluate
from demur.types import Pool

MEASURE = "MAP"
LEVEL = 0.05


@dataclass(frozen=True, eq=False)
class Judged:
    """A trial with its figures, and how far it is from the best one."""

    trial: Trial
    report: Report
    behind: Estimate | None = (
        None  # MAP of this one less that of the best, over the same pools; None of the best
    )
    p: float = 1.0  # of the permutation test, for this one comparison

    @property
    def name(self) -> str:
        """What the method is called."""
        return self.trial.method.name

    @property
    def quality(self) -> Estimate:
        """Its MAP."""
        return self.report.measures[MEASURE]

    @property
    def worse(self) -> bool:
        """Whether it is significantly worse than the best."""
        return self.behind is not None and self.behind.mean < 0 and self.p < LEVEL


def judged(trials: Sequence[Trial], pools: Sequence[Pool], seed: int) -> list[Judged]:
    """The trials that have scores, each beside the best of them, in the order in which they came."""
    done = [trial for trial in trials if not trial.skipped]
    reports = {
        trial.method.name: evaluate(trial.scores, pools, [MEASURE, "P@1"], "fixed", seed=seed)
        for trial in done
    }
    if not done:
        return []
    best = max(reports, key=lambda name: reports[name].measures[MEASURE].mean)
    rows = {}
    if len(done) > 1:
        found = compare(reports, best, measures=MEASURE, seed=seed)
        rows = {row.system: row for row in found.rows}
    return [
        Judged(trial, report, Estimate(row.difference, row.low, row.high), row.p)
        if (row := rows.get(trial.method.name)) is not None
        else Judged(trial, report)
        for trial, report in zip(done, reports.values(), strict=True)
    ]


def chosen(found: Sequence[Judged]) -> Judged:
    """The first, that is the simplest, of those that are not significantly worse than the best."""
    return next(each for each in found if not each.worse)


def best_of(found: Sequence[Judged]) -> Judged:
    """The one with the highest MAP."""
    return next(each for each in found if each.behind is None)


def sentence(found: Sequence[Judged]) -> str:
    """The recommendation, and why."""
    taken, best = chosen(found), best_of(found)
    mean = f"MAP {taken.quality.mean:.3f}"
    if len(found) == 1:
        return f"Take {taken.name} ({mean}): it is the only method that could be tried."
    if taken is best:
        simpler = found.index(taken) > 0
        why = "and all simpler methods are significantly worse" if simpler else "and none is simpler"
        return f"Take {taken.name}: it is the best of those tried ({mean}), {why}."
    gap = taken.behind or Estimate(0.0, 0.0, 0.0)
    return (
        f"Take {taken.name} ({mean}): it is the simplest of those that are not significantly worse than the "
        f"best, {best.name} (MAP {best.quality.mean:.3f}; difference {gap.mean:+.3f}, "
        f"95 % interval {gap.low:+.3f} to {gap.high:+.3f}, p {taken.p:.2f})."
    )
