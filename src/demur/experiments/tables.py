"""A table's cells, from the runs that are kept: mean, interval, seeds, and what the paper printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from multiprocessing import get_context
from pathlib import Path

from demur import processor
from demur.errors import UsageError
from demur.experiments import recipe
from demur.experiments.kinds import KINDS, derived
from demur.experiments.kinds.base import Loaded
from demur.experiments.models import cached_models
from demur.experiments.models.cache_keys import as_kept
from demur.experiments.models.rankers import prepare, stages
from demur.experiments.recipe import Column, Row, Table
from demur.experiments.results import earlier
from demur.experiments.runs import Run, fresh_result, perform, stored_result


@dataclass(frozen=True)
class Cell:
    """One figure of a table; the mean is None where nothing was run."""

    table: str
    row: str
    column: str
    measure: str
    convention: str
    mean: float | None
    low: float | None
    high: float | None
    seeds: int
    pools: int
    published: float | None
    note: str
    wanted: int = 1
    """How many seeds the recipe asks for."""
    difference: float | None = None
    """The mean over pools of the difference from the table's baseline."""
    p: float | None = None
    """Of the permutation test of that difference, with Holm's correction over one measure of the table."""
    ahead: float | None = None
    """Of the best of its column: the p of its difference from the second best, corrected over the columns."""
    readers: int = 0
    """Of how many readers it is; 0 where it is of none."""
    learns: bool = False
    """Whether training is behind it, which comes out otherwise with another seed."""
    origin: str = ""
    """Where it comes from, unless from a clean run by today's editions: see `results.earlier`."""
    confirmed: int = 0
    """How many cells of its kind were run again."""
    relevant: int = 1
    """The lowest label of a right answer; gains of nDCG count all labels."""
    title: str = ""
    """What the row is shown as; its name may be that of the system whose place it takes."""


def home() -> Path:
    """The folder with experiments/ and results/: here, or the clone that demur runs from."""
    for place in (Path.cwd(), *Path.cwd().parents, *Path(__file__).resolve().parents):
        if (place / "experiments").is_dir() and (place / "pyproject.toml").is_file():
            return place
    raise UsageError("there are no recipes here; run this in a clone of demur, where experiments/ is")


def find_tables(experiments: Path, paper: str | None = None, table: str | None = None) -> list[Table]:
    """The tables of a paper, or of all, in order."""
    tables = [recipe.read_recipe(path) for path in sorted(experiments.rglob("*.toml"))]
    papers = sorted({each.paper for each in tables})
    if paper is not None and paper not in papers:
        raise UsageError(f"no recipes of a paper {paper!r}; there are: {', '.join(papers)}")
    chosen = [each for each in tables if paper in (None, each.paper)]
    if table is not None and table not in [each.table for each in chosen]:
        raise UsageError(f"{paper} has no {table!r}; it has: {', '.join(each.table for each in chosen)}")
    return [each for each in chosen if table in (None, each.table)]


def runs(
    table: Table, only: Sequence[str] = (), seeds: int = 0, columns: Sequence[str] = ()
) -> Iterator[Run]:
    """Every run a table stands on; or those of some rows or groups, of some columns, of the first seeds."""
    groups = sorted({row.group for row in table.row if row.group})
    rows = [row.name for row in table.row]
    for name in only:
        if not any(among(row, [name]) for row in table.row):
            raise UsageError(
                f"{table.paper} {table.table} has no rows {name!r}; it has: {', '.join(groups or rows)}"
            )
    names = [each.name for each in table.column]
    for name in columns:
        if name not in names:
            raise UsageError(
                f"{table.paper} {table.table} has no column {name!r}; it has: {', '.join(names)}"
            )
    for row in table.row:
        if row.runs and among(row, only):
            for column in table.column:
                if column.data and (not columns or column.name in columns):
                    for seed in row.seeds[: seeds or None]:
                        yield Run(table, row, column, seed)


def among(row: Row, only: Sequence[str]) -> bool:
    """Whether a row, or its group, is one of those named; no names mean all rows."""
    return not only or bool({row.name, row.title, row.group} & set(only))


def learns(table: Table, row: Row) -> bool:
    """Whether something is trained for a row: by itself, or a model that it names."""
    return bool(row.trainer) or any(f"{{{model.name}}}" in row.ranker for model in table.model)


