"""Learning curves: the figures of a row at each number of questions that it learns from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from demur.evaluation import evaluate
from demur.experiments.kinds.base import Figure, Loaded, Result
from demur.experiments.kinds.ranking import PRECISION, Ranking
from demur.experiments.models.cached_models import Step, pools_of, ranker_of, trained_by
from demur.experiments.models.rankers import maker, stages, untrained_ranker

if TYPE_CHECKING:
    from demur.experiments.recipe import Column
    from demur.experiments.runs import Run
    from demur.rankers import Ranker


class Curves(Ranking):
    """Means over pools are kept for each size; the subsets of one seed lie within each other."""

    def depends(self, run: Run) -> Result:
        """As of a ranking, and the sizes."""
        return {**super().depends(run), "sizes": run.column.sizes, "early": run.row.early}

    def result(self, run: Run, loaded: Loaded) -> Result:
        """The figures by size, convention and measure."""
        points: Result = {}
        if run.row.ranker:  # it learns nothing: the same at each size
            figures = self._judged(run, loaded, untrained_ranker(run))
            points = {str(size): figures for size in sizes(run.column)}
        else:
            *before, last = stages(run)
            start = ranker_of(before)
            for size in sizes(run.column):
                step = part(last, size, run.row.early, run.seed)
                points[str(size)] = self._judged(run, loaded, trained_by(step, start))
        return {**maker(run), "pools": len(loaded.pools), "points": points}

    def _judged(self, run: Run, loaded: Loaded, ranker: Ranker) -> Result:
        scores = ranker.prepare(loaded.pools).score_pools(loaded.pools)
        reports = {
            name: evaluate(scores, loaded.pools, run.table.measures, name) for name in run.table.conventions
        }
        return {
            name: {measure: round(estimate.mean, PRECISION) for measure, estimate in report.measures.items()}
            for name, report in reports.items()
        }

    def points(self, column: Column) -> Sequence[str]:
        """The sizes."""
        return [str(size) for size in column.sizes]

    def figure(
        self, found: Sequence[Result], convention: str, measure: str, point: str = ""
    ) -> Figure | None:
        """The mean over seeds; its low and high are one standard deviation away, as the paper draws it."""
        values = [one["points"][point][convention][measure] for one in found if point in one["points"]]
        if not values:
            return None
        mean, spread = float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
        return Figure(mean, mean - spread, mean + spread, found[0]["pools"])


def sizes(column: Column) -> list[int]:
    """The numbers of questions that are learnt from."""
    return column.sizes


def part(step: Step, size: int, early: str, seed: int) -> Step:
    """The stage with so many of its questions, and if early stopping is to see no more, of its dev's.

    Those of one seed lie within those of a larger size.
    """
    dev = (
        f"{step.dev}/sample-{min(size, len(pools_of(step.dev)))}-seed-{seed}"
        if early == "small"
        else step.dev
    )
    return replace(step, data=f"{step.data}/sample-{size}-seed-{seed}", dev=dev)
