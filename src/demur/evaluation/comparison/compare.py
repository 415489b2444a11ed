"""Which systems differ: paired tests, joined by pool id, with Holm's correction over the whole table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demur.errors import UnknownName, UsageError
from demur.evaluation.comparison import comparability
from demur.evaluation.comparison.significance import TESTS, holm, p_value
from demur.evaluation.intervals import estimates
from demur.evaluation.measures import Measure, parse_measures
from demur.evaluation.measures import measure as find_measure
from demur.evaluation.report import Report
from demur.evaluation.selective.bootstrap import difference
from demur.evaluation.selective.measures import Selective
from demur.types import FloatArray

BOOTSTRAP = "bootstrap"
"""The test of measures that have no value per pool, whatever tests are asked for."""


@dataclass(frozen=True)
class Row:
    """One measure of one system beside the baseline's, over the pools that it counts."""

    measure: str
    system: str
    test: str
    pools: int
    baseline: float
    mean: float
    difference: float
    low: float
    high: float
    p: float
    adjusted: float


@dataclass(frozen=True)
class Comparison:
    """All systems against one, measure by measure."""

    baseline: str
    convention: str
    confidence: float
    rows: tuple[Row, ...]

    @property
    def family(self) -> int:
        """How many comparisons Holm's correction is over: each test is a family by itself."""
        return len({(row.measure, row.system) for row in self.rows})

    def to_json(self) -> dict[str, Any]:
        """The comparison as plain values."""
        return {**asdict(self), "rows": [asdict(row) for row in self.rows], "correction": "holm"}


def compare(
    reports: Mapping[str, Report] | Iterable[Report],
    baseline: int | str = 0,
    tests: str | Iterable[str] = ("permutation",),
    measures: str | Measure | Iterable[str | Measure] | None = None,
    *,
    common: bool = False,
    confidence: float = 0.95,
    seed: int = 0,
    on_row: Callable[[int], None] = lambda rows: None,
) -> Comparison:
    """The comparison of every report with the baseline, which is a place in the list or a name.

    All reports must be of the same pools, judged candidates, measures and convention. With `common`, what
    counts is the pools and measures that all of them have. `on_row` is called after each measure of each
    system.
    """
    named = dict(reports) if isinstance(reports, Mapping) else comparability.by_name(reports)
    wanted = _listed(tests)
    base = comparability.baseline(list(named), baseline)
    convention = comparability.same_convention(named, base)
    columns = comparability.same_measures(named, base, common)
    if measures is not None:
        columns = [comparability.known(str(measure), columns) for measure in parse_measures(measures)]
    places = comparability.same_pools(named, base, common)
    rows = []
    for measure in columns:
        table = {name: _values(measure, report)[places[name]] for name, report in named.items()}
        counts = comparability.counted(measure, table, list(named[base].ids), places[base], common)
        for name in named:
            if name == base:
                continue
            if measure in named[base].values:
                pair = table[base][counts], table[name][counts]
                rows += _rows(measure, name, wanted, *pair, confidence, seed)
            else:
                kept = {one: np.array(places[one])[counts] for one in (base, name)}
                rows.append(_row_of_answers(measure, named, base, name, kept, confidence, seed))
            on_row(1)
    return Comparison(base, convention, confidence, tuple(_corrected(rows)))


def _values(measure: str, report: Report) -> FloatArray:
    """The measure's value for each pool; for measures over answers, the confidence that they look at."""
    if measure in report.values or report.answered is None:
        return report.values[measure]
    return report.answered.confidence


def _rows(
    measure: str,
    system: str,
    tests: list[str],
    before: FloatArray,
    after: FloatArray,
    confidence: float,
    seed: int,
) -> list[Row]:
    """A row for each test."""
    differences = after - before
    interval = estimates(differences[:, None], confidence=confidence, seed=seed)[0]
    row = Row(
        measure=measure,
        system=system,
        test="",
        pools=len(differences),
        baseline=float(before.mean()),
        mean=float(after.mean()),
        difference=interval.mean,
        low=interval.low,
        high=interval.high,
        p=1.0,
        adjusted=1.0,
    )
    ps = [p_value(test, differences, seed) for test in tests]
    return [replace(row, test=test, p=p, adjusted=p) for test, p in zip(tests, ps, strict=True)]


def _row_of_answers(
    measure: str,
    named: dict[str, Report],
    base: str,
    system: str,
    places: dict[str, NDArray[np.int64]],
    confidence: float,
    seed: int,
) -> Row:
    """A row of a measure that has no value per pool: both systems' questions are resampled together."""
    wanted = find_measure(measure)
    if not isinstance(wanted, Selective):
        raise UsageError(f"{measure} has no values per pool to compare; evaluate again with this version")
    pair = []
    for name in (base, system):
        answered = named[name].answered
        if answered is None or wanted.rel not in answered.wrong:
            raise UsageError(
                f"the report {name} does not hold the answers behind {measure}; evaluate it again"
            )
        pair.append(answered.answers(wanted.rel, places[name]))
    found = difference(wanted, *pair, confidence=confidence, seed=seed)
    return Row(
        measure=measure,
        system=system,
        test=BOOTSTRAP,
        pools=len(places[base]),
        baseline=found.before,
        mean=found.after,
        difference=found.after - found.before,
        low=found.low,
        high=found.high,
        p=found.p,
        adjusted=found.p,
    )


def _corrected(rows: list[Row]) -> list[Row]:
    """The rows with adjusted p; the rows of one test are one family, with those that only bootstraps test."""
    adjusted: dict[int, float] = {}
    for test in {row.test for row in rows} - {BOOTSTRAP} or {BOOTSTRAP}:
        family = [place for place, row in enumerate(rows) if row.test in (test, BOOTSTRAP)]
        for place, p in zip(family, holm([rows[place].p for place in family]), strict=True):
            adjusted[place] = max(p, adjusted.get(place, 0.0))
    return [replace(row, adjusted=adjusted[place]) for place, row in enumerate(rows)]


def _listed(tests: str | Iterable[str]) -> list[str]:
    given = tests.split(",") if isinstance(tests, str) else tests
    listed = list(dict.fromkeys(test.strip() for test in given))
    for test in listed:
        if test not in TESTS:
            raise UnknownName("test", test, TESTS)
    if not listed:
        raise UsageError(f"no test is named; name one of {', '.join(TESTS)}")
    return listed