@as_kept()
def fill(
    table: Table,
    results: Path,
    only: Sequence[str],
    on_run: Callable[[int], None],
    workers: int = 1,
    seeds: int = 0,
    columns: Sequence[str] = (),
    dirty: bool = True,
) -> None:
    """Run what is missing or out of date; learning curves in several processes, if there are to be any.

    Column by column all rows are run with their first seed, then with their second: so a run that is stopped
    leaves a figure in each row before it leaves a second seed in any. Unless results may be `dirty`, runs are
    refused in a clone with uncommitted changes.
    """
    doing = partial(_perform_all, dirty=dirty)
    cached_models.forget()
    _loaded.cache_clear()
    wanted = sorted(
        runs(table, only, seeds, columns),
        key=lambda run: (table.column.index(run.column), run.row.seeds.index(run.seed)),
    )
    if workers > 1 and table.kind == "curves":
        stale = [run for run in wanted if fresh_result(run, results, loaded(run)) is None]
        on_run(len(wanted) - len(stale))
        for run in stale:
            prepare(run)  # what all share is made here, once
        with processor.alone(), ProcessPoolExecutor(workers, get_context("spawn")) as pool:
            for done in as_completed([pool.submit(doing, [run], results) for run in stale]):
                done.result()
                on_run(1)
        return
    if workers > 1 and table.kind == "ranking":
        _side_by_side(wanted, results, on_run, workers, doing)
        return
    doing(wanted, results, on_run)


def _side_by_side(
    wanted: Sequence[Run],
    results: Path,
    on_run: Callable[[int], None],
    workers: int,
    doing: Callable[..., None],
) -> None:
    """Do runs that learn in several processes: those that share a stage which is not learnt yet in one."""
    learning_ones = []
    for run in wanted:
        if run.row.trainer and fresh_result(run, results, loaded(run)) is None:
            learning_ones.append(run)
        else:
            doing([run], results, on_run)
    apart = chains(learning_ones)
    if len(apart) < 2:  # one process learns better with all cores
        doing(learning_ones, results, on_run)
        return
    with processor.alone(), ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        futures = {pool.submit(doing, chain, results): len(chain) for chain in apart}
        for done in as_completed(futures):
            done.result()
            on_run(futures[done])


def chains(wanted: Sequence[Run]) -> list[list[Run]]:
    """Runs that learn, parted into such as begin with the same stage that is still to be learnt.

    Within each part they are in order, and so are the parts by their first runs.
    """
    found: dict[str, list[Run]] = {}
    for run in wanted:
        steps = stages(run)  # makes vectors and models that it names, which others may name too: once
        begins = run.file  # with nothing that others could want
        for number in range(len(steps), 0, -1):
            place = cached_models.model_folder(steps[:number])
            if place.exists():
                break
            begins = str(place)
        found.setdefault(begins, []).append(run)
    return list(found.values())


def _perform_all(
    wanted: Sequence[Run],
    results: Path,
    on_run: Callable[[int], None] = lambda runs: None,
    dirty: bool = True,
) -> None:
    for run in wanted:
        perform(run, results, loaded(run), dirty)
        on_run(1)


def loaded(run: Run) -> Loaded:
    """The data of a run."""
    return _loaded(run.table.kind, run.column.data, run.column.fit)


@lru_cache(maxsize=4)
def _loaded(kind: str, data: str, fit: str) -> Loaded:
    return KINDS[kind].load(data, fit)


def column_names(table: Table, column: Column) -> list[str]:
    """What the cells of a column call it: its name, and its points where it has some."""
    return [f"{column.name} {point}".strip() for point in KINDS[table.kind].points(column)]


def under(table: Table, cells: Sequence[Cell], columns: Sequence[str]) -> list[Cell]:
    """The cells of some columns."""
    names = {name for each in table.column if each.name in columns for name in column_names(table, each)}
    return [cell for cell in cells if cell.column in names]


def cells(table: Table, results: Path, only: Sequence[str] = ()) -> Iterator[Cell]:
    """All cells from what is kept; nothing is run."""
    for row in table.row:
        if not among(row, only):
            continue
        for column in table.column:
            seeds = row.seeds if row.runs and column.data else []
            runs_ = [Run(table, row, column, seed) for seed in seeds]
            kept_of = [(run, one) for run in runs_ if (one := stored_result(run, results))]
            found = [one for _, one in kept_of]
            origins = {earlier.origin(run, one, results) for run, one in kept_of}
            of_kind = len(earlier.speaking(runs_[0], results)) if runs_ else 0
            note = "; ".join(text for text in (row.note, column.note) if text)
            relevant = cached_models.relevant_of(column.data) if table.kind == "ranking" else 1
            places = product(KINDS[table.kind].points(column), table.conventions, table.figures)
            beside = derived.figures(table, row, column, results) if table.derived else {}
            for point, convention, measure in places:
                figure = KINDS[table.kind].figure(found, convention, measure, point)
                figure = beside.get(measure, figure)
                yield Cell(
                    table=f"{table.paper}/{table.table}",
                    row=row.name,
                    column=f"{column.name} {point}".strip(),
                    measure=measure,
                    convention=convention,
                    mean=figure.mean if figure else None,
                    low=figure.low if figure else None,
                    high=figure.high if figure else None,
                    seeds=len(found) if figure else 0,
                    pools=figure.pools if figure else 0,
                    published=derived.published(table, row, column, measure, convention),
                    note=note,
                    wanted=len(row.seeds),
                    readers=KINDS[table.kind].readers(found) if figure else 0,
                    learns=learns(table, row),
                    origin=next((each for each in earlier.WORST if each in origins), "") if figure else "",
                    confirmed=of_kind,
                    relevant=relevant,
                    title=row.shown,
                )
