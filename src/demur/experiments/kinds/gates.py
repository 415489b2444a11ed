"""Gates for a ranker and a qualifier, tried on halves of datasets: what they let through, what they keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from demur import registry
from demur.experiments.halves import Promise, tried
from demur.experiments.kinds.base import Figure, Kept, Kind, Loaded
from demur.experiments.makers import built, homes
from demur.risk import Predictions, qualifier

if TYPE_CHECKING:
    from demur.experiments.runs import Run


class Gates(Kind):
    """Means over halves are kept. A convention is a rule for the threshold: see `demur.risk.control.METHODS`.

    The ranker's word statistics, what a qualifier learns, and the thresholds that are tried all come from
    the column's `fit`, none of whose questions is calibrated on.
    """

    def depends(self, run: Run) -> Kept:
        """The ranker, the qualifier and the promise."""
        row, table = run.row, run.table
        return {
            "ranker": built(run).spec,
            "qualifier": qualifier(row.qualifier).spec,
            "risk": row.risk,
            "splits": table.splits,
            "confidence": table.confidence,
            "seed": run.seed,
            "measures": table.measures,
            "conventions": table.conventions,
        }

    def modules(self, run: Run) -> list[str]:
        """The modules of the ranker, of the qualifiers in `risk`, as some look at others, and the halves'."""
        homes_ = {home.partition(":")[0] for home in registry.OURS["qualifier"].values()}
        qualifiers = {home for home in homes_ if home.startswith("demur.risk")}
        return sorted({*homes(run.row.ranker), *qualifiers, "demur.experiments.halves"})

    def result(self, run: Run, loaded: Loaded) -> Kept:
        """The figures by convention and measure; null where no half had a threshold."""
        prepared = built(run).prepare(loaded.fit)
        fit_scores, scores = prepared.score_pools(loaded.fit), prepared.score_pools(loaded.pools)
        sure = qualifier(run.row.qualifier).fit(loaded.fit, fit_scores)
        predictions = Predictions.of_pools(loaded.pools, scores, sure.confidence(loaded.pools, scores))
        promise = Promise(run.row.risk, run.table.confidence, run.table.splits, run.seed)
        others = sure.confidence(loaded.fit, fit_scores)
        return {
            "ranker": prepared.spec,
            "qualifier": run.row.qualifier,
            "pools": len(loaded.pools),
            "risk of all": predictions.risk(),
            "conventions": {
                name: {
                    measure: figure
                    for measure, figure in tried(predictions, promise, name, others=others).items()
                    if measure in run.table.measures
                }
                for name in run.table.conventions
            },
        }

    def figure(self, found: Sequence[Kept], convention: str, measure: str, point: str = "") -> Figure | None:
        """The figure of the one run."""
        kept = found[0]["conventions"][convention].get(measure) if found else None
        return Figure.of(kept, found[0]["pools"])
