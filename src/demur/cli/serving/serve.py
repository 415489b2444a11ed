"""`demur serve`: ranking, quoting and asking over HTTP, in the words of clients that are there already."""

from __future__ import annotations

from typing import Annotated

import typer

from demur.cli.options import documents, gates, services


def serve(
    sources: documents.FromOption = None,
    kb: documents.KbOption = None,
    example: services.ExampleFlag = False,
    ranker: services.RankerOption = None,
    reader: services.ReaderOption = None,
    stem: documents.StemOption = "english",
    gate: gates.GateOption = None,
    risk: gates.RiskOption = None,
    host: services.HostOption = "127.0.0.1",
    port: services.PortOption = 8000,
    key_file: services.KeyFileOption = None,
    no_key: services.NoKeyFlag = False,
    allow_host: services.AllowHostOption = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(metavar="URL", help="An origin whose pages may send requests (CORS); may be repeated."),
    ] = None,
    max_body: Annotated[
        float, typer.Option(metavar="MB", min=0.001, max=100_000, help="The largest request body.")
    ] = 16,
    queue: Annotated[
        int, typer.Option(metavar="PAIRS", min=50, help="The largest number of pairs in the queue.")
    ] = 20_000,
    deadline: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.1, max=86_400, help="Time limit of a request.")
    ] = 120,
    lapse: gates.LapseOption = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Allow no change of documents or labels over HTTP.")
    ] = False,
    keep_questions: Annotated[
        bool,
        typer.Option("--keep-questions", help="Keep the questions in the knowledge base, for labelling."),
    ] = False,
    access_log: Annotated[
        bool, typer.Option("--access-log/--no-access-log", help="Log each request as a line of JSON.")
    ] = True,
    log_questions: Annotated[
        bool, typer.Option("--log-questions", help="Also log the questions; otherwise no text is logged.")
    ] = False,
) -> None:
    """Serve ranking, quoting and asking over HTTP, for clients of TEI, Cohere, Jina and vLLM."""
    from demur.cli.console import note
    from demur.errors import UsageError, require

    if keep_questions and kb is None and not example:
        raise UsageError("--keep-questions needs a knowledge base; name one with --kb")
    services.check_address(host, key_file, no_key)
    for module in ("fastapi", "uvicorn", "prometheus_client"):
        require(module, extra="serve")
    with services.collecting_later():
        from demur.serving.guards.shield import MEGABYTE
        from demur.serving.process.running import run
        from demur.serving.server import Settings

        rules = services.rules(key_file, allow_host, allow_origin, int(max_body * MEGABYTE))
        settings = Settings(rules, queue, deadline, access_log, log_questions, read_only, keep_questions)
        run(
            services.opening(sources, example, ranker, gate, reader, risk, stem, kb, lapse, lasting=True),
            settings,
            host,
            port,
            lambda url: note(f"demur serves on {url}; stop it with Ctrl-C"),
        )
