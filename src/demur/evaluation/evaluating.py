"""From a ranker, ready scores, or a run with its qrels, to a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from demur.errors import DataError
from demur.evaluation.conventions import Convention
from demur.evaluation.conventions import convention as find_convention
from demur.evaluation.intervals import Estimate, estimates
from demur.evaluation.judged import Judged, Qrels, Run
from demur.evaluation.measures import Measure, parse_measures
from demur.evaluation.ranked import rank
from demur.evaluation.report import Report
from demur.rankers import Ranker
from demur.rankers import ranker as find_ranker
from demur.types import FloatArray, Pool

MEASURES = ("MAP", "RR", "P@1", "nDCG@10")

Measures = str | Measure | Iterable[str | Measure]


def evaluate(
    ranker: Ranker | str | Iterable[Any],
    pools: Iterable[Pool],
    measures: Measures = MEASURES,
    convention: str | Convention = "fixed",
    no_positive: str | None = None,
    *,
    confidence: float = 0.95,
    seed: int = 0,
    data: str = "",
    on_batch: Callable[[int], None] = lambda pairs: None,
) -> Report:
    """The report on a ranker, or on one array of scores per pool, over labelled pools."""
    data = data or str(getattr(pools, "id", ""))
    pools = pools if isinstance(pools, Sequence) else list(pools)
    if isinstance(ranker, str | Ranker):
        ready = find_ranker(ranker).prepare(pools)
        spec, judged = ready.spec, Judged.of_pools(pools, _scored(ready, pools, on_batch))
    else:
        spec, judged = "", Judged.of_pools(pools, ranker)
    return _report(judged, measures, find_convention(convention, no_positive), confidence, seed, spec, data)


def evaluate_run(
    run: Run,
    qrels: Qrels,
    measures: Measures = MEASURES,
    convention: str | Convention = "fixed",
    no_positive: str | None = None,
    *,
    confidence: float = 0.95,
    seed: int = 0,
    name: str = "",
    data: str = "",
) -> Report:
    """The report on a run, `{query: {document: score}}`, over the queries that the qrels judge.

    Retrieved documents without a judgement are not relevant, and stand in the ranking. A judged query that
    the run does not know counts as 0, or is skipped under `trec`, as trec_eval does without -c.
    """
    judged = Judged.of_run(run, qrels)
    return _report(judged, measures, find_convention(convention, no_positive), confidence, seed, name, data)


def measured(judged: Judged, measures: Iterable[Measure], convention: Convention) -> dict[str, FloatArray]:
    """Each measure's values, pool by pool; NaN where the convention leaves a pool out."""
    rankings = {}
    values = {}
    for measure in measures:
        rules = convention.rules_for(measure.name)
        if rules not in rankings:
            rankings[rules] = rank(judged, rules)
        values[str(measure)] = measure.values(rankings[rules])
    return values


def _scored(ranker: Ranker, pools: Sequence[Pool], on_batch: Callable[[int], None]) -> Iterator[FloatArray]:
    from demur.scoring import shards

    for shard in shards(pools):
        yield from ranker.score_pools(shard)
        on_batch(sum(len(pool) for pool in shard))


def _report(
    judged: Judged,
    measures: Measures,
    convention: Convention,
    confidence: float,
    seed: int,
    ranker: str,
    data: str,
) -> Report:
    values = measured(judged, parse_measures(measures), convention)
    kept = np.zeros(len(judged.ids), np.bool_)
    for name, column in values.items():
        counts = ~np.isnan(column)
        if not counts.any():
            raise DataError(
                f"no pool counts for {name} under {convention.name}: none has a positive; "
                "check the labels, or count such pools as 0 with no_positive=zero"
            )
        kept |= counts
    return Report(
        measures=_estimates(values, confidence, seed),
        convention=convention.name,
        skipped=int((~kept).sum()) + judged.unjudged,
        ids=tuple(name for name, keep in zip(judged.ids, kept.tolist(), strict=True) if keep),
        values={name: column[kept] for name, column in values.items()},
        ranker=ranker,
        data=data,
        labels=judged.fingerprint,
        confidence=confidence,
        seed=seed,
    )


def _estimates(values: dict[str, FloatArray], confidence: float, seed: int) -> dict[str, Estimate]:
    """Intervals for all measures; those over the same pools share their resamples."""
    alike: dict[bytes, list[str]] = {}
    for name, column in values.items():
        alike.setdefault(np.isnan(column).tobytes(), []).append(name)
    found: dict[str, Estimate] = {}
    for names in alike.values():
        table = np.column_stack([values[name] for name in names])
        table = table[~np.isnan(table[:, 0])]
        found.update(zip(names, estimates(table, confidence=confidence, seed=seed), strict=True))
    return {name: found[name] for name in values}
