"""`demur serve`: ranking, quoting and asking over HTTP, in the words of clients that are there already."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from demur.cli.gating import GateOption, RiskOption
from demur.cli.libraries import FromOption, StemOption

ExampleFlag = Annotated[bool, typer.Option("--example", help="Serve the handbook that comes with demur.")]
RankerOption = Annotated[
    str | None,
    typer.Option(help="Who ranks: a name or a folder; if not said, that of the gate, or mini."),
]
ReaderOption = Annotated[
    str | None,
    typer.Option(help="Who quotes: a reader's folder, or none; if not said, the ranker if it can."),
]
_NAMES = "localhost", "127.0.0.1", "::1"


def serve(
    sources: FromOption = None,
    example: ExampleFlag = False,
    ranker: RankerOption = None,
    reader: ReaderOption = None,
    stem: StemOption = "english",
    gate: GateOption = None,
    risk: RiskOption = None,
    host: Annotated[
        str, typer.Option(help="The address to listen on; any but this machine's own needs a key.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes any that is free.")] = 8000,
    key_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keys, one to a line; each request must send one.")
    ] = None,
    no_key: Annotated[bool, typer.Option("--no-key", help="Listen on any address without a key.")] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A name that clients call it by; * is any; may be repeated."),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(metavar="URL", help="Another site whose pages may ask it; may be repeated."),
    ] = None,
    max_body: Annotated[float, typer.Option(metavar="MB", min=0.001, help="The largest body.")] = 16,
    queue: Annotated[int, typer.Option(metavar="PAIRS", min=50, help="How many pairs may wait.")] = 20_000,
    deadline: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.1, help="In which a request must be answered.")
    ] = 120,
    access_log: Annotated[
        bool, typer.Option("--access-log/--no-access-log", help="Log a line of JSON a request.")
    ] = True,
    log_questions: Annotated[
        bool, typer.Option("--log-questions", help="Log questions too; without it no text is logged.")
    ] = False,
) -> None:
    """Serve ranking, quoting and asking over HTTP; existing clients of TEI, Cohere, Jina and vLLM may ask."""
    from demur.cli.console import note
    from demur.cli.serving import opening
    from demur.errors import UsageError, require

    if host not in _NAMES and key_file is None and not no_key:
        what = f"whoever reaches {host} could ask this server"
        raise UsageError(f"{what}; give it keys with --key-file, or say --no-key")
    for module in ("fastapi", "uvicorn", "prometheus_client"):
        require(module, extra="serve")
    from demur.serving.running import run
    from demur.serving.server import Settings
    from demur.serving.shield import MEGABYTE, Rules

    body = int(max_body * MEGABYTE)
    rules = Rules(
        keys=_keys(key_file),
        hosts=frozenset(name.lower() for name in allow_host or ()),
        origins=frozenset(allow_origin or ()),
        body=body,
        bodies=max(16 * body, Rules.bodies),
    )
    settings = Settings(rules, queue, deadline, access_log, log_questions)
    run(
        opening(sources, example, ranker, gate, reader, risk, stem),
        settings,
        host,
        port,
        lambda url: note(f"demur serves on {url}; stop it with Ctrl-C"),
    )


def _keys(path: Path | None) -> tuple[str, ...]:
    """The keys in a file."""
    from demur.errors import DataError
    from demur.files import lines
    from demur.serving.shield import keys_in

    if path is None:
        return ()
    keys = keys_in(line for _, line in lines(path))
    if not keys:
        raise DataError(
            "holds no key", path=path, fix="write one to a line, such as openssl rand -hex 32 makes"
        )
    return keys
