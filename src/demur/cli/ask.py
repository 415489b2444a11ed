"""`demur ask`: the best answer from files of one's own, or the reason why there is none."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from demur.cli.console import JsonFlag, emit, stdout, tracked


def ask(
    question: Annotated[str, typer.Argument(help="The question; - reads one per line from stdin.")],
    sources: Annotated[
        list[Path] | None,
        typer.Option(
            "--from", metavar="FILE", help="A .md, .txt, .csv or .jsonl file or a folder; may be repeated."
        ),
    ] = None,
    example: Annotated[
        bool, typer.Option("--example", help="Ask the handbook that comes with demur.")
    ] = False,
    top: Annotated[int, typer.Option(min=1, help="How many passages to show.")] = 5,
    ranker: Annotated[
        str | None, typer.Option(help="A ranker that scores the best 50 passages again, such as overlap.")
    ] = None,
    stem: Annotated[
        str, typer.Option(metavar="LANGUAGE", help="The language whose word endings do not count, or none.")
    ] = "english",
    json: JsonFlag = False,
) -> None:
    """Answer a question from files: the best passage, its sentence quoted, or why there is no answer."""
    from demur.asking import Library, as_plain, read_documents
    from demur.cli.answers import show
    from demur.errors import UsageError

    if bool(sources) == example:
        raise UsageError("name files with --from, or ask the handbook that comes with demur with --example")
    if example:
        from demur.asking.example import passages

        library = Library(passages(), stem)
    else:
        library = Library(tracked(read_documents(sources or []), "reading", "passages"), stem)
    built = None if ranker is None else library.prepared(ranker)
    if question != "-":
        question = question.encode("utf-8", "replace").decode()  # what a shell passes may not be UTF-8
        result = library.ask(question, built, top=top)
        if json:
            emit(as_plain(result))
        else:
            show(result, stdout(), stem)
        return

    from json import dumps

    from demur.files import lines

    for _, line in lines("-"):
        result = library.ask(line, built, top=top)
        if json:
            sys.stdout.write(dumps(as_plain(result), ensure_ascii=False, allow_nan=False) + "\n")
        else:
            show(result, stdout(), stem)
        sys.stdout.flush()
