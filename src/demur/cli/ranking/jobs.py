"""A folder of files scored into a folder, here or on Ray, for `demur score`."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from demur.cli.console import emit, harmless, meter, note
from demur.cli.options.engines import LOCAL, on_ray
from demur.errors import UsageError, count_of

if TYPE_CHECKING:
    from demur.cli.printed.answers import ScoreFolder
    from demur.scale.job import Done, Engine
    from demur.scale.recipe import Recipe

_SHOWN = 10
"""Bad rows that are named on the terminal; all of them are in the file."""


def wanted(source: str, output: str, engine: str, address: str | None, workers: int | None) -> bool:
    """Whether this is a job of files: on Ray, or a folder that is no dataset. No address is one."""
    from demur import registry
    from demur.data.formats.beir import is_beir

    for place in (source, output):
        if "://" in place:
            raise UsageError(
                f"{place}: only files are scored; copy or mount what is there, and name its path"
            )
    if not source:
        return False  # what reads pools says that it is no name
    if on_ray(engine, address, workers):
        return True
    folder = Path(source)
    is_dataset = source.partition("/")[0] in registry.names("dataset")
    return folder.is_dir() and not is_dataset and not is_beir(folder)


def run(
    source: str,
    output: str,
    recipe: Recipe,
    *,
    read_as: str | None,
    write_as: str | None,
    engine: str,
    address: str | None,
    workers: int | None,
    restart: bool,
    json: bool,
) -> None:
    """Do the job, and tell what was done and what was left out."""
    from demur.scale.job import score_files

    if read_as is not None:
        raise UsageError(
            "--format does not go with a folder or --engine ray; files are told by .jsonl and .parquet"
        )
    with _engine(recipe, engine, address, workers) as chosen:
        scorer = recipe.made()
        done = score_files(source, output, scorer, chosen, write_as=write_as, restart=restart, meter=meter)
    _tell(done, output)
    if json:
        told: ScoreFolder = {
            "output": output,
            "ranker": scorer.ranker.spec,
            "engine": engine,
            "files": done.files,
            "pools": done.pools,
            "pairs": done.pairs,
            "resumed_pools": done.resumed_pools,
            "bad_rows": len(done.bad),
            "failed": list(done.failed),
        }
        emit(told)
    else:
        resumed = f" ({done.resumed_pools:,} were done before)" if done.resumed_pools else ""
        scored = f"{count_of(done.pairs, 'pair')} in {count_of(done.pools, 'pool')}"
        files = count_of(done.files, "file")
        note(f"scored {scored} of {files}{resumed} with {scorer.ranker.spec}: {output}")
    if done.failed:
        raise typer.Exit(1)


def _engine(
    recipe: Recipe, engine: str, address: str | None, workers: int | None
) -> AbstractContextManager[Engine]:
    if engine == LOCAL:
        from demur.scale.job import Here

        return nullcontext(Here())
    from demur.scale.on_ray import OnRay

    return OnRay(recipe, address, workers)


def _tell(done: Done, output: str) -> None:
    for problem in done.failed:
        note(f"left out {harmless(problem)}")
    for told in done.bad[:_SHOWN]:
        note(f"left out {harmless(told['problem'])}")
    if done.bad:
        rows, told_in = count_of(len(done.bad), "bad row"), f"{Path(output)}.bad.jsonl"
        note(f"left out {rows}; what is wrong with each is in {told_in}")
