"""What all verbs share: results go to stdout, everything else to stderr, progress to terminals."""

from __future__ import annotations

import io
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

if TYPE_CHECKING:
    from rich.console import Console

T = TypeVar("T")
_ENDLESS = 100_000  # characters in a line of a file or a pipe
_BREAKS = dict.fromkeys(map(ord, "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"), " ")

JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def stdout() -> Console:
    """A console for results; colours only where a terminal shows them, and no end of a line elsewhere."""
    from rich.console import Console

    _forgive()
    if sys.stdout.isatty():
        return Console(highlight=False)
    return Console(highlight=False, soft_wrap=True, width=_ENDLESS)


def stderr() -> Console:
    """A console for everything that is not the result."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def emit(value: Any, indent: int | None = 2) -> None:
    """Write a value as JSON, the result of a verb called with --json: all of it, or nothing."""
    say(json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False))


def say(text: str) -> None:
    """Write a result as it is, and a line feed; tabs are left alone."""
    _forgive()
    sys.stdout.write(f"{harmless(text) if sys.stdout.isatty() else text}\n")


def harmless(text: str) -> str:
    """The text, as long as it was, with a mark for each character that could command a terminal."""
    return "".join("\ufffd" if _commands(ord(each)) else each for each in text)


def _commands(code: int) -> bool:
    """Whether a terminal would do something at it, such as write from right to left."""
    controls = (code < 32 and code not in (9, 10)) or 127 <= code < 160
    return controls or 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069


def one_line(text: str) -> str:
    """The text in one line, as long as it was, with nothing in it that could command a terminal."""
    return harmless(text.translate(_BREAKS))


def _forgive() -> None:
    """From here on a ? stands for what stdout cannot write, such as half a character."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def note(text: str) -> None:
    """Write one line for people to stderr."""
    sys.stderr.write(f"{text}\n")


@contextmanager
def warnings_noted() -> Iterator[None]:
    """A block in which each warning that demur logs is one line on stderr."""
    import logging

    class Noting(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            note(record.getMessage().encode("utf-8", "replace").decode())

    handler, logger = Noting(logging.WARNING), logging.getLogger("demur")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def _moves() -> bool:
    """Whether bars may move: the terminal can show them, and no screen reader reads each of their states."""
    return os.environ.get("TERM") not in ("dumb", "unknown") and os.environ.get("TTY_INTERACTIVE") != "0"


def _paced(wait: float, every: float = 10) -> Callable[[str], None]:
    """A function that notes a text after `wait` seconds and every so many from then on, and drops others."""
    then = time.monotonic() + wait

    def tell(text: str) -> None:
        nonlocal then
        if time.monotonic() >= then:
            then = time.monotonic() + every
            note(text)

    return tell


@contextmanager
def meter(
    label: str, unit: str, total: int | None = None, logged: float = 0
) -> Iterator[Callable[[int], None]]:
    """A function to report advance to; a terminal shows it by a bar, or by lines, after two seconds.

    Elsewhere, as in a log, a line is written every so many seconds as `logged` says, or none if it is 0.
    """
    terminal = sys.stderr.isatty()
    if not terminal and not logged:
        yield lambda advance: None
        return
    if not terminal or not _moves():
        pace = _paced(2) if terminal else _paced(logged, logged)
        done, tell, of = 0, pace, "" if total is None else f" of {total:,}"

        def said(advance: int) -> None:
            nonlocal done
            done += advance
            tell(f"{label}: {done:,}{of} {unit}")

        yield said
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(label), BarColumn(), MofNCompleteColumn(), TextColumn(unit), TimeRemainingColumn())
    started = time.monotonic()
    with Progress(*columns, console=stderr(), transient=True) as bar:
        task = bar.add_task(label, total=total, visible=False)
        yield lambda advance: bar.update(task, advance=advance, visible=time.monotonic() - started > 2)


@contextmanager
def status(label: str, logged: float = 0) -> Iterator[Callable[[str], None]]:
    """A function to say what is being done at the moment, where nobody knows how long.

    It is for terminals; elsewhere, as in a log, a line is written every so many seconds as `logged` says, or
    none if it is 0.
    """
    if not sys.stderr.isatty():
        yield _paced(logged, logged) if logged else lambda text: None
    elif not _moves():
        note(f"{label} …")
        yield _paced(10)
    else:
        with stderr().status(label) as shown:
            yield shown.update


def tracked(things: Iterable[T], label: str, unit: str, total: int | None = None) -> Iterator[T]:
    """The same things, with a meter."""
    with meter(label, unit, total) as advance:
        for thing in things:
            yield thing
            advance(1)
