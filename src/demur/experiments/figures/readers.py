"""Figures 3 to 5 of the risk-control paper, from what is kept of a table of readers."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from demur.doubt import Observed
from demur.errors import UsageError
from demur.evaluation.plots.confidence import confidence_histograms, risk_coverage
from demur.evaluation.plots.probes import Case, probe_pictures
from demur.experiments.kinds.base import Result
from demur.experiments.kinds.reading import ORACLE, probes_for, reader_of
from demur.experiments.models import reader_cache
from demur.experiments.models.cache_keys import as_kept
from demur.experiments.models.cached_models import pools_of
from demur.experiments.recipe import Table, slug
from demur.experiments.runs import Run, stored_result
from demur.risk import Predictions
from demur.types import Pool

_log = logging.getLogger("demur")
_CURVES = 7  # in one picture: there are no more colours
OUTCOMES = {"AD+": "right", "AD-": "wrong", "UD": "there is no answer"}


@as_kept()
def draw(table: Table, results: Path, path: Path, only: Sequence[str] = (), make: bool = True) -> list[Path]:
    """Write risk–coverage curves at `path`, and beside it histograms of confidence and what layers say.

    They are of one group of rows, all of one reader, and of the first column; of many rows, the curves are
    of those that the paper has too. What layers say is drawn from the cache; what is not there is made, or
    without `make` a warning says that it is missing.
    """
    groups = list(dict.fromkeys(row.group for row in table.row))
    if len(groups) > 1 and len(only) != 1:
        raise UsageError(
            f"{table.paper} {table.table} has more readers; say --only {' or --only '.join(groups)}"
        )
    column = table.column[0]
    rows = [row for row in table.row if row.runs and (not only or row.group in only)]
    found = {
        row.name: one
        for row in rows
        if (one := stored_result(Run(table, row, column, row.seeds[0]), results))
    }
    if not found:
        raise UsageError(
            f"{table.paper} {table.table} has no results yet; run demur reproduce without --cached"
        )
    printed = {each.row for each in table.published}
    of_paper, of_ours = ([name for name in found if (name in printed) == theirs] for theirs in (True, False))
    first = [*of_paper, *of_ours[::-1]][:_CURVES]
    shown = {name: one for name, one in found.items() if name in first}
    curves = {table.parts(name)[1]: _predictions(one) for name, one in shown.items()}
    risk_coverage(path, curves, of=table.parts(rows[0].name)[0])
    written = [path]
    for row in rows:
        if row.name in found and row.doubt != ORACLE:
            written.append(path.with_stem(f"{path.stem}-{slug(row.name)}"))
            confidence_histograms(written[-1], _predictions(found[row.name]), of=f"confidence: {row.shown}")
    if column.train:
        layers = path.with_stem(f"{path.stem}-layers")
        try:
            _layers(Run(table, rows[0], column, rows[0].seeds[0]), layers, make)
            written.append(layers)
        except reader_cache.NotKeptError as missing:
            _log.warning(f"{missing} must be made anew, so {layers.name} is not; leave out --cached")
    return written


def _predictions(one: Result) -> Predictions:
    """The answers that were given, as they are kept."""
    answers = one["answers"]
    outcome, given = np.array(answers["outcome"]), np.ones(len(answers["ids"]), np.bool_)
    confidence = np.array(answers["confidence"], np.float64)
    return Predictions(tuple(answers["ids"]), confidence, outcome == "AD+", outcome != "UD", given)


def _layers(run: Run, path: Path, make: bool) -> None:
    reader = reader_of(run, make)
    pools = pools_of(run.column.data)
    seen = reader_cache.predictions(reader, pools, probes_for(reader, run, make), make=make)
    probe_pictures(path, cases(seen, pools), layers=reader.layers)


def cases(seen: Observed, pools: Sequence[Pool]) -> dict[str, Case]:
    """One answer of each outcome there is: that with the median probability among those of its outcome."""
    found = seen.predictions(pools, seen.probability)
    kinds = (found.correct, found.wrong & found.answerable, found.wrong & ~found.answerable)
    chosen: dict[str, Case] = {}
    for (name, said), kind in zip(OUTCOMES.items(), kinds, strict=True):
        places = np.flatnonzero(kind & found.predicted)
        if len(places):
            place = int(places[np.argsort(found.confidence[places], kind="stable")[len(places) // 2]])
            inside = seen.pictures[seen.bounds[place] : seen.bounds[place + 1]]
            case = Case(inside, int(seen.first[place]), int(seen.last[place]))
            chosen[f"{name.replace('-', '−')}: {said}"] = case
    return chosen
