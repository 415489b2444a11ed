"""Questions one after the other: from a pipe, a line each, or from somebody at a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from demur.cli.console import note

if TYPE_CHECKING:
    from demur.cli.asking.shown import Shown

PROMPT = "? "


def answer(shown: Shown, first: str | None, interactive: bool) -> None:
    """Answer a first question, if there is one, and those that are read from stdin.

    Without `interactive` every line is a question, but for empty ones, and a mistake ends it all.
    Interactively an empty line is the end, a mistake is one line and the next question may follow, and Ctrl-C
    leaves in peace.
    """
    indent = None if shown.json else 2
    if not interactive:
        for question in _lines():
            if question.strip():
                shown.answer(question, indent)
        return
    try:
        shown.session.warm()
        if first is not None:
            _try(shown, first, indent)
        for question in _typed(shown) if sys.stdin.isatty() else _lines():
            if not question.strip():
                break
            _try(shown, question, indent)
    except KeyboardInterrupt:
        note("")


def _try(shown: Shown, question: str, indent: int | None) -> None:
    from demur.errors import DemurError

    try:
        shown.answer(question, indent)
    except DemurError as error:
        note(f"demur: {error}")


def _lines() -> Iterator[str]:
    from demur.files import lines

    return (line for _, line in lines("-"))


def _typed(shown: Shown) -> Iterator[str]:
    """What is typed at a terminal, with the keys that edit a line where the system has them."""
    import contextlib

    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  # input() uses it

    note(f"{len(shown.session.library):,} passages are ready; an empty line or Ctrl-D leaves.")
    while True:
        try:
            if sys.stdout.isatty():
                yield input(PROMPT)
                continue
            sys.stderr.write(PROMPT)  # so that the result is alone in what it is written to
            sys.stderr.flush()
            yield input()
        except EOFError:
            note("")
            return
