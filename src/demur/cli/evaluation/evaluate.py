"""`demur evaluate`: measures with intervals, for a ranker, a reader, scored pools, or a run and its qrels."""

from __future__ import annotations

from typing import Annotated

import typer

from demur.cli.console import JsonFlag

MEASURES = "MAP,RR,P@1,nDCG@10"


def evaluate(
    data: Annotated[
        str | None, typer.Argument(metavar="DATA", help="A dataset such as wikiqa/test, or a file of pools.")
    ] = None,
    read_as: Annotated[
        str | None,
        typer.Option("--format", help="The format of DATA, if its name does not show it."),
    ] = None,
    ranker: Annotated[
        str | None, typer.Option(help="A ranker's name or folder; without one, DATA must contain scores.")
    ] = None,
    reader: Annotated[
        str | None,
        typer.Option(help="mini, a reader's folder, or a Hugging Face id: EM, F1, AURC, … of its quotes."),
    ] = None,
    answers: Annotated[
        str | None, typer.Option(help="A JSON file of question ids and answers to evaluate, as for SQuAD.")
    ] = None,
    run: Annotated[str | None, typer.Option(help="A TREC run to evaluate, in place of a ranker.")] = None,
    qrels: Annotated[str | None, typer.Option(help="Its TREC qrels, in place of DATA's labels.")] = None,
    measures: Annotated[
        str, typer.Option("-m", "--measures", help="Measures, separated by commas.")
    ] = MEASURES,
    convention: Annotated[
        str,
        typer.Option(help="How ties and cut-offs count: fixed, semeval10, scan, nn4nqa, matchzoo or trec."),
    ] = "fixed",
    no_positive: Annotated[
        str | None,
        typer.Option(
            help="Pools without a right answer: skip, or zero (they count as 0). Default: by the convention."
        ),
    ] = None,
    qualifier: Annotated[
        str | None,
        typer.Option(
            help="What computes the confidence of an answer, for AURC and the like. Default: margin. "
            "With --reader: proba, the probability of the quote, or kept, what calibrate --doubt has trained."
        ),
    ] = None,
    confidence: Annotated[float, typer.Option(help="Confidence level of the intervals.")] = 0.95,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the intervals.")] = 0,
    suite: Annotated[
        str | None,
        typer.Option(
            help="robust: typos, repeated questions and other wordings. Several rankers are separated by ;."
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Number of random seeds of the suite.")] = 5,
    cases: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="A B",
            help="Show where two rankers differ, and count their errors by group. A and B are rankers, or "
            "reports that demur evaluate -o wrote.",
        ),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="With --cases: how many questions to show for each.")] = 5,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            help="Also write the report as JSON, for demur compare or --cases; with --suite, a folder.",
        ),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Evaluate rankings (MAP, RR, …) or quoted answers (EM, F1, …), with confidence intervals."""
    from demur.errors import UsageError
    from demur.files import check_apart, check_writable

    if not 0 < confidence < 1:
        raise UsageError(f"--confidence {confidence:g} is not between 0 and 1; write one, such as 0.95")
    if output not in (None, "-") and suite is None:  # before the work
        check_apart(output, *(each for each in (data, answers, run, qrels, *(cases or ())) if each))
        check_writable(output)
    if suite is not None or cases is not None:
        unsaid = {
            "--reader": reader is None,
            "--answers": answers is None,
            "--run": run is None,
            "--qrels": qrels is None,
            "--measures": measures == MEASURES,
            "--convention": convention == "fixed",
            "--no-positive": no_positive is None,
            "--qualifier": qualifier is None,
            "--confidence": confidence == 0.95,
            "--seed": seed == 0,
        }
        what = "a suite has its own measures and convention"
        if cases is not None:
            what = "--cases takes only DATA"
            unsaid |= {"--ranker": ranker is None, "--suite": suite is None, "--seeds": seeds == 5}
        if said := [option for option, missing in unsaid.items() if not missing]:
            raise UsageError(f"{what}; leave out {', '.join(said)}")
    if cases is None and top != 5:
        raise UsageError("--top is for --cases; leave it out")
    if suite is None and seeds != 5:
        raise UsageError("--seeds is for --suite; leave it out")
    if cases is not None:
        from demur.cli.evaluation.cases import measure_cases

        measure_cases(cases, data, read_as, top, output, json)
        return
    if suite is not None:
        from demur.cli.evaluation.suite import measure_suite

        measure_suite(suite, data, read_as, ranker, seeds, output, json)
        return
    if data is None and read_as is not None:
        raise UsageError("--format is the format of DATA, and there is none; leave it out")
    if reader is not None or answers is not None:
        from demur.cli.evaluation.pools import read_pools
        from demur.cli.evaluation.readers import measure_reader

        if data is None or any(each is not None for each in (ranker, run, qrels, no_positive)):
            raise UsageError(
                "--reader and --answers take only DATA, such as squad/2.0/dev; leave the other options out"
            )
        if convention != "fixed":
            raise UsageError("quotes are evaluated as for SQuAD; leave out --convention")
        wanted = "" if measures == MEASURES else measures
        pools = read_pools(data, read_as)
        measure_reader(pools, data, reader, answers, wanted, qualifier, confidence, seed, output, json)
        return
    from demur.cli.evaluation import rankings
    from demur.cli.evaluation.reports import deliver, show

    how = rankings.How(measures, convention, no_positive, confidence, seed)
    if run is not None:
        if qualifier is not None:
            raise UsageError("a run has no confidence; leave --qualifier out, or name a --ranker")
        if ranker is not None or (data is None) == (qrels is None):
            raise UsageError("a run needs labels and no ranker; name either --qrels FILE or DATA")
        report = rankings.measure_run(run, qrels, data, read_as, how)
    elif qrels is not None and data is not None:
        raise UsageError("--qrels holds the labels of a --run; name that, or leave --qrels out")
    elif data is None or qrels is not None:
        raise UsageError("nothing to evaluate; name DATA and --ranker R, or --run FILE and --qrels FILE")
    else:
        report = rankings.measure_ranker(ranker, data, read_as, qualifier, how)
    deliver(report, report, output, json, show)
