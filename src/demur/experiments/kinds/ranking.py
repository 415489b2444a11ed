"""Rankers over datasets, by measures over pools."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from demur.evaluation import estimates, evaluate
from demur.evaluation.measures import parse_measures
from demur.experiments.kinds.base import Figure, Kind, Loaded, Result
from demur.experiments.models.cached_models import relevant_of
from demur.experiments.models.rankers import by_epoch, maker, run_ranker

if TYPE_CHECKING:
    from demur.evaluation import Report
    from demur.experiments.runs import Run

PRECISION = 6  # decimals kept of each pool's figure


class Ranking(Kind):
    """A figure for each pool is kept, so that runs can be compared."""

    def depends(self, run: Run) -> Result:
        """The ranker and what it is judged by."""
        table = run.table
        return {
            **maker(run),
            "seed": run.seed,
            "measures": table.measures,
            "conventions": table.conventions,
            **_relevant(run),
        }

    def result(self, run: Run, loaded: Loaded) -> Result:
        """The figures by convention and measure."""
        prepared = run_ranker(run).prepare(loaded.pools)
        scores = prepared.score_pools(loaded.pools)
        lowest = _relevant(run).get("relevant", 1)
        measures = [measure.from_label(lowest) for measure in parse_measures(run.table.measures)]
        conventions = {
            name: _figures(evaluate(scores, loaded.pools, measures, name), run.table.measures)
            for name in run.table.conventions
        }
        return {**maker(run), "conventions": conventions, **_relevant(run), **by_epoch(run)}

    def values(self, found: Sequence[Result], convention: str, measure: str) -> dict[str, float]:
        """By pool, the mean over seeds."""
        judged = _judged(found, convention, measure)
        if not judged:
            return {}
        figures = np.array([one["values"][measure] for one in judged], np.float64).mean(axis=0)
        return {
            pool: value
            for pool, value in zip(judged[0]["pools"], figures.tolist(), strict=True)
            if value == value
        }

    def figure(
        self, found: Sequence[Result], convention: str, measure: str, point: str = ""
    ) -> Figure | None:
        """The mean over pools of the means over seeds."""
        judged = _judged(found, convention, measure)
        if not judged:
            return None
        if len(judged) == 1:  # drawing the bootstrap again would only repeat it
            mean, low, high = judged[0]["estimates"][measure]
            return Figure(mean, low, high, sum(value is not None for value in judged[0]["values"][measure]))
        figures = np.array(list(self.values(found, convention, measure).values()))
        estimate = estimates(figures[:, None])[0]
        return Figure(estimate.mean, estimate.low, estimate.high, len(figures))


def _judged(found: Sequence[Result], convention: str, measure: str) -> list[Result]:
    """What seeds have under a convention and measure; of other data than the last one's, nothing."""
    judged = [one["conventions"][convention] for one in found if convention in one["conventions"]]
    judged = [one for one in judged if measure in one["values"]]
    return [one for one in judged if one["pools"] == judged[-1]["pools"]]


def _relevant(run: Run) -> Result:
    """The lowest label of a right answer, where it is not 1."""
    lowest = relevant_of(run.column.data)
    return {} if lowest == 1 else {"relevant": lowest}


def _figures(report: Report, names: Sequence[str]) -> Result:
    """What is kept of a report: per measure, a figure for each pool; null where the convention skips it.

    Measures are kept by the names that the table gives them, in the report's order.
    """
    columns = {
        name: [None if value != value else round(value, PRECISION) for value in values.tolist()]
        for name, values in zip(names, report.values.values(), strict=True)
    }
    estimates_ = zip(names, report.measures.values(), strict=True)
    means = {name: dataclasses.astuple(estimate) for name, estimate in estimates_}
    return {"skipped": report.skipped, "pools": list(report.ids), "values": columns, "estimates": means}
