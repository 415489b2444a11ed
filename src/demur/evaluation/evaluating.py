"""From a ranker, ready scores, or a run with its qrels, to a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from demur.data import Pools, binary
from demur.data import relevant as data_relevant
from demur.errors import DataError, UsageError, count_of
from demur.evaluation.conventions import Convention
from demur.evaluation.conventions import convention as find_convention
from demur.evaluation.intervals import Estimate, estimates
from demur.evaluation.judged import Firsts, Judged, Qrels, Run
from demur.evaluation.measures import Measure, parse_measures
from demur.evaluation.ranked import rank
from demur.evaluation.report import Report
from demur.evaluation.selective.answered import Answered, Qualifier
from demur.evaluation.selective.bootstrap import measure_answers
from demur.evaluation.selective.measures import Selective, split
from demur.rankers import Ranker
from demur.rankers import ranker as find_ranker
from demur.types import FloatArray, Pool, listed

MEASURES = ("MAP", "RR", "P@1", "nDCG@10")
QUALIFIER = "margin"

Measures = str | Measure | Iterable[str | Measure]


def evaluate(
    ranker: Ranker | str | Iterable[Any],
    pools: Iterable[Pool],
    measures: Measures = MEASURES,
    convention: str | Convention = "fixed",
    no_positive: str | None = None,
    *,
    qualifier: str | Qualifier | None = None,
    confidences: ArrayLike | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    data: str = "",
    on_batch: Callable[[int], None] = lambda pairs: None,
) -> Report:
    """The report on a ranker, or on one array of scores per pool, over labelled pools.

    Measures count the labels of right answers that the pools name, see `demur.data.relevant`, and are then
    spelled with it: ``MAP(rel=2)``. AURC and the like need a confidence for each answer: a qualifier computes
    it (margin, if none is named), or `confidences` has a number for each pool. `confidence` is the level of
    the intervals.
    """
    lowest, pools = data_relevant(pools), listed(pools)
    wanted = [measure.from_label(lowest) for measure in parse_measures(measures)]
    if not split(wanted)[1] and (qualifier is not None or confidences is not None):
        what = f"{', '.join(map(str, wanted))} asks for no confidence"
        raise UsageError(f"{what}; leave out qualifier and confidences, or measure AURC, too")
    rules = find_convention(convention, no_positive)
    data = data or (pools.id if isinstance(pools, Pools) else "")
    if isinstance(ranker, str | Ranker):
        ready = find_ranker(ranker).prepare(pools)
        spec, judged = ready.spec, Judged.of_pools(pools, _scored(ready, pools, on_batch), data)
    else:
        spec, judged = "", Judged.of_pools(pools, _arrays(ranker), data)
    answered = None
    if any(isinstance(measure, Selective) for measure in wanted):
        found, source = _confidence(judged, pools, qualifier, confidences)
        rels = {measure.rel for measure in split(wanted)[1]}
        answered = Answered.of(judged, rules.rules_for("P"), found, rels, source)
    return _report(judged, wanted, rules, confidence, seed, spec, data, answered)


def _arrays(scores: Any) -> Iterable[Any]:
    """Scores that may be evaluated, or an error: what is no ranker either."""
    if isinstance(scores, Iterable):
        return scores
    what = f"what ranks is {type(scores).__name__}, neither a ranker, nor its name, nor scores"
    raise UsageError(f"{what}; derive it from demur.rankers.Ranker, or give an array for each pool")


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
    relevant: int = 1,
) -> Report:
    """The report on a run, `{query: {document: score}}`, over the queries that the qrels judge.

    Documents are `relevant` from this label on, for measures that do not say from which themselves.

    Retrieved documents without a judgement are not relevant, and stand in the ranking. A judged query that
    the run does not know counts as 0, or is skipped under `trec`, as trec_eval does without -c.
    """
    wanted = [measure.from_label(relevant) for measure in parse_measures(measures)]
    if selective := split(wanted)[1]:
        raise UsageError(
            f"{selective[0]} needs the confidence of each answer, and a run has none; evaluate a ranker, "
            "or pools with their scores"
        )
    rules = find_convention(convention, no_positive)
    return _report(Judged.of_run(run, qrels, data), wanted, rules, confidence, seed, name, data)


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


def _confidence(
    judged: Judged, pools: Sequence[Pool], qualifier: str | Qualifier | None, confidences: ArrayLike | None
) -> tuple[FloatArray, str]:
    """How sure the answer to each judged pool is, and the name of what says so."""
    kept = set(judged.ids)
    if confidences is not None:
        if qualifier is not None:
            raise UsageError("confidence comes from a qualifier or from numbers; give one of them")
        given = np.asarray(confidences, np.float64)
        if given.shape != (len(pools),):
            raise UsageError(
                f"confidences of shape {given.shape} for {count_of(len(pools), 'pool')}; give one for each"
            )
        return given[[pool.id in kept for pool in pools]], ""
    if qualifier is None or isinstance(qualifier, str):
        from demur.risk.qualifiers.base import qualifier as resolve_qualifier

        qualifier = resolve_qualifier(qualifier or QUALIFIER)
    found = qualifier
    scores = np.split(judged.scores, judged.bounds[1:-1])
    judged_pools = [pool for pool in binary(pools) if pool.id in kept]
    if found.needs_fitting:  # from the labels at hand, each pool by a fit that has not seen it
        return found.out_of_fold(judged_pools, scores), f"{found.spec} out of fold"
    return found.confidence(judged_pools, scores), found.spec


def _report(
    judged: Judged,
    measures: Sequence[Measure],
    convention: Convention,
    confidence: float,
    seed: int,
    ranker: str,
    data: str,
    answered: Answered | None = None,
) -> Report:
    per_pool, selective = split(measures)
    values = measured(judged, per_pool, convention)
    kept = np.full(len(judged.ids), answered is not None)
    for name, column in values.items():
        counts = ~np.isnan(column)
        if not counts.any():
            what = f"no pool counts for {name} under {convention.name}: none has a positive"
            fix = "check the labels, or count such pools as 0 with no_positive=zero (--no-positive zero)"
            raise DataError(what, path=data or None, fix=fix)
        kept |= counts
    found = _estimates(values, confidence, seed)
    if answered is not None:
        answers = {measure.rel: answered.answers(measure.rel) for measure in selective}
        over_all = measure_answers(selective, answers, confidence=confidence, seed=seed)
        found |= {str(measure): estimate for measure, estimate in zip(selective, over_all, strict=True)}
    return Report(
        measures={str(measure): found[str(measure)] for measure in measures},
        convention=convention.name,
        skipped=int((~kept).sum()) + judged.unjudged,
        ids=tuple(name for name, keep in zip(judged.ids, kept.tolist(), strict=True) if keep),
        values={name: column[kept] for name, column in values.items()},
        ranker=ranker,
        data=data,
        answered=answered,
        labels=tuple(hash for hash, keep in zip(judged.fingerprints, kept.tolist(), strict=True) if keep),
        scores=Firsts(judged, np.flatnonzero(kept)),
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
