"""The service that is meant on the command line, and who may reach it: the same for `serve` and `mcp`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from demur.serving.service import Service

ExampleFlag = Annotated[bool, typer.Option("--example", help="Serve the handbook that comes with demur.")]
RankerOption = Annotated[
    str | None,
    typer.Option(help="Who ranks: a name or a folder; if not said, that of the gate, or mini."),
]
ReaderOption = Annotated[
    str | None,
    typer.Option(help="Who quotes: a reader's folder, or none; if not said, the ranker if it can."),
]
HostOption = Annotated[
    str, typer.Option(help="The address to listen on; any but this machine's own needs a key.")
]
PortOption = Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes any that is free.")]
KeyFileOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Keys, one to a line; each request must send one."),
]
NoKeyFlag = Annotated[bool, typer.Option("--no-key", help="Listen on any address without a key.")]
AllowHostOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="A name that clients call it by; * is any; may be repeated."),
]
_NAMES = "localhost", "127.0.0.1", "::1"


def opening(
    sources: list[Path] | None,
    example: bool,
    ranker: str | None,
    gate: str | None,
    reader: str | None,
    risk: float | None,
    stem: str,
    kb: Path | None = None,
    lapse: float | None = None,
) -> Callable[[], Service]:
    """What opens the service; files that are not there are an error at once.

    With a `lapse`, the share of passages that may change, the handbook is a knowledge base too.
    """
    from demur.asking import Library
    from demur.cli.options.documents import documents
    from demur.errors import DataError, UsageError
    from demur.serving.service import Service

    if kb is not None:
        if sources or example:
            raise UsageError(
                "serve a knowledge base with --kb, or files with --from, or --example; not several"
            )
        if stem != "english":
            raise UsageError("a knowledge base keeps to its language; leave --stem out")
        if not (kb / "kb.sqlite").is_file():
            raise DataError("there is no knowledge base", path=kb, fix="make one with demur kb add")
        most = 0.2 if lapse is None else lapse
        return lambda: Service.over(kb, None, ranker, gate, reader, risk, most)
    if example and not sources and lapse is not None:
        from demur.serving.example import opened

        return lambda: opened(ranker, gate, reader, risk, stem, lapse)
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


def check_address(host: str, key_file: Path | None, no_key: bool) -> None:
    """Nothing, if only this machine is listened to, or a key is asked for; else an error."""
    from demur.errors import UsageError

    if host not in _NAMES and key_file is None and not no_key:
        what = f"whoever reaches {host} could ask this server"
        raise UsageError(f"{what}; give it keys with --key-file, or say --no-key")


def keys(path: Path | None) -> tuple[str, ...]:
    """The keys in a file."""
    from demur.errors import DataError
    from demur.files import lines
    from demur.serving.shield import keys_in

    if path is None:
        return ()
    found = keys_in(line for _, line in lines(path))
    if not found:
        fix = "write one to a line, such as openssl rand -hex 32 makes"
        raise DataError("holds no key", path=path, fix=fix)
    return found
