"""`demur mcp`: the documents for assistants, over stdio or HTTP."""

from __future__ import annotations

from typing import Annotated

import typer

from demur.cli.options.documents import FromOption, KbOption, StemOption
from demur.cli.options.gates import GateOption, LapseOption, RiskOption
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


def mcp(
    sources: FromOption = None,
    kb: KbOption = None,
    example: ExampleFlag = False,
    ranker: RankerOption = None,
    reader: ReaderOption = None,
    stem: StemOption = "english",
    gate: GateOption = None,
    risk: RiskOption = None,
    lapse: LapseOption = None,
    http: Annotated[
        bool, typer.Option("--http", help="Serve HTTP at /mcp, in place of stdin and stdout.")
    ] = False,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8000,
    key_file: KeyFileOption = None,
    no_key: NoKeyFlag = False,
    allow_host: AllowHostOption = None,
) -> None:
    """Let assistants ask files over the Model Context Protocol; they learn when there is no answer."""
    from demur.cli.console import note
    from demur.cli.options.services import check_address, keys, opening
    from demur.errors import UsageError, require

    require("mcp", extra="mcp")
    if not sources and not example and kb is None:
        what = "there are no documents to ask"
        raise UsageError(f"{what}; name files with --from, a knowledge base with --kb, or say --example")
    open_service = opening(sources, example, ranker, gate, reader, risk, stem, kb, lapse)
    for module in ("fastapi", "uvicorn", "prometheus_client"):
        require(module, extra="serve")
    if not http:
        from demur.serving.assistants import create_mcp
        from demur.serving.process.logs import log_as_json

        log_as_json()
        create_mcp(open_service()).run("stdio")
        return
    check_address(host, key_file, no_key)
    from demur.serving.guards.shield import Rules
    from demur.serving.process.running import run_mcp

    rules = Rules(keys=keys(key_file), hosts=frozenset(name.lower() for name in allow_host or ()))
    run_mcp(open_service(), rules, host, port, lambda url: note(f"demur serves assistants on {url}/mcp"))
