"""Gates for a ranker and a qualifier, tried on halves of datasets: what they let through, what they keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from demur.experiments.kinds.answer_figures import selective
from demur.experiments.kinds.base import Figure, Kind, Loaded, Result
from demur.experiments.kinds.halves import MEASURES, Promise, tried
from demur.experiments.models.rankers import identity, spelled, untrained_ranker
from demur.risk import Predictions, qualifier

if TYPE_CHECKING:
    from demur.experiments.runs import Run


class Gates(Kind):
    """Means over halves are kept. A convention is a rule for the threshold, one of `METHODS` in `demur.risk`.

    The ranker's word statistics, what a qualifier learns, and the thresholds that are tried all come from
    the column's `fit`, none of whose questions is calibrated on. Ranker and qualifier may name a [[model]].
    Measures that know no halves, such as AURC, are of all questions, and the same under each convention.
    """

    def depends(self, run: Run) -> Result:
        """The ranker, the qualifier and the promise."""
        row, table = run.row, run.table
        return {
            "ranker": identity(run, row.ranker) if _learnt(run) else untrained_ranker(run).spec,
            "qualifier": identity(run, row.qualifier)
            if "{" in row.qualifier
            else qualifier(row.qualifier).spec,
            "risk": row.risk,
            "splits": table.splits,
            "confidence": table.confidence,
            "seed": run.seed,
            "measures": table.measures,
            "conventions": table.conventions,
        }

    def result(self, run: Run, loaded: Loaded) -> Result:
        """The figures by convention and measure; null where no half had a threshold."""
        prepared = untrained_ranker(run).prepare(loaded.fit)
        fit_scores, scores = prepared.score_pools(loaded.fit), prepared.score_pools(loaded.pools)
        fitted = qualifier(spelled(run, run.row.qualifier)).fit(loaded.fit, fit_scores)
        predictions = Predictions.of_pools(loaded.pools, scores, fitted.confidence(loaded.pools, scores))
        promise = Promise(run.row.risk, run.table.confidence, run.table.splits, run.seed)
        others = fitted.confidence(loaded.fit, fit_scores)
        whole = selective(_of_all(run), predictions) if _of_all(run) else {}
        return {
            "ranker": run.row.ranker if _learnt(run) else prepared.spec,
            "qualifier": run.row.qualifier,
            "pools": len(loaded.pools),
            "risk of all": predictions.risk(),
            "conventions": {
                name: {
                    measure: figure
                    for measure, figure in tried(predictions, promise, name, others=others).items()
                    if measure in run.table.measures
                }
                | whole
                for name in run.table.conventions
            },
        }

    def figure(
        self, found: Sequence[Result], convention: str, measure: str, point: str = ""
    ) -> Figure | None:
        """The figure of the one run."""
        if not found:
            return None
        return Figure.of(found[0]["conventions"][convention].get(measure), found[0]["pools"])


def _learnt(run: Run) -> bool:
    """Whether the ranker is a model of the table, whose folder may lie anywhere."""
    return "{" in run.row.ranker


def _of_all(run: Run) -> list[str]:
    """The measures that are not of halves."""
    return [name for name in run.table.measures if name not in MEASURES]
