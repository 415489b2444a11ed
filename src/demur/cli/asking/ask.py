"""`demur ask`: the best answer from files of one's own, or the reason why there is none."""

from __future__ import annotations

from typing import Annotated

import typer

from demur.cli.console import JsonFlag, warnings_noted
from demur.cli.options.documents import ExampleFlag, FromOption, KbOption, StemOption, asked_of
from demur.cli.options.gates import GateOption, RiskOption
from demur.cli.risk.promises import ExplainFlag


def ask(
    question: Annotated[
        str | None, typer.Argument(help="The question; - reads one per line from stdin.")
    ] = None,
    sources: FromOption = None,
    kb: KbOption = None,
    example: ExampleFlag = False,
    top: Annotated[int, typer.Option(min=1, help="How many passages to show.")] = 5,
    ranker: Annotated[
        str | None,
        typer.Option(
            help="Who scores the best 50 passages again: a name or a folder. bm25 leaves them as they were "
            "found; meaning finds by meaning too, and ranks by the chance of being right. If not said, that "
            "of the gate, or mini, which comes with demur."
        ),
    ] = None,
    reader: Annotated[
        str | None,
        typer.Option(
            help="Who quotes: a reader's folder, or none for sentences; if not said, the ranker if it can."
        ),
    ] = None,
    stem: StemOption = "english",
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="For the ranker meaning: read no more passages again than fit into 300ms, say. How many "
            "that is was measured here once.",
        ),
    ] = None,
    gate: GateOption = None,
    risk: RiskOption = None,
    lapse: Annotated[
        float,
        typer.Option(
            min=0, max=1, help="The share of a base's passages that may change before its promise lapses."
        ),
    ] = 0.2,
    explain: ExplainFlag = False,
    interactive: Annotated[
        bool, typer.Option("--interactive", "-i", help="Read once, then answer line by line.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Answer a question from files, with the words quoted that answer it; or say why there is no answer."""
    from demur.asking import Session
    from demur.cli.asking import questions
    from demur.cli.asking.shown import Shown
    from demur.errors import UsageError

    if question is None and not interactive:
        raise UsageError("there is no question; write one, or - for questions from stdin, or --interactive")
    if question is not None and not question.strip() and not interactive:
        raise UsageError("the question is empty; write one in quotes")
    with warnings_noted():
        found = asked_of(kb, sources, example)
        session = Session.open(found, ranker, gate, reader, risk, stem, budget, lapse)
    shown = Shown(session, top, explain, json)
    if question == "-" or interactive:
        questions.answer(shown, question if question != "-" else None, interactive)
    else:
        shown.answer(question or "")
