"""Rankers over datasets, by measures over pools."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from demur.evaluation import estimates, evaluate
from demur.experiments.kinds.base import Figure, Kept, Kind, Loaded
from demur.experiments.makers import by_epoch, made, maker

if TYPE_CHECKING:
    from demur.evaluation import Report
    from demur.experiments.runs import Run

PRECISION = 6  # decimals kept of each pool's figure


class Ranking(Kind):
    """A figure for each pool is kept, so that runs can be compared."""

    def depends(self, run: Run) -> Kept:
        """The ranker and what it is judged by."""
        table = run.table
        return {
            **maker(run),
            "seed": run.seed,
            "measures": table.measures,
            "conventions": table.conventions,
        }

    def result(self, run: Run, loaded: Loaded) -> Kept:
        """The figures by convention and measure."""
        prepared = made(run).prepare(loaded.pools)
        scores = prepared.score_pools(loaded.pools)
        conventions = {
            name: _figures(evaluate(scores, loaded.pools, run.table.measures, name))
            for name in run.table.conventions
        }
        return {**maker(run), "conventions": conventions, **by_epoch(run)}

    def values(self, found: Sequence[Kept], convention: str, measure: str) -> dict[str, float]:
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

    def figure(self, found: Sequence[Kept], convention: str, measure: str, point: str = "") -> Figure | None:
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


def _judged(found: Sequence[Kept], convention: str, measure: str) -> list[Kept]:
    """What seeds have under a convention and measure; of other data than the last one's, nothing."""
    judged = [one["conventions"][convention] for one in found if convention in one["conventions"]]
    judged = [one for one in judged if measure in one["values"]]
    return [one for one in judged if one["pools"] == judged[-1]["pools"]]


def _figures(report: Report) -> Kept:
    """What is kept of a report: per measure, a figure for each pool; null where the convention skips it."""
    columns = {
        name: [None if value != value else round(value, PRECISION) for value in values.tolist()]
        for name, values in report.values.items()
    }
    means = {name: dataclasses.astuple(report.measures[name]) for name in columns}
    return {"skipped": report.skipped, "pools": list(report.ids), "values": columns, "estimates": means}
