"""Cells of a table that are run again from nothing, beside what is kept of them.

Models, probes and what readers say are made anew, in a scratch folder; word vectors and embeddings, which are
hours of counting, are taken from the cache if they are there. What learns nothing and holds no net must come
out the same to a millionth. A net may come out .003 off, or as far as the row's own seeds lie apart: training
on another kind of processor, or with another number of threads, is like drawing another seed.
"""

from __future__ import annotations

import json
import os
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import product, zip_longest
from pathlib import Path

from demur import cache
from demur.experiments.kinds.base import Kept
from demur.experiments.models import cached_models
from demur.experiments.recipe import Table
from demur.experiments.results import earlier, provenance, stored
from demur.experiments.runs import Run, kept, perform
from demur.experiments.tables import loaded, runs
from demur.files import replacing

EXACT, TRAINED = 1e-6, 0.003
_ROUNDS = ("trainer", "net", "embedder encoder", "ranker mini", "ranker onnx", "vectors")
"""Parts whose figures are rounded otherwise on another processor."""
_UNLIKE = ("ms", "extra")
_SHARED = ("vectors", "embeddings")


@dataclass(frozen=True)
class Again:
    """A cell that was run again: the figure, of all its figures, that came out furthest off."""

    table: str
    row: str
    column: str
    seed: int
    measure: str
    kept: float | None
    found: float | None
    difference: float
    tolerance: float
    holds: bool
    commit: str
    """That of the rerun."""
    made_by: str
    """The commit that the kept result names."""
    processor: str
    threads: int
    seconds: float


def drawn(
    table: Table,
    results: Path,
    count: int,
    draw: int,
    only: Sequence[str] = (),
    columns: Sequence[str] = (),
) -> list[Run]:
    """So many of the runs that are kept, each family of rows as often as the next."""
    there = [run for run in runs(table, only, columns=columns) if stored.there(results, run.file)]
    random.Random(draw).shuffle(there)
    seen: Counter[str] = Counter()
    families: dict[str, list[tuple[int, Run]]] = {}
    for run in there:
        families.setdefault(earlier.family(run), []).append((seen[run.row.name], run))
        seen[run.row.name] += 1
    for each in families.values():  # all rows of a family once, before any comes twice
        each.sort(key=lambda one: one[0])
    turns = zip_longest(*families.values())
    return [one[1] for turn in turns for one in turn if one is not None][:count]


def again(
    wanted: Sequence[Run], results: Path, on_run: Callable[[int], None] = lambda runs: None
) -> Iterator[tuple[Run, Again]]:
    """Each of some runs, run again; the scratch folder goes at the end."""
    with scratch() as folder:
        for run in wanted:
            found = perform(run, folder, loaded(run))
            yield run, _beside(run, kept(run, results) or {}, found, results)
            on_run(1)


def recorded(done: Sequence[tuple[Run, Again]], results: Path) -> Path:
    """The file that says what was run again, with these cells in it; what it said of them before goes."""
    known = {name: list(cells) for name, cells in earlier.record(results).items()}
    for run, one in done:
        place = (one.row, one.column, one.seed)
        family = known.setdefault(earlier.family(run), [])
        family[:] = [cell for cell in family if (cell["row"], cell["column"], cell["seed"]) != place]
        family.append(asdict(one))
    file = results / earlier.RECORD
    with replacing(file) as out:
        json.dump(known, out, ensure_ascii=False, sort_keys=True, indent=1)
        out.write("\n")
    return file


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder for results, and a cache beside it that holds only what is shared; both go at the end."""
    before = os.environ.get("DEMUR_CACHE")
    shared = {name: cache.folder(name) for name in _SHARED}
    with tempfile.TemporaryDirectory(prefix="demur-verify-") as place:
        for name, folder in shared.items():
            (Path(place) / "cache").mkdir(exist_ok=True)
            (Path(place) / "cache" / name).symlink_to(folder.resolve())
        os.environ["DEMUR_CACHE"] = str(Path(place) / "cache")
        cached_models.forget()
        try:
            yield Path(place) / "results"
        finally:
            if before is None:
                del os.environ["DEMUR_CACHE"]
            else:
                os.environ["DEMUR_CACHE"] = before


def _beside(run: Run, old: Kept, new: Kept, results: Path) -> Again:
    """A rerun beside what is kept."""
    exact = not any(part.startswith(_ROUNDS) for part in run.editions)
    here, there = _figures(run, [old]), _figures(run, [new])
    first = len(run.kind.points(run.column))  # all points of a curve, by the first measure
    measures = list(here) if exact else list(here)[:first]
    spreads = {name: EXACT if exact else max(TRAINED, _spread(run, name, results)) for name in measures}
    off = {name: _apart(here[name], there.get(name)) for name in measures}
    worst = max(measures, key=lambda name: off[name] - spreads[name])
    return Again(
        table=f"{run.table.paper}/{run.table.table}",
        row=run.row.name,
        column=run.column.name,
        seed=run.seed,
        measure=worst,
        kept=here[worst],
        found=there.get(worst),
        difference=round(off[worst], 6),
        tolerance=round(spreads[worst], 6),
        holds=off[worst] <= spreads[worst],
        commit=new["commit"],
        made_by=old["commit"],
        processor=provenance.kind()["name"],
        threads=new["threads"],
        seconds=new["seconds"],
    )


def _figures(run: Run, found: Sequence[Kept]) -> dict[str, float | None]:
    """All figures of a result, the first measure by the first convention first."""
    table, kind = run.table, run.kind
    every = {}
    for convention, measure, point in product(table.conventions, table.measures, kind.points(run.column)):
        if measure not in _UNLIKE:
            figure = kind.figure(found, convention, measure, point)
            every[f"{measure} {point} {convention}"] = None if figure is None else figure.mean
    return every


def _apart(one: float | None, other: float | None) -> float:
    if one is None or other is None:
        return 0.0 if one is other else float("inf")
    return abs(one - other)


def _spread(run: Run, name: str, results: Path) -> float:
    """How far the kept seeds of a run's row lie apart."""
    seeds = [Run(run.table, run.row, run.column, seed) for seed in run.row.seeds]
    found = [_figures(each, [one])[name] for each in seeds if (one := kept(each, results))]
    values = [value for value in found if value is not None]
    return max(values) - min(values) if values else 0.0
