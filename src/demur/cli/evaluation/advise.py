"""`demur advise`: which method for the pools and labels at hand, measured on them where labels allow it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from demur.cli.console import JsonFlag, emit, harmless, note, stdout

if TYPE_CHECKING:
    from demur.advice import Advice, Suggestion


def advise(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA", help="Pools, labelled or not: a dataset such as wikiqa/dev, or a file."
        ),
    ],
    minutes: Annotated[float, typer.Option(help="Time limit for trying methods, in minutes.")] = 5.0,
    risk: Annotated[
        float | None,
        typer.Option(
            help="Also show how many questions a gate would answer at this risk of errors, such as 0.1."
        ),
    ] = None,
    save: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="Train the recommended ranker on all labels, and write it to this folder."
        ),
    ] = None,
    label_next: Annotated[
        int | None,
        typer.Option("--label-next", metavar="N", min=1, help="List the N questions to label next."),
    ] = None,
    also: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RANKER",
            help="Also try this: a ranker, a model's folder, or 'train TRAINER'; may be repeated.",
        ),
    ] = None,
    folds: Annotated[int, typer.Option(min=2, help="Number of folds of the cross-validation.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of folds, training and intervals.")] = 0,
    json: JsonFlag = False,
) -> None:
    """Recommend a ranker for these pools and their labels, with reasons; --save trains it."""
    from demur import advice
    from demur.cli.console import tracked, warnings_noted
    from demur.data import binary
    from demur.data import pools as pools_of
    from demur.store import check_saving

    with warnings_noted():
        if save is not None:
            check_saving(save)
        pools = list(tracked(binary(pools_of(data)), "reading", "pools"))
        if label_next is not None:
            _suggested(advice.suggest(pools, label_next, seed), json)
            return
        found = advice.advise(*(pools, minutes), risk=risk, folds=folds, seed=seed, more=also or (), say=note)
        if save is not None:
            advice.save(found, pools, save, seed)
            note(f"{found.method.name}{' trained and' if found.method.trains else ''} written to {save}")
    if json:
        emit(found.to_json())
    else:
        _show(found, data, save)


def _suggested(suggestions: list[Suggestion], json: bool) -> None:
    from dataclasses import asdict

    from demur.cli.console import say

    if json:
        emit([asdict(each) for each in suggestions])
        return
    for each in suggestions:
        say(f"{each.id}\t{' '.join(each.question.split())}")
    if not suggestions:
        note("there is no question left to label: all are labelled, or have fewer than two candidates")


def _show(found: Advice, data: str, saved: str | None) -> None:
    from rich.table import Table

    from demur.advice.table import COLUMNS

    console = stdout()
    if found.rows:
        table = Table(box=None, pad_edge=False)
        for name in (*COLUMNS, *(["answered"] if "risk" in found.facts else [])):
            left = name in ("method", "95 % interval")
            table.add_column(name, justify="left" if left else "right", no_wrap=name != "method")
        for row in found.rows:
            table.add_row(*row.cells())
        console.print(table)
        console.print()
    for line in _lines(found, data, saved):
        console.print(harmless(line), markup=False)


def _lines(found: Advice, data: str, saved: str | None) -> list[str]:
    lines = [found.recommendation, f"More labels: {found.labels}."]
    reasons: dict[str, list[str]] = {}
    for trial in found.skipped:
        reasons.setdefault(trial.skipped, []).append(trial.method.name)
    lines += [f"Not tried: {', '.join(names)} ({why})." for why, names in reasons.items()]
    if found.missing:
        names = ", ".join(method.name for method in found.missing)
        extras = " ".join(sorted({f"'demur[{method.extra}]'" for method in found.missing}))
        lines.append(f"Not installed: {names}; pip install {extras} adds them.")
    if found.rows:
        part = found.facts["measured_on"]
        some = f"{part:,} of {found.labelled:,}" if part < found.labelled else f"{part:,}"
        lines.append(
            f"Measured out of fold on {some} labelled pools of {data} ({found.informative:,} have a right "
            "and a wrong answer); convention fixed. Expected is MAP, with what the method got on other data "
            "counted in. Training is of one model; ms are for one question; memory, in MB, is all that a "
            "process needs to rank; disk, in MB, is the model's files."
        )
    else:
        lines.append("Which questions to label first: add --label-next 20.")
    if "risk" in found.facts and not found.rows:
        lines.append("Without labels, how many questions could be answered at that risk is unknown.")
    elif "risk" in found.facts:
        lines.append(
            f"Answered is the share of questions that a gate lets pass which keeps wrong answers to "
            f"{100 * found.facts['risk']:g} % with 95 % confidence; none: the labels carry no such promise."
        )
    return [*lines, _how(found, saved)]


def _how(found: Advice, saved: str | None) -> str:
    if saved is not None:
        return f"To use it: --ranker {saved}"
    if found.method.trains:
        return "To use it, train it with --save DIR, and name that folder as the ranker."
    spec = found.method.spec
    return f"To use it: --ranker {spec}" if spec.isalnum() else f"To use it: --ranker '{spec}'"
