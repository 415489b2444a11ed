"""`demur ask`: the best answer from files of one's own, or the reason why there is none."""

from __future__ import annotations

from typing import Annotated

import typer

from demur.cli.console import JsonFlag, warnings_noted
from demur.cli.options.documents import ExampleFlag, FromOption, KbOption, StemOption, asked_of
from demur.cli.options.gates import GateOption, LapseOption, RiskOption
from demur.cli.risk.promises import ExplainFlag


def ask(
    question: Annotated[
        str | None, typer.Argument(help="The question; - reads one per line from stdin.")
    ] = None,
    sources: FromOption = None,
    kb: KbOption = None,
    example: ExampleFlag = False,
    top: Annotated[int, typer.Option(min=1, help="Number of passages to show; with a gate, 50 at most.")] = 5,
    ranker: Annotated[
        str | None,
        typer.Option(
            help="The ranker that scores passages: a name or a folder. bm25 keeps the order of the search "
            "by words; meaning searches by words and by meaning, and ranks by the probability of being "
            "right. Default: the ranker of the gate, else meaning."
        ),
    ] = None,
    reader: Annotated[
        str | None,
        typer.Option(
            help="The reader that quotes the answer: a folder. none: quote whole sentences. Default: the "
            "ranker, if it can quote."
        ),
    ] = None,
    stem: StemOption = "english",
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="For the ranker meaning: a time limit for its model, such as 300ms; it then reads fewer "
            "passages. The speed of this machine is measured once.",
        ),
    ] = None,
    gate: GateOption = None,
    risk: RiskOption = None,
    lapse: LapseOption = None,
    explain: ExplainFlag = False,
    interactive: Annotated[
        bool,
        typer.Option("--interactive", "-i", help="Load the files once, then answer a question per line."),
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Answer a question from files and quote the answer, or say why there is none."""
    from demur.asking import Session
    from demur.cli.asking import questions
    from demur.cli.asking.shown import Shown
    from demur.errors import UsageError

    if question is None and not interactive:
        raise UsageError("there is no question; write one, or - for questions from stdin, or --interactive")
    if question is not None and not question.strip() and not interactive:
        raise UsageError("the question is empty; write one in quotes")
    if "-" in map(str, sources or ()) and (question == "-" or interactive):
        raise UsageError("stdin cannot be both the questions and what is asked; name a file with --from")
    with warnings_noted():
        found = asked_of(kb, sources, example)
        session = Session.open(found, ranker, gate, reader, risk, stem, budget, lapse)
    shown = Shown(session, top, explain, json)
    if question == "-" or interactive:
        questions.answer(shown, question if question != "-" else None, interactive)
    else:
        shown.answer(question or "")
