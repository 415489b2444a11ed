"""The service that is meant on the command line, and who may reach it: the same for `serve` and `mcp`."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from demur.serving.answering.service import Service
    from demur.serving.guards.shield import Rules

ExampleFlag = Annotated[bool, typer.Option("--example", help="Serve the handbook that comes with demur.")]
RankerOption = Annotated[
    str | None,
    typer.Option(help="The ranker: a name or a folder. Default: the ranker of the gate, else meaning."),
]
ReaderOption = Annotated[
    str | None,
    typer.Option(
        help="The reader that quotes the answer: a folder. none: quote whole sentences. Default: the ranker, "
        "if it can quote."
    ),
]
HostOption = Annotated[
    str, typer.Option(help="The address to listen on; other machines can only be served with a key.")
]
PortOption = Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes any that is free.")]
KeyFileOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="A file of API keys, one per line; each request must send one."),
]
NoKeyFlag = Annotated[bool, typer.Option("--no-key", help="Allow any address without a key.")]
AllowHostOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="A host name that requests may have; * is any; may be repeated."),
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
    kb: str | Path | None = None,
    lapse: float | None = None,
    lasting: bool = False,
) -> Callable[[], Service]:
    """What opens the service; files that are not there are an error at once.

    Where it is to be `lasting`, the handbook is a knowledge base too, and the server makes missing vectors.
    """
    from demur.asking import Library
    from demur.asking.gates.base_gate import lapse_of
    from demur.cli.options.documents import documents
    from demur.errors import DataError, UsageError
    from demur.kb.store.place import store_at
    from demur.serving.answering.service import Service

    of_base = kb is not None or (lasting and example and not sources)
    lapse_of(lapse, of_base, gate)
    if kb is not None:
        if sources or example:
            raise UsageError(
                "serve a knowledge base with --kb, or files with --from, or --example; not several"
            )
        if stem != "english":
            raise UsageError("a knowledge base has its own language; leave --stem out")
        if not (place := store_at(kb)).there:
            fix = "make one with demur kb add"
            raise DataError("there is no knowledge base", path=str(place.path), fix=fix)
        return lambda: Service.over(kb, None, ranker, gate, reader, risk, lapse, tended=lasting)
    if of_base:
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


@contextmanager
def collecting_later() -> Iterator[None]:
    """A block in which Python looks for no garbage until the server is ready: a twelfth of its start."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def check_address(host: str, key_file: Path | None, no_key: bool) -> None:
    """Raise an error if other machines can connect and no key is asked for."""
    from demur.errors import UsageError

    if host not in _NAMES and key_file is None and not no_key:
        what = f"anyone who can reach {host} could ask this server"
        raise UsageError(f"{what}; give it keys with --key-file, or say --no-key")


def rules(
    key_file: Path | None, hosts: list[str] | None, origins: list[str] | None = None, body: int | None = None
) -> Rules:
    """Who may reach the service, and with how many bytes."""
    from demur.serving.guards.shield import Rules

    body = Rules.body if body is None else body
    return Rules(
        keys=_keys(key_file),
        hosts=frozenset(map(_host, hosts or ())),
        origins=frozenset(map(_origin, origins or ())),
        body=body,
        bodies=max(16 * body, Rules.bodies),
    )


def _host(said: str) -> str:
    """A name that requests may be sent to, without a port, which does not count."""
    from demur.errors import UsageError

    name = said.strip().lower()
    if re.fullmatch(r"[^\s/:]+:\d+", name):
        name = name.partition(":")[0]
    if not name or re.search(r"[\s/:]", name):
        raise UsageError(f"--allow-host {said!r} is no name of a host; write one such as search.intranet")
    return name


def _origin(said: str) -> str:
    """A site whose pages may ask, as browsers spell it: without a path."""
    from urllib.parse import urlsplit

    from demur.errors import UsageError

    site = urlsplit(said.strip().lower())
    if site.scheme not in ("http", "https") or not site.netloc or site.path not in ("", "/") or site.query:
        fix = "write one such as https://intranet.example"
        raise UsageError(f"--allow-origin {said!r} is no site; {fix}")
    return f"{site.scheme}://{site.netloc}"


def _keys(path: Path | None) -> tuple[str, ...]:
    """The keys in a file."""
    from demur.errors import DataError
    from demur.files import lines
    from demur.serving.guards.shield import keys_in

    if path is None:
        return ()
    found = keys_in(line for _, line in lines(path))
    if not found:
        fix = "write one to a line, such as openssl rand -hex 32 makes"
        raise DataError("holds no key", path=path, fix=fix)
    for n, key in enumerate(found, 1):
        if not (key.isascii() and key.isprintable()) or " " in key:  # no header carries another as it is
            what = f"key {n} has characters that a header may not carry"
            raise DataError(what, path=path, fix="use letters, digits and -._~+/= only")
    return found
