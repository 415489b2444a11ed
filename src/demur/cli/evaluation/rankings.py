"""What `demur evaluate` does for rankings: a ranker's, those that scores in a file make, or a TREC run."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from demur.cli.console import meter, note
from demur.cli.evaluation.pools import labels_of, read_pools, scores_of, tell_doubts
from demur.cli.evaluation.reports import skips_absent

if TYPE_CHECKING:
    from demur.evaluation import Report


class How(NamedTuple):
    """What is measured, by which convention, and how sure the intervals are."""

    measures: str
    convention: str
    no_positive: str | None
    confidence: float
    seed: int


def measure_run(run: str, qrels: str | None, data: str | None, read_as: str | None, how: How) -> Report:
    """The report of a TREC run, by the labels of its qrels or of the data."""
    from demur.data import relevant
    from demur.data.formats import read_qrels, read_run
    from demur.errors import count_of
    from demur.evaluation import evaluate_run

    pools = read_pools(data, read_as) if data is not None else []
    labels = labels_of(pools) if data is not None else read_qrels(qrels or "")
    found = read_run(run)
    lowest = relevant(pools)
    answerable = [query for query, judged in labels.items() if max(judged.values(), default=0) >= lowest]
    if absent := sum(query not in found for query in answerable):
        counted = "left out" if skips_absent(how.convention) else "counted as not answered"
        note(f"{run}: {count_of(absent, 'question')} with right answers not in it, {counted}")
    return evaluate_run(
        *(found, labels, how.measures, how.convention, how.no_positive),
        relevant=lowest,
        confidence=how.confidence,
        seed=how.seed,
        name=run,
        data=data or qrels or "",
    )


def measure_ranker(
    ranker: str | None, data: str, read_as: str | None, qualifier: str | None, how: How
) -> Report:
    """The report of a ranker on the data, or of the scores that the data hold."""
    from demur.errors import UsageError
    from demur.evaluation import evaluate, parse_measures
    from demur.evaluation.selective.measures import split

    if qualifier is not None and not split(parse_measures(how.measures))[1]:
        raise UsageError(
            "--qualifier says how sure an answer is, and no measure asks that; add one, such as -m MAP,AURC, "
            "or leave it out"
        )
    pools = read_pools(data, read_as)
    scored_by = scores_of(pools, data) if ranker is None else ranker
    if qualifier is not None:
        from demur.cli.evaluation.readers import refuse_labels

        refuse_labels(qualifier, pools, f"demur evaluate {data} --reader {{reader}} -m EM,F1,AURC")
    with meter("scoring", "pairs") as advance:
        report = evaluate(
            *(scored_by, pools, how.measures, how.convention, how.no_positive),
            qualifier=qualifier,
            confidence=how.confidence,
            seed=how.seed,
            data=data,
            on_batch=advance,
        )
    tell_doubts(pools, data)
    return report
