"""Which of the tried methods to take: see `rules`; and how to say it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from demur.advice.deciding import rules
from demur.advice.deciding.evidence import Evidence
from demur.advice.trials.trying import Trial
from demur.evaluation import Estimate, Report, compare, evaluate
from demur.types import Pool

MEASURE = "MAP"
LEVEL = 0.05


@dataclass(frozen=True, eq=False)
class Judged:
    """A trial with its figures, what to expect of it, and how far it is from the best one's figures."""

    trial: Trial
    report: Report
    expected: float  # the MAP, shrunk towards what is known of other data
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


def beside_the_best(
    trials: Sequence[Trial], pools: Sequence[Pool], seed: int, known: Evidence
) -> list[Judged]:
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
    expected = expectations(trials, reports, known)
    return [
        Judged(trial, report, expected[name], Estimate(row.difference, row.low, row.high), row.p)
        if (row := rows.get(name := trial.method.name)) is not None
        else Judged(trial, report, expected[name])
        for trial, report in zip(done, reports.values(), strict=True)
    ]


def expectations(trials: Sequence[Trial], reports: Mapping[str, Report], known: Evidence) -> dict[str, float]:
    """By method that was tried, the MAP to expect of it."""
    values = {name: report.values[MEASURE] for name, report in reports.items()}
    values = {name: figures[~np.isnan(figures)] for name, figures in values.items()}
    methods = [trial.method for trial in trials if trial.method.name in values]
    return rules.shrunk(values, known.leads(methods, rules.yardstick(values)))


def chosen(found: Sequence[Judged]) -> Judged:
    """The first, that is the simplest, of those of which hardly less than the most is to be expected."""
    name = rules.simplest({each.name: each.expected for each in found})
    return next(each for each in found if each.name == name)


def best_of(found: Sequence[Judged]) -> Judged:
    """The one with the highest MAP."""
    return next(each for each in found if each.behind is None)


def sentence(found: Sequence[Judged]) -> str:
    """The recommendation, and why."""
    taken, ahead = chosen(found), max(found, key=lambda each: each.expected)
    figures = f"MAP {taken.quality.mean:.3f}"
    if len(found) == 1:
        return f"Take {taken.name} ({figures}): it is the only method that could be tried."
    figures += f"; {taken.expected:.3f} to be expected"
    if taken is ahead:
        simpler = f" and no simpler one comes within {rules.NEAR:g} of it" * (found.index(taken) > 0)
        why = f"most is to be expected of it{',' * bool(simpler)}{simpler}"
    else:
        why = (
            f"it is the simplest of those within {rules.NEAR:g} of the one that most is to be expected of, "
            f"{ahead.name} ({ahead.expected:.3f})"
        )
    best = best_of(found)
    if best is not taken and best is not ahead:
        why += (
            f". {best.name} has MAP {best.quality.mean:.3f} here, but after what it got on other data "
            f"{best.expected:.3f} is to be expected"
        )
    return f"Take {taken.name} ({figures}): {why}."
