"""The service that is meant on the command line: the same for `serve` and `mcp`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from demur.serving.service import Service


def opening(
    sources: list[Path] | None,
    example: bool,
    ranker: str | None,
    gate: str | None,
    reader: str | None,
    risk: float | None,
    stem: str,
) -> Callable[[], Service]:
    """What opens the service; files that are not there are an error at once."""
    from demur.asking import Library
    from demur.cli.libraries import documents
    from demur.errors import DataError, UsageError
    from demur.serving.service import Service

    if not sources and not example:
        return lambda: Service.open(None, None, ranker, gate, reader, risk, stem)
    if sources and example:
        raise UsageError("name files with --from, or take the handbook with --example, not both")
    for path in sources or ():
        if not path.exists():
            raise DataError("no such file", path=path, fix="check the spelling of the path")
    name = "example" if example else ", ".join(path.name for path in sources or ())
    found = lambda: Library(documents(sources, example), stem)  # noqa: E731
    return lambda: Service.open(found, name, ranker, gate, reader, risk, stem)
