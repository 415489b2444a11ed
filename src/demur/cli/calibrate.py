"""`demur calibrate`: a gate with a promise, what labels could promise, or a gate held against new data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from demur.cli.console import JsonFlag, emit, meter, note, stdout
from demur.cli.libraries import ExampleFlag, FromOption, StemOption, asked, library
from demur.cli.promises import write_sets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from demur.errors import NoThreshold
    from demur.rankers import Ranker
    from demur.risk.checking import Check
    from demur.risk.gate import Gate
    from demur.risk.planning import Plan
    from demur.types import Pool

FAILED = 1


def calibrate(
    ranker: Annotated[
        str,
        typer.Argument(metavar="RANKER", help="A ranker such as bm25, or a folder; with --from also none."),
    ],
    data: Annotated[str, typer.Argument(metavar="DATA", help="Labelled pools: a dataset or a file.")],
    risk: Annotated[float, typer.Option(help="The share of answers that may be wrong.")] = 0.1,
    confidence: Annotated[float, typer.Option(help="How sure the promise is to be.")] = 0.95,
    qualifier: Annotated[str, typer.Option(help="What says how sure the ranker may be.")] = "margin",
    method: Annotated[
        str, typer.Option(help="ltt or bonferroni; others break their word and are there to compare with.")
    ] = "ltt",
    grid: Annotated[
        str | None, typer.Option(help="Other pools, unlabelled, that make the thresholds to test.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Which labelled pools make the thresholds, without --grid.")] = 0,
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="Where to write the gate; in a folder, gate.json.")
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Show what the labels could promise.")] = False,
    check: Annotated[
        str | None, typer.Option(metavar="GATE", help="Hold this gate against DATA, labelled or not.")
    ] = None,
    sets: Annotated[
        float | None, typer.Option("--set", metavar="RATE", help="Write answer sets, say 0.9, not a gate.")
    ] = None,
    sources: FromOption = None,
    example: ExampleFlag = False,
    stem: StemOption = "english",
    json: JsonFlag = False,
) -> None:
    """Find the threshold that keeps wrong answers to a risk, with a promise; exit with 1 if there is none."""
    from demur import risk as room
    from demur.data import pools as load_pools
    from demur.errors import NoThreshold, UsageError

    if plan and check is not None:
        raise UsageError("--plan and --check are two questions; ask one of them")
    if sets is not None:
        if plan or check is not None or sources or example:
            raise UsageError(
                "--set is for given candidates, and neither planned nor checked; leave the rest out"
            )
        write_sets(ranker, data, sets, output, json)
        return
    pools: Sequence[Pool] = load_pools(data)
    others: Sequence[Pool] | None = None if grid is None else load_pools(grid)
    asker: str | Ranker = ranker
    if sources or example:
        asker = library(sources, example, stem).search(None if ranker == "none" else ranker)
        pools, others = asked(asker, pools), others and asked(asker, others)
    settings: dict[str, Any] = {"qualifier": qualifier, "method": method, "seed": seed, "grid": others}
    with meter("scoring", "pairs") as advance:
        if check is not None:
            checked = room.check(room.Gate.load(check), asker, pools, on_batch=advance)
        elif plan:
            planned = room.plan(asker, pools, confidence, on_batch=advance, **settings)
        else:
            try:
                gate = room.calibrate(asker, pools, risk, confidence, data=data, on_batch=advance, **settings)
            except NoThreshold as error:
                _refuse(error, json)
    if check is not None:
        _checked(checked, json)
    elif plan:
        _planned(planned, json)
    else:
        _written(gate, _place(ranker, output), json)


def _refuse(error: NoThreshold, json: bool) -> NoReturn:
    """Nothing was misused, there is just no gate: that is a 1, and a script can tell it from a mistake."""
    if json:
        reached = {"lowest_risk": error.lowest, "more_labels": error.more}
        emit({"threshold": None, "reason": str(error), **reached})
    note(f"demur: {error}")
    raise typer.Exit(FAILED)


def _place(ranker: str, output: str | None) -> str | None:
    """The file for the gate: as asked, or beside the ranker if that is a folder."""
    from demur.rankers.opening import folder_of

    folder = None if ranker == "none" else folder_of(ranker)
    chosen = output or (None if folder is None else str(folder))
    return (
        str(Path(chosen) / "gate.json")
        if chosen not in (None, "-") and Path(chosen or "").is_dir()
        else chosen
    )


def _written(gate: Gate, place: str | None, json: bool) -> None:
    from demur.risk.certificate import percent

    if place is not None:
        gate.save(place)
    if json:
        emit(
            {
                "threshold": gate.plain_threshold,
                "promise": gate.promise,
                "certificate": dict(gate.certificate),
            }
        )
    elif place != "-":
        found, console = gate.certificate, stdout()
        passing = "none, all pass" if gate.plain_threshold is None else f"{gate.threshold:.6g}"
        share = percent(round(found.accepted / found.questions, 3))
        lines = [
            gate.promise,
            "",
            f"threshold  {passing}, by {found.qualifier}",
            f"answered   {found.accepted:,} of {found.questions:,} ({share}), {found.errors:,} of them wrong",
            f"bound      {percent(round(found.bound, 4))} wrong, by the test it passed ({found.method})",
            f"ranker     {found.ranker}",
        ]
        for line in lines:
            console.print(line, markup=False)
    note(f"gate written to {place}" if place is not None else "the gate is not kept; -o gate.json writes it")


def _planned(plan: Plan, json: bool) -> None:
    from dataclasses import asdict

    from rich.table import Table

    from demur.risk.certificate import percent

    if json:
        emit(asdict(plan))
        return
    table = Table(box=None, pad_edge=False)
    for name, justify in (
        ("risk", "right"),
        ("answered", "right"),
        ("threshold", "right"),
        ("labels", "left"),
    ):
        table.add_column(name, justify="right" if justify == "right" else "left")
    for level in plan.levels:
        if level.coverage is not None:
            threshold = "all pass" if level.threshold is None else f"{level.threshold:.4g}"
            table.add_row(percent(level.risk), percent(round(level.coverage, 3)), threshold, "enough")
        else:
            more = (
                "too many are wrong at every threshold"
                if level.more is None
                else f"about {_round(level.more)} more"
            )
            table.add_row(percent(level.risk), "–", "–", more)
    console = stdout()
    console.print(table)
    told = f"{plan.questions:,} labelled questions, {plan.tested:,} of them tested on"
    console.print(f"\n{plan.ranker}, {plan.qualifier}: {told}", markup=False)
    console.print(f"Each risk by itself, with {percent(plan.confidence)} confidence.", markup=False)


def _round(number: int) -> str:
    """A forecast has two digits at best."""
    return f"{float(f'{number:.2g}'):,.0f}"


def _checked(check: Check, json: bool) -> None:
    from dataclasses import asdict

    if json:
        emit({**asdict(check), "contradicted": check.contradicted, "shifted": check.shifted})
    else:
        for sentence in check.sentences:
            stdout().print(sentence, markup=False)
    if check.contradicted or check.shifted:
        raise typer.Exit(FAILED)
