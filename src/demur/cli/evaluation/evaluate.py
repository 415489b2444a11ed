"""`demur evaluate`: measures with intervals, for a ranker, a reader, scored pools, or a run and its qrels."""

from __future__ import annotations

from json import dumps
from typing import TYPE_CHECKING, Annotated

import typer

from demur.cli.console import JsonFlag, emit, meter, note, stdout, tracked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from demur.evaluation import Report
    from demur.types import Candidate, Pool

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
        str | None, typer.Option(help="A ranker's name or folder; without one, DATA must hold scores.")
    ] = None,
    reader: Annotated[
        str | None,
        typer.Option(
            help="mini, a reader's folder, or a Hugging Face id: EM, F1, AURC, … of what it quotes."
        ),
    ] = None,
    answers: Annotated[
        str | None, typer.Option(help="A JSON file of question ids and answers to measure, as SQuAD has it.")
    ] = None,
    run: Annotated[str | None, typer.Option(help="A TREC run to measure in place of a ranker.")] = None,
    qrels: Annotated[str | None, typer.Option(help="Its TREC qrels, in place of DATA's labels.")] = None,
    measures: Annotated[
        str, typer.Option("-m", "--measures", help="Measures, with commas between them.")
    ] = MEASURES,
    convention: Annotated[
        str, typer.Option(help="fixed, semeval10, scan, nn4nqa, matchzoo or trec.")
    ] = "fixed",
    no_positive: Annotated[
        str | None, typer.Option(help="Pools without a positive: skip or zero; the convention says if not.")
    ] = None,
    qualifier: Annotated[
        str | None,
        typer.Option(
            help="What gives the confidence of an answer, for AURC and the like; default: margin. "
            "With --reader: proba, or kept, the doubt in its folder."
        ),
    ] = None,
    confidence: Annotated[float, typer.Option(help="How sure the intervals are; 0.95 is 95 %.")] = 0.95,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the intervals.")] = 0,
    suite: Annotated[
        str | None,
        typer.Option(help="robust: typos, repeated questions and other wordings; put ; between rankers."),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="How often the suite draws its changes.")] = 5,
    output: Annotated[
        str | None,
        typer.Option(
            "-o", "--output", help="Write the report as JSON too, for demur compare; of a suite, a folder."
        ),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Measure how well candidates are ranked, or answers quoted: with intervals, the convention named."""
    from demur.data import relevant
    from demur.errors import UsageError
    from demur.evaluation import evaluate as measure
    from demur.evaluation import evaluate_run

    if suite is not None:
        others = {
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
        if said := [option for option, unsaid in others.items() if not unsaid]:
            raise UsageError(f"a suite has measures and a convention of its own; leave out {', '.join(said)}")
        _suite(suite, data, read_as, ranker, seeds, output, json)
        return
    if data is None and read_as is not None:
        raise UsageError("--format says how to read DATA, and there is none; leave it out")
    if reader is not None or answers is not None:
        from demur.cli.evaluation.readers import measure as measure_quoted

        if data is None or any(each is not None for each in (ranker, run, qrels, no_positive)):
            raise UsageError("--reader and --answers go with DATA alone, such as squad/2.0/dev")
        if convention != "fixed":
            raise UsageError("quotes are measured as SQuAD has it; leave out --convention")
        wanted = "" if measures == MEASURES else measures
        pools = _read(data, read_as)
        measure_quoted(pools, data, reader, answers, wanted, qualifier, confidence, seed, output, json)
        return
    if run is not None:
        from demur.data.formats import read_qrels, read_run

        if qualifier is not None:
            raise UsageError("a run does not say how sure it is; leave --qualifier out, or name a --ranker")
        if ranker is not None or (data is None) == (qrels is None):
            raise UsageError("a run needs labels and no ranker; name either --qrels FILE or DATA")
        pools = _read(data, read_as) if data is not None else []
        judged = _labels(pools) if data is not None else read_qrels(qrels or "")
        scores = read_run(run)
        report = evaluate_run(
            *(scores, judged, measures, convention, no_positive),
            relevant=relevant(pools),
            confidence=confidence,
            seed=seed,
            name=run,
            data=data or qrels or "",
        )
    elif data is None or qrels is not None:
        raise UsageError("nothing to measure; name DATA and --ranker R, or --run FILE and --qrels FILE")
    else:
        pools = _read(data, read_as)
        if qualifier is not None:
            from demur.cli.evaluation.readers import refuse_labels

            refuse_labels(qualifier, pools, f"demur evaluate {data} --reader {{reader}} -m EM,F1,AURC")
        with meter("scoring", "pairs") as advance:
            report = measure(
                *(ranker or _scores(pools, data), pools, measures, convention, no_positive),
                qualifier=qualifier,
                confidence=confidence,
                seed=seed,
                data=data,
                on_batch=advance,
            )
    if output is not None:
        report.write(output)
    if output == "-":
        return  # that is the same JSON
    if output is not None:
        note(f"report written to {output}")
    if json:
        emit(report.to_json())
    else:
        show(report)


def _suite(
    suite: str,
    data: str | None,
    read_as: str | None,
    ranker: str | None,
    seeds: int,
    output: str | None,
    json: bool,
) -> None:
    """Run a suite over rankers and show what it found."""
    from itertools import groupby
    from pathlib import Path

    from rich.table import Table

    from demur.errors import UnknownName, UsageError, require
    from demur.evaluation.robust import robustness, write
    from demur.evaluation.robust.page import HEADS, TITLES, cells, families
    from demur.experiments.results import provenance
    from demur.files import written
    from demur.rankers import ranker as resolve_ranker
    from demur.specs import listed

    if suite != "robust":
        raise UnknownName("suite", suite, ["robust"])
    if data is None or ranker is None:
        raise UsageError("a suite needs DATA with labels, and --ranker R")
    rankers = {spec: resolve_ranker(spec) for spec in listed(ranker)}
    if output is not None:  # before the work
        require("matplotlib", extra="report")
        if Path(output).is_file():
            raise UsageError(f"{output} is a file; name a folder for the suite's page and picture")
        with written(output):
            Path(output).mkdir(parents=True, exist_ok=True)
    with meter("changing texts", "conditions") as advance:
        found = robustness(rankers, _read(data, read_as), seeds=seeds, data=data, on_condition=advance)
    if output is not None:
        known = {spec: each.fingerprint for spec, each in rankers.items()}
        note(f"page written to {write(found, output, {**provenance.made(), 'fingerprints': known})}")
    if json:
        emit(found.to_json())
        return
    console = stdout()
    for family, rows in families(found.findings):
        for name, of_one in groupby(rows, key=lambda one: one.ranker):
            title = TITLES[family] + (f": {name}" if len(rankers) > 1 else "")
            table = Table(title=title, title_justify="left", box=None, pad_edge=False)
            for place, head in enumerate(HEADS):
                table.add_column(head, justify="right" if place > 1 else "left", no_wrap=place > 0)
            for one in of_one:
                table.add_row(*cells(one))
            console.print(table)
            console.print()
    said = f"{found.pools:,} pools of {data}, {seeds} seeds; 95 % intervals, p after Holm"
    console.print(said, markup=False)


def _read(data: str, read_as: str | None) -> Sequence[Pool]:
    """The pools of a dataset or file; reading a large file shows how far it is."""
    from demur.data import Pools, formats
    from demur.data import pools as find

    if read_as is not None:
        return list(tracked(formats.read(data, read_as), "reading", "pools"))
    found = find(data)
    held = list(tracked(found.stream(), "reading", "pools"))
    return Pools(found.id, found.files, lambda: iter(held), found.relevant)


def _scores(pools: Sequence[Pool], data: str) -> list[list[float]]:
    """The scores that candidates bring along, as `demur score` writes them."""
    from demur.errors import UsageError

    if not any("score" in candidate.extra for pool in pools for candidate in pool.candidates):
        raise UsageError(f"{data} holds no scores; name a --ranker, or score it first with demur score")
    return [[_score(candidate, pool, data) for candidate in pool.candidates] for pool in pools]


def _score(candidate: Candidate, pool: Pool, data: str) -> float:
    """The score of a candidate. A text or a truth value is none, even if it could be read as a number."""
    from contextlib import suppress

    from demur.errors import DataError

    value = candidate.extra.get("score")
    if isinstance(value, int | float) and value == value and type(value) is not bool:
        with suppress(OverflowError):  # a whole number of 400 digits
            return float(value)
    where = f"candidate {candidate.id!r} in pool {pool.id!r}"
    if "score" not in candidate.extra:
        what = f"{where} has no score, though others have"
    else:
        what = f"the score of {where} is {dumps(value)[:60]}, not a number"
    raise DataError(what, path=data, fix="write a number, or name a --ranker to score it anew")


def _labels(pools: Sequence[Pool]) -> dict[str, dict[str, int]]:
    """The labels of pools as judgements, for a run over them."""
    return {pool.id: {c.id: c.label for c in pool.candidates if c.label is not None} for pool in pools}


def show(report: Report, answers: str = "top candidates") -> None:
    """Print a report's measures, what they are of, and their convention; `answers` are what was judged."""
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
            f"sure by {report.answered.qualifier}: {right} {answers} right, {wrong} wrong, "
            f"{none} wrong where none is right",
            markup=False,
        )
