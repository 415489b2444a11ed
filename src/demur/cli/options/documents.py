"""Files of one's own as a library: the same options for `ask` and `calibrate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from demur.cli.console import note, one_line, tracked

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from demur.asking import Passage
    from demur.asking.read_before import Files
    from demur.asking.searching import Search
    from demur.kb.folder import KnowledgeBase
    from demur.types import Pool


def named_path(text: str) -> Path:
    """A file or folder that somebody names; no name at all would be the folder one is in."""
    if not text:
        raise typer.BadParameter("the name of a file is empty; name a file or folder, or . for this folder")
    return Path(text)


FromOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--from",
        parser=named_path,
        metavar="FILE",
        help="A .md, .txt, .csv or .jsonl file, with demur[formats] also .html, .docx or .pdf, all also "
        "gzipped (.gz), or a folder; may be repeated.",
    ),
]
KbOption = Annotated[
    str | None,
    typer.Option("--kb", metavar="BASE", help="A knowledge base, made by demur kb, in place of files."),
]
ExampleFlag = Annotated[bool, typer.Option("--example", help="Ask the handbook that comes with demur.")]
StemOption = Annotated[
    str,
    typer.Option(
        metavar="LANGUAGE",
        help="The language of the texts: the search ignores its word endings. none: it does not.",
    ),
]


def documents(sources: list[Path] | None, example: bool) -> Files | Iterable[Passage]:
    """Some files, which are read when their passages are wanted, or the passages of the handbook."""
    from demur.asking.read_before import Files
    from demur.errors import UsageError

    if bool(sources) == example:
        what = "there is nothing to look in" if not example else "files and the handbook were both named"
        raise UsageError(f"{what}; name files with --from, a knowledge base with --kb, or say --example")
    if example:
        from demur.asking.example import passages

        return passages()
    return Files(sources or [], lambda passages: tracked(passages, "reading", "passages"))


def asked_of(
    base: str | None, sources: list[Path] | None, example: bool
) -> Files | Iterable[Passage] | KnowledgeBase:
    """What is asked: a knowledge base, files, or the passages of the handbook."""
    from demur.errors import UsageError
    from demur.kb.folder import KnowledgeBase

    if base is None:
        return documents(sources, example)
    if sources or example:
        raise UsageError("ask a knowledge base with --kb, or files with --from, or --example; not several")
    opened = KnowledgeBase(base)
    opened.refresh()
    return opened


def searched(base: str | None, sources: list[Path] | None, example: bool, stem: str, ranker: str) -> Search:
    """What a gate for files is made for: a base or files, and the ranker that scores again what is found."""
    from demur.asking import Library
    from demur.asking.session import searching
    from demur.cli.console import warnings_noted
    from demur.kb.folder import KnowledgeBase

    with warnings_noted():
        found = asked_of(base, sources, example)
        return searching(found if isinstance(found, KnowledgeBase) else Library(found, stem), ranker)


def kept_in(search: Search) -> tuple[list[Pool], list[Pool]]:
    """The labelled questions of a knowledge base that count for a promise, and those that may fit for it."""
    from demur.asking.gates.labels import fresh, parted
    from demur.errors import UsageError, count_of
    from demur.kb.folder import KnowledgeBase

    assert isinstance(search.library, KnowledgeBase)
    certify, fit = ([each.pool for each in some] for some in parted(fresh(search.library)))
    if not certify:
        what = f"{search.library.path} has no labels" + " that count for a promise" * bool(fit)
        raise UsageError(f"{what}; name labelled questions, or use --without-labels where it holds an FAQ")
    if fit:
        note(f"{count_of(len(certify), 'labelled question')} count for the promise, {len(fit):,} more fit")
    return certify, fit


def asked(search: Search, questions: Iterable[Pool]) -> list[Pool]:
    """What a library's search finds for each question, judged by the question's labels."""
    from demur.asking.gates.calibrating import judged_pools
    from demur.errors import UsageError, count_of

    pools = list(questions)
    found = judged_pools(search, tracked(pools, "asking", "questions"))
    if any(pool.positives for pool in pools) and not any(pool.positives for pool in found):
        what = f"no right answer to {count_of(len(pools), 'question')} was found in the files"
        fix = "ask the files that answer them, and label with the words as they are there"
        raise UsageError(f"{what}; {fix}")
    return found


def not_found(search: Search, questions: Sequence[Pool], judged: Sequence[Pool]) -> int:
    """How many labelled questions have no right passage in the files; a line says so, with the first."""
    from demur.asking.gates.calibrating import not_in
    from demur.errors import count_of

    suspects = [asks for asks, found in zip(questions, judged, strict=True) if not found.positives]
    if lost := not_in(search.library, suspects):
        many = f"{len(lost):,} of {count_of(len(questions), 'labelled question')}"
        what = f"{many}: no right passage is in the files, so every answer counts as wrong"
        fix = "label with the words as they are there"
        note(one_line(f"{what}; {fix}; the first is: {lost[0].question}"))
    return len(lost)
