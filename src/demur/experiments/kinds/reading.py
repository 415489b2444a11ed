"""Readers whose answers are doubted: one prediction for each question, and a confidence for each row.

The readers come from ``[[model]]``. Probes learn from a column's `train`, where the reader has learnt too;
doubts from its `fit`, where it has not; and all is measured on the column's `data`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from demur.doubt import Doubt, Observed, doubt
from demur.doubt.observing import observe
from demur.errors import DemurError
from demur.experiments.kinds.answer_figures import RULES, Numbers, gains, gated, plain, selective
from demur.experiments.kinds.base import Figure, Kind, Loaded, Result
from demur.experiments.kinds.halves import Promise
from demur.experiments.models import reader_cache
from demur.experiments.models.cached_models import hash_of
from demur.experiments.models.rankers import identity, spelled
from demur.reading.base import Reader
from demur.reading.opening import reader as opened
from demur.risk import Predictions
from demur.specs import listed
from demur.types import Pool

if TYPE_CHECKING:
    from demur.doubt.probing.probes import Probes
    from demur.experiments.runs import Run

ORACLE = "oracle"
"""The confidence that knows which answers are right: no other can have a lower AURC."""
COSTS = ("ms", "extra")
"""Milliseconds of a processor per question of reading and doubting, and by what share that is more than
reading alone: the median of some turns, the lowest and the highest. What else a machine does counts not."""
_TIMED, _TURNS = 100, 5
PRECISION = 6


class Reading(Kind):
    """Measures are those of `kinds.answer_figures`, ``gain AURC`` and the like, ``ms`` and ``extra``.

    Of each question that is answered the confidence and the outcome are kept, so that figures can be drawn.
    """

    def depends(self, run: Run) -> Result:
        """The readers, the doubt, what probes learn from, and the promise."""
        return {
            "reader": reader_identity(run, run.row.reader),
            "others": [reader_identity(run, each) for each in listed(run.row.others)],
            "passes": run.row.passes,
            "doubt": run.row.doubt if run.row.doubt == ORACLE else doubt(run.row.doubt).spec,
            "train": hash_of(run.column.train) if run.column.train else "",
            "seed": run.seed,
            **self.promised(run),
        }

    def result(self, run: Run, loaded: Loaded) -> Result:
        """The figures by measure, and what was said of each answer."""
        reader, others = readers(run)
        probes = probes_for(reader, run)
        seen = reader_cache.predictions(reader, loaded.pools, probes)
        given = [reader_cache.predictions(each, loaded.pools, fixed=seen) for each in others]
        given += [
            reader_cache.predictions(reader, loaded.pools, fixed=seen, dropout=number)
            for number in range(run.row.passes)
        ]
        base = seen.predictions(loaded.pools, seen.probability)
        how = None if run.row.doubt == ORACLE else _fitted(run, reader, loaded, probes)
        confidences = base.correct.astype(np.float64) if how is None else how.confidence_of(seen, given)
        found = replace(base, confidence=confidences)
        names = [name for name in run.table.measures if name in COSTS]
        costs = _costs(how, reader, others, run.row.passes, loaded.pools, probes) if names and how else {}
        answered = np.flatnonzero(found.predicted)
        kinds = np.select([found.correct, found.answerable], ["AD+", "AD-"], "UD")
        return {
            "reader": run.row.reader,
            "doubt": run.row.doubt,
            "pools": len(loaded.pools),
            "figures": figures(run, base, found) | {name: costs.get(name) for name in names},
            "answers": {
                "ids": [found.ids[place] for place in answered.tolist()],
                "confidence": [round(value, PRECISION) for value in confidences[answered].tolist()],
                "outcome": kinds[answered].tolist(),
            },
        }

    def figure(
        self, found: Sequence[Result], convention: str, measure: str, point: str = ""
    ) -> Figure | None:
        """The mean over seeds of the figure and of its ends; over questions, these are over seeds too."""
        rows = [row for one in found if (row := one["figures"].get(measure)) and row[0] is not None]
        if not rows:
            return None
        open_ = any(value is None for row in rows for value in row)
        ends = [None, None] if open_ else np.mean([row[1:] for row in rows], axis=0).tolist()
        means = [float(row[0]) for row in rows]
        figure = Figure(float(np.mean(means)), ends[0], ends[1], found[0]["pools"])
        over_others = measure in COSTS or measure.partition(" ")[0] in RULES  # of turns, or of halves
        return figure if over_others else figure.over(means)


def figures(run: Run, base: Predictions, found: Predictions) -> dict[str, Numbers]:
    """Each measure of the table but what it costs; `base` has PROBA as its confidence."""
    known = plain(found)
    asked = [name for name in run.table.measures if name not in (*known, *COSTS)]
    tries = [name for name in asked if name.partition(" ")[0] in RULES]
    better = [name for name in asked if name.startswith("gain ")]
    promise = Promise(0.0, run.table.confidence, run.table.splits, run.seed)
    known |= gated(tries, found, promise) | gains(better, base, found)
    known |= selective([name for name in asked if name not in (*tries, *better)], found)
    return {name: known[name] for name in run.table.measures if name in known}


def reader_identity(run: Run, spec: str) -> str:
    """What a reader is known by: what it is made from, or what it is where nothing has to be made."""
    return identity(run, spec) if "{" in spec else _opened(spec).fingerprint


def readers(run: Run) -> tuple[Reader, list[Reader]]:
    """The reader whose answers are doubted, and the others that are asked."""
    return reader_of(run), [_opened(each) for each in listed(spelled(run, run.row.others))]


def reader_of(run: Run, make: bool = True) -> Reader:
    """The reader whose answers are doubted."""
    try:
        return _opened(spelled(run, run.row.reader, make))
    except DemurError:
        if make:
            raise
        raise reader_cache.NotKeptError("the reader") from None


@lru_cache(maxsize=8)
def _opened(spec: str) -> Reader:
    return opened(spec)


def probes_for(reader: Reader, run: Run, make: bool = True) -> Probes | None:
    """The probes of a reader with states to show, where the column has something for them to learn from."""
    if not run.column.train or not reader.shows_states:
        return None
    from demur.doubt.probing.probe_training import ProbeTrainer

    return reader_cache.probes_of(reader, run.column.train, ProbeTrainer(), make)


def _fitted(run: Run, reader: Reader, loaded: Loaded, probes: Probes | None) -> Doubt:
    """The doubt, fitted on the column's `fit` if it learns, with the run's seed where it takes one."""
    how = doubt(run.row.doubt)
    if "seed" in how.settings:
        how = doubt(run.row.doubt, seed=run.seed)
    if not how.needs_fitting:
        return how
    seen = reader_cache.predictions(reader, loaded.fit, probes)
    return how.fit(seen, seen.predictions(loaded.fit, seen.probability).correct)


def _costs(
    how: Doubt,
    reader: Reader,
    others: Sequence[Reader],
    passes: int,
    pools: Sequence[Pool],
    probes: Probes | None,
) -> dict[str, Numbers]:
    """What reading and doubting some of the questions costs: the median of some turns, and their ends."""
    some = pools[:_TIMED]
    if not some:
        return {}
    through = probes if how.pictures else None
    seen = observe(reader, some, through)

    def whole() -> None:
        again = observe(reader, some, through)
        given: list[Observed] = [observe(each, some, fixed=again) for each in others]
        given += [observe(reader, some, fixed=again, dropout=number) for number in range(passes)]
        how.confidence_of(seen, given)

    turns = [(_seconds(lambda: observe(reader, some)), _seconds(whole)) for _ in range(_TURNS)]
    alone, everything = np.array(turns).T
    each = {"ms": 1000 * everything / len(some), "extra": everything / alone - 1}
    return {
        name: (float(np.median(found)), float(found.min()), float(found.max()))
        for name, found in each.items()
    }


def _seconds(call: Callable[[], object]) -> float:
    began = time.process_time()
    call()
    return time.process_time() - began
