"""`demur score`: many pools, scored into a file that survives a kill."""

from __future__ import annotations

from typing import Annotated

import typer

from demur.cli.console import JsonFlag, emit, meter, note


def score(
    source: Annotated[
        str, typer.Argument(metavar="IN", help="Pools: a file or folder in any format; - is stdin.")
    ],
    output: Annotated[
        str,
        typer.Option(
            "-o", "--output", help="Where to write: .jsonl, .tsv, .csv, .parquet or .run; - is stdout."
        ),
    ],
    ranker: Annotated[
        str, typer.Option(help="A ranker, such as bm25 or 'bm25(k1=0.9, stats=dataset)'.")
    ] = "bm25",
    read_as: Annotated[
        str | None, typer.Option("--format", help="The format of IN, if its name does not tell.")
    ] = None,
    write_as: Annotated[
        str | None, typer.Option("--to", help="The format to write, if the name does not tell.")
    ] = None,
    restart: Annotated[bool, typer.Option("--restart", help="Forget what an earlier run has done.")] = False,
    json: JsonFlag = False,
) -> None:
    """Score all candidates of many pools. A run that was stopped goes on where it was."""
    import demur
    from demur import scoring
    from demur.data import formats
    from demur.errors import UsageError

    built = demur.ranker(ranker)
    if "-" in (source, output):
        if built.needs_preparing:
            raise UsageError(f"{ranker} reads its data twice, which a pipe cannot do; name files")
        pools = scoring.score_stream(built, formats.read(source, read_as))
        scoring.write(output, pools, write_as)
        return
    with meter("scoring", "pairs") as advance:
        done = scoring.score_file(
            source, output, built, read_as=read_as, write_as=write_as, restart=restart, on_shard=advance
        )
    if json:
        emit(
            {
                "output": output,
                "ranker": built.spec,
                "pools": done.pools,
                "pairs": done.pairs,
                "resumed_pools": done.resumed_pools,
            }
        )
        return
    resumed = f" ({done.resumed_pools:,} were done before)" if done.resumed_pools else ""
    note(f"scored {done.pairs:,} pairs in {done.pools:,} pools{resumed} with {built.spec}: {output}")
