"""`demur serve`: ranking, quoting and asking over HTTP, in the words of clients that are there already."""

from __future__ import annotations

from typing import Annotated

import typer

from demur.cli.options.documents import FromOption, KbOption, StemOption
from demur.cli.options.gates import GateOption, RiskOption
from demur.cli.options.services import (
    AllowHostOption,
    ExampleFlag,
    HostOption,
    KeyFileOption,
    NoKeyFlag,
    PortOption,
    RankerOption,
    ReaderOption,
)


def serve(
    sources: FromOption = None,
    kb: KbOption = None,
    example: ExampleFlag = False,
    ranker: RankerOption = None,
    reader: ReaderOption = None,
    stem: StemOption = "english",
    gate: GateOption = None,
    risk: RiskOption = None,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8000,
    key_file: KeyFileOption = None,
    no_key: NoKeyFlag = False,
    allow_host: AllowHostOption = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(metavar="URL", help="Another site whose pages may ask it; may be repeated."),
    ] = None,
    max_body: Annotated[float, typer.Option(metavar="MB", min=0.001, help="The largest body.")] = 16,
    queue: Annotated[int, typer.Option(metavar="PAIRS", min=50, help="How many pairs may wait.")] = 20_000,
    deadline: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.1, help="In which a request must be answered.")
    ] = 120,
    lapse: Annotated[
        float,
        typer.Option(min=0, max=1, help="The share of passages that may change before a promise lapses."),
    ] = 0.2,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Let nobody change documents or labels over HTTP.")
    ] = False,
    keep_questions: Annotated[
        bool,
        typer.Option("--keep-questions", help="Keep what people ask in the knowledge base, to be labelled."),
    ] = False,
    access_log: Annotated[
        bool, typer.Option("--access-log/--no-access-log", help="Log a line of JSON a request.")
    ] = True,
    log_questions: Annotated[
        bool, typer.Option("--log-questions", help="Log questions too; without it no text is logged.")
    ] = False,
) -> None:
    """Serve ranking, quoting and asking over HTTP; existing clients of TEI, Cohere, Jina and vLLM may ask."""
    from demur.cli.console import note
    from demur.cli.options.services import check_address, keys, opening
    from demur.errors import UsageError, require

    if keep_questions and kb is None and not example:
        raise UsageError("--keep-questions needs a knowledge base to keep them in; name one with --kb")
    check_address(host, key_file, no_key)
    for module in ("fastapi", "uvicorn", "prometheus_client"):
        require(module, extra="serve")
    from demur.serving.running import run
    from demur.serving.server import Settings
    from demur.serving.shield import MEGABYTE, Rules

    body = int(max_body * MEGABYTE)
    rules = Rules(
        keys=keys(key_file),
        hosts=frozenset(name.lower() for name in allow_host or ()),
        origins=frozenset(allow_origin or ()),
        body=body,
        bodies=max(16 * body, Rules.bodies),
    )
    settings = Settings(rules, queue, deadline, access_log, log_questions, read_only, keep_questions)
    run(
        opening(sources, example, ranker, gate, reader, risk, stem, kb, lapse),
        settings,
        host,
        port,
        lambda url: note(f"demur serves on {url}; stop it with Ctrl-C"),
    )
