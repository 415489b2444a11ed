"""Questions one after the other: from a pipe, a line each, or from somebody at a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from demur.cli.console import note

if TYPE_CHECKING:
    from demur.cli.asking import Asker

PROMPT = "? "


def answer(asker: Asker, first: str | None, interactive: bool, json: bool) -> None:
    """Answer a first question, if there is one, and those that are read from stdin.

    Without `interactive` every line is a question, and a mistake ends it all. Interactively an empty line is
    the end, a mistake is one line and the next question may follow, and Ctrl-C leaves in peace.
    """
    indent = None if json else 2
    if not interactive:
        for question in _lines():
            asker.answer(question, json, indent)
        return
    try:
        asker.warm()
        if first is not None:
            _try(asker, first, json, indent)
        for question in _typed(asker) if sys.stdin.isatty() else _lines():
            if not question.strip():
                break
            _try(asker, question, json, indent)
    except KeyboardInterrupt:
        note("")


def _try(asker: Asker, question: str, json: bool, indent: int | None) -> None:
    from demur.errors import DemurError

    try:
        asker.answer(question, json, indent)
    except DemurError as error:
        note(f"demur: {error}")


def _lines() -> Iterator[str]:
    from demur.files import lines

    return (line for _, line in lines("-"))


def _typed(asker: Asker) -> Iterator[str]:
    """What is typed at a terminal, with the keys that edit a line where the system has them."""
    import contextlib

    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  # input() uses it

    note(f"{len(asker.library):,} passages are ready; an empty line or Ctrl-D leaves.")
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
