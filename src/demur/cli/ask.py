"""`demur ask`: the best answer from files of one's own, or the reason why there is none."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from demur.cli.console import JsonFlag, emit, stdout, warnings_noted
from demur.cli.libraries import ExampleFlag, FromOption, StemOption, library
from demur.cli.promises import ExplainFlag, GateOption


def ask(
    question: Annotated[str, typer.Argument(help="The question; - reads one per line from stdin.")],
    sources: FromOption = None,
    example: ExampleFlag = False,
    top: Annotated[int, typer.Option(min=1, help="How many passages to show.")] = 5,
    ranker: Annotated[
        str | None,
        typer.Option(help="A ranker that scores the best 50 passages again: a name or a folder."),
    ] = None,
    stem: StemOption = "english",
    gate: GateOption = None,
    explain: ExplainFlag = False,
    json: JsonFlag = False,
) -> None:
    """Answer a question from files: the best passage, its sentence quoted, or why there is no answer."""
    from demur.asking import as_plain
    from demur.cli.answers import show
    from demur.cli.promises import gate_for, second_ranker_of

    with warnings_noted():
        found = library(sources, example, stem)
    opened = gate_for(gate, ranker, of_files=True)
    if opened is not None and ranker is None:
        ranker = second_ranker_of(opened, gate)
    built = None if ranker is None else found.prepared(ranker)
    if opened is not None:
        opened.check_ranker(found.search(built))  # before any question is read
    if question != "-":
        question = question.encode("utf-8", "replace").decode()  # what a shell passes may not be UTF-8
        result = found.ask(question, built, opened, top)
        if json:
            emit(as_plain(result))
        else:
            show(result, stdout(), stem, opened, explain)
        return

    from demur.files import lines

    for _, line in lines("-"):
        result = found.ask(line, built, opened, top)
        if json:
            emit(as_plain(result), indent=None)
        else:
            show(result, stdout(), stem, opened, explain)
        sys.stdout.flush()
