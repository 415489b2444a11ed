"""`demur score`: many pools, scored into a file that survives a kill."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from demur.cli.console import JsonFlag, emit, meter, note
from demur.cli.options.engines import AddressOption, EngineOption, WorkersOption
from demur.errors import count_of

if TYPE_CHECKING:
    from demur.cli.printed.answers import Score
    from demur.scoring import Scored, Scorer
    from demur.types import Pool


def score(
    source: Annotated[
        str, typer.Argument(metavar="IN", help="Pools: an id, a file or a folder in any format; - is stdin.")
    ],
    output: Annotated[
        str,
        typer.Option(
            "-o",
            "--output",
            help="Where to write, over what is there: .jsonl, .tsv, .csv, .parquet or .run; - is stdout.",
        ),
    ],
    ranker: Annotated[
        str, typer.Option(help="The ranker: bm25, 'bm25(k1=0.9)', a folder, or a Hugging Face id.")
    ] = "bm25",
    reader: Annotated[
        str | None,
        typer.Option(
            help="Also write what it quotes from each candidate: mini, a reader's folder, or a Hugging Face "
            "id."
        ),
    ] = None,
    gate: Annotated[
        str | None,
        typer.Option(
            metavar="GATE.json",
            help="Also write the confidence of each best candidate, and why this gate refuses it, if so.",
        ),
    ] = None,
    read_as: Annotated[
        str | None, typer.Option("--format", help="The format of IN, if its name does not show it.")
    ] = None,
    write_as: Annotated[
        str | None, typer.Option("--to", help="The format to write, if the name does not show it.")
    ] = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
    workers: WorkersOption = None,
    restart: Annotated[
        bool, typer.Option("--restart", help="Start again, without the results of a stopped run.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Score all candidates of many pools. A run that was stopped resumes.

    IN may be a folder of .jsonl and .parquet files; OUT is a folder then.
    """
    from demur import scoring
    from demur.cli.ranking import jobs
    from demur.errors import UsageError
    from demur.files import is_pipe
    from demur.scale.recipe import Recipe

    if json and output == "-":
        raise UsageError("-o - and --json both write to stdout; name a file, or leave out --json")
    recipe = Recipe(ranker, reader, gate)
    if jobs.wanted(source, output, engine, address, workers):
        jobs.run(
            *(source, output, recipe),
            read_as=read_as,
            write_as=write_as,
            engine=engine,
            address=address,
            workers=workers,
            restart=restart,
            json=json,
        )
        return
    scorer = recipe.made()
    if is_pipe(source) or is_pipe(output):
        done = _piped(source, output, scorer, read_as, write_as)
    else:
        done = scoring.score_file(
            source, output, scorer, read_as=read_as, write_as=write_as, restart=restart, meter=meter
        )
    if json:
        told: Score = {
            "output": output,
            "ranker": scorer.ranker.spec,
            "pools": done.pools,
            "pairs": done.pairs,
            "resumed_pools": done.resumed_pools,
        }
        emit(told)
    elif output != "-":
        resumed = f" ({done.resumed_pools:,} were done before)" if done.resumed_pools else ""
        scored = f"{count_of(done.pairs, 'pair')} in {count_of(done.pools, 'pool')}"
        note(f"scored {scored}{resumed} with {scorer.ranker.spec}: {output}")


def _piped(source: str, output: str, scorer: Scorer, read_as: str | None, write_as: str | None) -> Scored:
    """Score a stream, which cannot be resumed: pools are written as they come."""
    from demur import scoring
    from demur.errors import UsageError
    from demur.files import is_pipe

    def read_twice(source: str) -> Pool:
        raise UsageError(f"{scorer.ranker.spec} reads its data twice, which a pipe cannot do; name files")

    done = scoring.Scored(0, 0, 0)

    def counted(pools: Iterable[Pool]) -> Iterator[Pool]:
        nonlocal done
        for pool in pools:
            done = scoring.Scored(done.pools + 1, done.pairs + len(pool), 0)
            yield pool

    write_as = scoring.writable(output, write_as, scorer.finds_more)
    pools = scoring.pools_of(source, read_as)
    first = map(read_twice, [source]) if is_pipe(source) else pools.stream()
    ready = scoring.prepared(scorer, first, meter)
    scoring.write_scores(output, counted(scoring.score_stream(ready, pools.stream())), write_as)
    return done
