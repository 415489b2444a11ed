"""`demur kb`: a knowledge base, which is read once and asked often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from demur.cli.console import JsonFlag, emit, meter, note, one_line, say, warnings_noted
from demur.cli.options.documents import named_path
from demur.cli.options.engines import AddressOption, EngineOption, WorkersOption, cluster
from demur.errors import count_of

if TYPE_CHECKING:
    from demur.kb.folder import KnowledgeBase
    from demur.kb.index.embedding import Embeds
    from demur.kb.sources.reports import FileReport
    from demur.scale.cluster import Cluster

_STATUSES = "added", "changed", "unchanged", "removed", "skipped"
_SIZES = "generation", "sources", "passages", "embedded"

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Keep files in a knowledge base, to ask them again and again.",
)
BaseArgument = Annotated[
    str, typer.Argument(metavar="BASE", help="The knowledge base: a folder, postgresql://… or s3://….")
]
WordsOnlyFlag = Annotated[
    bool,
    typer.Option(
        "--words-only",
        help="Compute no vectors now. Asking makes them, if 2,000 or fewer are missing; until then, passages "
        "are found by words only.",
    ),
]


@app.command()
def add(
    base: BaseArgument,
    sources: Annotated[
        list[Path],
        typer.Argument(parser=named_path, metavar="FILE...", help="Files and folders to read."),
    ],
    stem: Annotated[
        str | None,
        typer.Option(
            metavar="LANGUAGE",
            help="For a new base, the language of its texts: the search ignores its word endings. none: it "
            "does not. Default: english.",
        ),
    ] = None,
    words_only: WordsOnlyFlag = False,
    json: JsonFlag = False,
) -> None:
    """Add files and folders; the base is created if it does not exist. Unchanged files are not read again."""
    from demur.kb.folder import KnowledgeBase
    from demur.kb.lance.address import is_bucket

    with warnings_noted():
        kb = KnowledgeBase(base, stem)
        if is_bucket(base):
            note("what is added is published at the end, or after many passages; a kill before that loses it")
        with meter("reading", "passages") as advance:
            found = list(_shown(kb.adding(sources, advance), json))
        if not kb.there:
            if json:
                emit(_of_nothing(kb, found))
            note(f"{one_line(str(kb.path))} is not made, as no file could be read")
            raise typer.Exit(2)
        nothing = all(each.status == "skipped" for each in found)
        _finish(kb, found, words_only or nothing, json)
        if not len(kb):
            note("there is no text in it, so nothing can be asked yet; add files that have some")
            raise typer.Exit(2)


@app.command()
def update(
    base: BaseArgument,
    words_only: WordsOnlyFlag = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Keep running and check for changes, until interrupted.")
    ] = False,
    every: Annotated[
        float | None,
        typer.Option(min=0.1, max=86400, help="With --watch: seconds between two checks. Default: 5."),
    ] = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
    workers: WorkersOption = None,
    json: JsonFlag = False,
) -> None:
    """Read the changed files and folders again, and compute missing vectors."""
    import time

    from demur.errors import DemurError, LostBase, ReadOnlyBase, UsageError

    if every is not None and not watch:
        raise UsageError("--every is how often --watch looks; add --watch, or leave it out")
    every = every or 5.0
    makers = cluster(engine, address, workers)
    kb = _there(base)
    with warnings_noted():
        if watch:
            note(f"watching {one_line(str(kb.path))}: its files are checked every {every:g} s; Ctrl-C stops")
        told: set[FileReport] = set()
        trouble = ""
        while watch:
            try:
                found = list(_shown(kb.updating(), json, told))
                told = {each for each in found if each.status in ("skipped", "unchanged") and each.reason}
                changed = any(each.status not in ("unchanged", "skipped") for each in found)
                if changed or (_missing(kb) and not words_only):
                    if json:
                        emit(_told(kb, found), None)
                    _embed(kb, words_only, makers)
                trouble = ""
            except (LostBase, ReadOnlyBase):
                raise
            except (DemurError, OSError) as error:  # another process writes for long, or a full disk may pass
                if str(error) != trouble:
                    note(one_line(f"{error}; trying again"))
                trouble = str(error)
            time.sleep(every)
        with meter("reading", "passages") as advance:
            _finish(kb, list(_shown(kb.updating(advance), json)), words_only, json, makers)


@app.command()
def remove(
    base: BaseArgument,
    sources: Annotated[
        list[Path],
        typer.Argument(parser=named_path, metavar="SOURCE...", help="Names of files, or whole folders."),
    ],
    json: JsonFlag = False,
) -> None:
    """Remove files from the knowledge base; the files themselves stay."""
    with warnings_noted():
        kb = _there(base)
        found = list(_shown(iter(kb.remove(sources)), json))
        emit(_told(kb, found)) if json else say(_size(kb))


@app.command()
def status(base: BaseArgument, json: JsonFlag = False) -> None:
    """Show what is in the knowledge base."""
    with warnings_noted():
        kb = _there(base)
        rows = kb.sources()
    if json:
        listed = [{"source": name, "kind": kind, "passages": count} for name, kind, count in rows]
        emit(_told(kb, []) | {"stem": kb.stem, "listed": listed})
        return
    for name, kind, count in rows:
        say(f"{count:>9,}  {kind:<6}  {one_line(name)}")
    say(_size(kb))


@app.command()
def rebuild(base: BaseArgument, words_only: WordsOnlyFlag = False, json: JsonFlag = False) -> None:
    """Rebuild the word index and the vectors."""
    with warnings_noted():
        kb = _there(base)
        with meter("indexing", "passages", len(kb)) as advance:
            kb.rebuild(advance)
        _finish(kb, [], words_only, json)


def _there(base: str) -> KnowledgeBase:
    from demur.kb.folder import KnowledgeBase

    kb = KnowledgeBase(base)
    kb.refresh()
    return kb


def _shown(
    reports: Iterator[FileReport], json: bool, known: Collection[FileReport] = ()
) -> Iterator[FileReport]:
    """The reports; what was skipped goes to stderr, and what has changed is shown to people.

    What was skipped at the last check too is not told again.
    """
    for report in reports:
        if report in known:
            pass
        elif report.status == "skipped":
            note(f"skipped {one_line(report.told)}")
        elif report.status == "unchanged" and report.reason:
            note(one_line(f"{report.source} {report.reason}"))
        elif report.status != "unchanged" and not json:
            many = "" if report.status == "removed" else f" ({count_of(report.passages, 'passage')})"
            why = f"; {report.reason}" if report.reason else ""
            say(f"{report.status} {one_line(report.source)}{many}{why}")
        yield report


def _finish(
    kb: KnowledgeBase, reports: list[FileReport], words_only: bool, json: bool, makers: Cluster | None = None
) -> None:
    """Make vectors, and tell what there is; exit 2 if a file that was named, or every file, was skipped."""
    _embed(kb, words_only, makers)
    emit(_told(kb, reports)) if json else say(_size(kb))
    skipped = [each for each in reports if each.status == "skipped"]
    if any(each.named for each in skipped) or (skipped and len(skipped) == len(reports)):
        raise typer.Exit(2)


def _embed(kb: KnowledgeBase, words_only: bool, makers: Cluster | None = None) -> None:
    """Make the vectors that are missing, here or on Ray; what is done stays done when this is broken off."""
    if makers is None or words_only or not _missing(kb):
        return _embed_by(kb, None, words_only)
    from demur.scale.embedding import EmbedsOnRay

    with makers:
        makers.begin()
        _embed_by(kb, EmbedsOnRay(makers), words_only)


def _embed_by(kb: KnowledgeBase, embedder: Embeds | None, words_only: bool) -> None:
    from demur.asking.meaning import finding
    from demur.errors import UsageError

    missing = _missing(kb)
    if words_only or (not missing and kb.indexed):
        return
    try:
        with meter("embedding", "passages", missing) as advance:
            kb.embed(embedder or finding.maker(), advance)
    except UsageError as error:  # another process makes vectors; the files are in
        kb.refresh()
        note(f"what is new is found by words alone for now: {error}; demur kb update makes its vectors")
    except KeyboardInterrupt:
        kb.refresh()
        note(f"{_embedded(kb):,} of {len(kb):,} passages have vectors; demur kb update makes the others")
        raise typer.Exit(130) from None  # as whatever else is stopped by Ctrl-C


def _missing(kb: KnowledgeBase) -> int:
    return len(kb) - _embedded(kb)


def _embedded(kb: KnowledgeBase) -> int:
    """How many passages `ask` finds by meaning: those with vectors of its own encoder."""
    from demur.asking.meaning import finding

    return kb.embedded if kb.embedder == finding.maker().fingerprint else 0


def _told(kb: KnowledgeBase, reports: list[FileReport]) -> dict[str, Any]:
    """What there is, how many files are of each status, and each file."""
    size = kb.generation, len(kb.sources()), len(kb), _embedded(kb)
    return {"base": str(kb.path), **dict(zip(_SIZES, size, strict=True)), **_became(reports)}


def _of_nothing(kb: KnowledgeBase, reports: list[FileReport]) -> dict[str, Any]:
    """The same of a base that is not there, as no file could be read."""
    return {"base": str(kb.path), **dict.fromkeys(_SIZES, 0), **_became(reports)}


def _became(reports: list[FileReport]) -> dict[str, Any]:
    counts = Counter(report.status for report in reports)
    return {
        **{status: counts[status] for status in _STATUSES},
        "files": [
            {
                "source": each.source,
                "status": each.status,
                "passages": each.passages,
                "reason": each.reason or None,
            }
            for each in reports
        ],
    }


def _size(kb: KnowledgeBase) -> str:
    parts = count_of(len(kb.sources()), "source"), count_of(len(kb), "passage"), f"{_embedded(kb):,}"
    return f"{kb.path}: generation {kb.generation}, {', '.join(parts)} found by meaning too"
