"""`demur mcp`: the documents for assistants, over stdio or HTTP."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from demur.cli.options import documents, gates, services


def mcp(
    sources: documents.FromOption = None,
    kb: documents.KbOption = None,
    example: services.ExampleFlag = False,
    ranker: services.RankerOption = None,
    reader: services.ReaderOption = None,
    stem: documents.StemOption = "english",
    gate: gates.GateOption = None,
    risk: gates.RiskOption = None,
    lapse: gates.LapseOption = None,
    http: Annotated[
        bool, typer.Option("--http", help="Serve HTTP at /mcp, in place of stdin and stdout.")
    ] = False,
    host: services.HostOption = "127.0.0.1",
    port: services.PortOption = 8000,
    key_file: services.KeyFileOption = None,
    no_key: services.NoKeyFlag = False,
    allow_host: services.AllowHostOption = None,
) -> None:
    """Let assistants ask files over the Model Context Protocol; they are told when there is no answer."""
    from demur.cli.console import note
    from demur.errors import UsageError, require

    require("mcp", extra="mcp")
    if not http and (host, port, key_file, allow_host, no_key) != ("127.0.0.1", 8000, None, None, False):
        raise UsageError("--host, --port and keys are for --http; add it, or leave them out")
    if not sources and not example and kb is None:
        what = "there are no documents to ask"
        raise UsageError(f"{what}; name files with --from, a knowledge base with --kb, or say --example")
    open_service = services.opening(sources, example, ranker, gate, reader, risk, stem, kb, lapse)
    for module in ("fastapi", "uvicorn", "prometheus_client"):
        require(module, extra="serve")
    if not http:
        from demur.serving.assistants import create_mcp
        from demur.serving.process.logs import log_as_json

        log_as_json()
        create_mcp(open_service()).run("stdio")
        return
    services.check_address(host, key_file, no_key)
    from demur.serving.process.running import run_mcp

    rules = replace(services.rules(key_file, allow_host), advice="")  # there is no option for it
    run_mcp(open_service(), rules, host, port, lambda url: note(f"demur serves assistants on {url}/mcp"))
