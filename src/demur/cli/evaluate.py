"""`demur evaluate`: measures with intervals, for a ranker, for scored pools, or for a run and its qrels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from demur.cli.console import JsonFlag, emit, meter, note, stdout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from demur.evaluation import Report
    from demur.types import Pool


def evaluate(
    data: Annotated[
        str | None, typer.Argument(metavar="DATA", help="A dataset such as wikiqa/test, or a file of pools.")
    ] = None,
    ranker: Annotated[
        str | None, typer.Option(help="A ranker such as bm25; without one, DATA must hold scores.")
    ] = None,
    run: Annotated[str | None, typer.Option(help="A TREC run to measure in place of a ranker.")] = None,
    qrels: Annotated[str | None, typer.Option(help="Its TREC qrels, in place of DATA's labels.")] = None,
    measures: Annotated[
        str, typer.Option("-m", "--measures", help="Measures, with commas between them.")
    ] = "MAP,RR,P@1,nDCG@10",
    convention: Annotated[
        str, typer.Option(help="fixed, semeval10, scan, nn4nqa, matchzoo or trec.")
    ] = "fixed",
    no_positive: Annotated[
        str | None, typer.Option(help="Pools without a positive: skip or zero; the convention says if not.")
    ] = None,
    qualifier: Annotated[
        str | None,
        typer.Option(help="What says how sure an answer is, for AURC and the like; margin, if not said."),
    ] = None,
    confidence: Annotated[float, typer.Option(help="Of the intervals.")] = 0.95,
    seed: Annotated[int, typer.Option(help="Of the bootstrap behind the intervals.")] = 0,
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="Write the report as JSON too, for demur compare.")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Measure how well candidates are ranked, with intervals and the convention named."""
    from demur.errors import UsageError
    from demur.evaluation import evaluate as measure
    from demur.evaluation import evaluate_run

    if run is not None:
        from demur.data.formats import read_qrels, read_run

        if qualifier is not None:
            raise UsageError("a run does not say how sure it is; leave --qualifier out, or name a --ranker")
        if ranker is not None or (data is None) == (qrels is None):
            raise UsageError("a run needs labels and no ranker; name either --qrels FILE or DATA")
        judged = _labels(data) if data is not None else read_qrels(qrels or "")
        scores = read_run(run)
        report = evaluate_run(
            *(scores, judged, measures, convention, no_positive),
            confidence=confidence,
            seed=seed,
            name=run,
            data=data or qrels or "",
        )
    elif data is None or qrels is not None:
        raise UsageError("nothing to measure; name DATA and --ranker R, or --run FILE and --qrels FILE")
    else:
        from demur.data import pools as load_pools

        pools = load_pools(data)
        with meter("scoring", "pairs") as advance:
            report = measure(
                *(ranker or _scores(pools, data), pools, measures, convention, no_positive),
                qualifier=qualifier,
                confidence=confidence,
                seed=seed,
                on_batch=advance,
            )
    if output is not None:
        report.write(output)
        note(f"report written to {output}")
    if json:
        emit(report.to_json())
    elif output != "-":
        _show(report)


def _scores(pools: Sequence[Pool], data: str) -> list[list[float]]:
    """The scores that candidates bring along, as `demur score` writes them."""
    from demur.errors import UsageError

    if any("score" not in candidate.extra for pool in pools for candidate in pool.candidates):
        raise UsageError(f"{data} holds no scores; name a --ranker, or score it first with demur score")
    return [[candidate.extra["score"] for candidate in pool.candidates] for pool in pools]


def _labels(data: str) -> dict[str, dict[str, int]]:
    """The labels of pools as judgements, for a run over them."""
    from demur.data import pools as load_pools

    return {
        pool.id: {c.id: c.label for c in pool.candidates if c.label is not None} for pool in load_pools(data)
    }


def _show(report: Report) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("measure")
    table.add_column("mean", justify="right")
    table.add_column(f"{100 * report.confidence:g}% interval")
    table.add_column("pools", justify="right")
    for name, estimate in report.measures.items():
        interval = f"{estimate.low:.4f} – {estimate.high:.4f}"
        table.add_row(name, f"{estimate.mean:.4f}", interval, f"{report.counted[name]:,}")
    console = stdout()
    console.print(table)
    console.print(f"\n{report.ranker or 'scores'} on {report.data}", markup=False)
    skipped = f"{report.skipped:,} skipped" + (" (no positive, or not judged)" if report.skipped else "")
    console.print(f"convention {report.convention}: {report.pools:,} pools, {skipped}", markup=False)
    if report.answered is not None:
        outcomes = report.answered.outcomes
        right, wrong, none = (f"{outcomes[name]:,.1f}".removesuffix(".0") for name in ("AD+", "AD-", "UD"))
        console.print(
            f"sure by {report.answered.qualifier}: {right} top candidates right, {wrong} wrong, "
            f"{none} wrong where none is right",
            markup=False,
        )
