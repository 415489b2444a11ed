"""Cells of a table that are run again from nothing, beside what is kept of them.

Models, probes and what readers say are made anew, in a scratch folder; word vectors and embeddings, which are
hours of counting, are taken from the cache if they are there. What learns nothing and holds no net must come
out the same to a millionth. A net may come out .003 off, or as far as two seeds of its kind hardly ever lie
apart: training on another kind of processor, or with another number of threads, is like drawing another seed.
"""

from __future__ import annotations

import json
import math
import os
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import product, zip_longest
from pathlib import Path

import numpy as np

from demur import cache, processor
from demur.experiments.kinds.base import Result
from demur.experiments.models import cached_models
from demur.experiments.recipe import Table
from demur.experiments.results import earlier, stored
from demur.experiments.runs import Run, perform, stored_result
from demur.experiments.tables import loaded, runs
from demur.files import replacing

EXACT, TRAINED = 1e-6, 0.003
_RARELY = 3.0  # standard deviations of a difference
_ROUNDS = ("trainer", "net", "embedder encoder", "ranker mini", "ranker onnx", "vectors")
"""Parts whose figures are rounded otherwise on another processor."""
_UNLIKE = ("ms", "extra")
_SHARED = ("vectors", "embeddings")
_TURNS = (earlier.EARLIER, earlier.CONFIRMED)
"""What is to be confirmed comes before what is, and that before what needs no confirming."""


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
    """Its name, its instructions that change speed or rounding, and what the environment takes from torch."""
    threads: int
    seconds: float
    earlier: bool
    """Whether the kept result was made before keys held editions: only then it speaks for others like it."""


def drawn(
    chosen: Sequence[Table],
    results: Path,
    count: int,
    draw: int,
    only: Sequence[str] = (),
    columns: Sequence[str] = (),
    confirm: bool = False,
    within: float = math.inf,
) -> list[Run]:
    """So many of the runs that are kept, each family of rows as often as the next.

    Of each family those come first that are still to be confirmed, then those that are; what the editions of
    today made comes last. To `confirm`, the families are taken in that order too. What took more than
    `within` seconds, or stands on a model that did, is left out; of a result that does not say, what was run
    again of its kind does, and where nothing was, it is left out. So is what is out of date, which comes out
    otherwise when it is made anew.
    """
    there = [
        run
        for table in chosen
        for run in runs(table, only, columns=columns)
        if stored.there(results, run.file)
    ]
    if within < math.inf:
        took = _longest([run for table in chosen for run in runs(table)], results)
        there = [run for run in there if max(took[each] for each in _made(run)) <= within]
    random.Random(draw).shuffle(there)
    seen: Counter[tuple[int, str, str]] = Counter()
    families: dict[str, list[tuple[int, int, Run]]] = {}
    for run in there:
        found = stored_result(run, results)
        origin, family = earlier.origin(run, found, results) if found else "", earlier.family(run)
        if origin == earlier.STALE:
            continue
        turn = _TURNS.index(origin) if origin in _TURNS else len(_TURNS)
        families.setdefault(family, []).append((turn, seen[turn, family, run.row.name], run))
        seen[turn, family, run.row.name] += 1
    for each in families.values():  # all rows of a family once, before any comes twice
        each.sort(key=lambda one: one[:2])
    order = sorted(families.values(), key=lambda each: each[0][0] if confirm else 0)
    return [one[2] for turns in zip_longest(*order) for one in turns if one is not None][:count]


def _made(run: Run) -> list[tuple[str, ...]]:
    """What a run makes: its row's figures, and all stages behind it, which another may have made for it."""
    said = [
        tuple(f"{step.data} {step.settings} {step.by.spec}" for step in steps)
        for steps in cached_models.steps_behind(run)
    ]
    stages = {steps[:number] for steps in said for number in range(1, 1 + len(steps))}
    return [(run.table.paper, run.table.table, run.row.name), *sorted(stages)]


def _longest(every: Sequence[Run], results: Path) -> dict[tuple[str, ...], float]:
    """By what is made, the seconds of the kept run that took longest: the others found it made already."""
    took: dict[tuple[str, ...], float] = {}
    for run in every:
        if found := stored_result(run, results):
            for each in _made(run):
                took[each] = max(took.get(each, 0.0), found.get("seconds", _again_took(run, results)))
    return took


def _again_took(run: Run, results: Path) -> float:
    """The seconds of the longest run of this kind that was run again, in other columns maybe."""
    cells = earlier.record(results).get(earlier.family(run), ())
    return max((cell["seconds"] for cell in cells), default=math.inf)


def again(
    wanted: Sequence[Run], results: Path, on_run: Callable[[int], None] = lambda runs: None
) -> Iterator[tuple[Run, Again]]:
    """Each of some runs, run again; the scratch folder goes at the end."""
    with scratch() as folder:
        for run in wanted:
            found = perform(run, folder, loaded(run))
            yield run, _beside(run, stored_result(run, results) or {}, found, results)
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


def _beside(run: Run, old: Result, new: Result, results: Path) -> Again:
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
        processor=processor.this_processor().label,
        threads=new["threads"],
        seconds=new["seconds"],
        earlier=earlier.is_earlier(old),
    )


def _figures(run: Run, found: Sequence[Result]) -> dict[str, float | None]:
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
    """How far two seeds of a run's kind hardly ever lie apart: three standard deviations of their difference.

    Those of all rows of its kind in its column speak together, as a row has few seeds; the run itself has no
    say, so an odd one is no excuse for itself.
    """
    off, free = 0.0, 0
    for row in run.table.row:
        every = [Run(run.table, row, run.column, seed) for seed in row.seeds]
        others = [each for each in every if each != run and earlier.family(each) == earlier.family(run)]
        found = [_figures(each, [one])[name] for each in others if (one := stored_result(each, results))]
        values = np.array([value for value in found if value is not None])
        if len(values) > 1:
            off, free = off + float(((values - values.mean()) ** 2).sum()), free + len(values) - 1
    return _RARELY * math.sqrt(2 * off / free) if free else 0.0
