"""`demur score`: many pools, scored into a file that survives a kill."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from demur.cli.console import JsonFlag, emit, meter, note

if TYPE_CHECKING:
    from demur.rankers import Ranker
    from demur.scoring import Scored
    from demur.types import Pool


def score(
    source: Annotated[
        str, typer.Argument(metavar="IN", help="Pools: an id, a file or a folder in any format; - is stdin.")
    ],
    output: Annotated[
        str,
        typer.Option(
            "-o", "--output", help="Where to write: .jsonl, .tsv, .csv, .parquet or .run; - is stdout."
        ),
    ],
    ranker: Annotated[
        str, typer.Option(help="A ranker: bm25, 'bm25(k1=0.9)', a folder, or a Hugging Face id.")
    ] = "bm25",
    read_as: Annotated[
        str | None, typer.Option("--format", help="The format of IN, if its name does not show it.")
    ] = None,
    write_as: Annotated[
        str | None, typer.Option("--to", help="The format to write, if the name does not show it.")
    ] = None,
    restart: Annotated[bool, typer.Option("--restart", help="Discard what an earlier run has done.")] = False,
    json: JsonFlag = False,
) -> None:
    """Score all candidates of many pools. A run that was stopped goes on where it was."""
    import demur
    from demur import scoring
    from demur.errors import UsageError
    from demur.files import is_pipe

    if json and output == "-":
        raise UsageError("-o - and --json both write to stdout; name a file, or leave out --json")
    built = demur.ranker(ranker)
    if is_pipe(source) or is_pipe(output):
        done = _piped(source, output, built, read_as, write_as)
    else:
        done = scoring.score_file(
            source, output, built, read_as=read_as, write_as=write_as, restart=restart, meter=meter
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
    elif output != "-":
        resumed = f" ({done.resumed_pools:,} were done before)" if done.resumed_pools else ""
        note(f"scored {done.pairs:,} pairs in {done.pools:,} pools{resumed} with {built.spec}: {output}")


def _piped(source: str, output: str, ranker: Ranker, read_as: str | None, write_as: str | None) -> Scored:
    """What was done where nothing can be gone on with: pools are written as they come."""
    from demur import scoring
    from demur.errors import UsageError
    from demur.files import is_pipe

    def read_twice(source: str) -> Pool:
        raise UsageError(f"{ranker.spec} reads its data twice, which a pipe cannot do; name files")

    done = scoring.Scored(0, 0, 0)

    def counted(pools: Iterable[Pool]) -> Iterator[Pool]:
        nonlocal done
        for pool in pools:
            done = scoring.Scored(done.pools + 1, done.pairs + len(pool), 0)
            yield pool

    write_as = scoring.writable(output, write_as)
    pools = scoring.pools_of(source, read_as)
    first = map(read_twice, [source]) if is_pipe(source) else pools.stream()
    ready = scoring.prepared(ranker, first, meter)
    scoring.write(output, counted(scoring.score_stream(ready, pools.stream())), write_as)
    return done
