"""Which systems differ: paired tests, joined by pool id, with Holm's correction over the whole table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demur.errors import UnknownName, UsageError
from demur.evaluation.bootstrap import difference
from demur.evaluation.intervals import estimates
from demur.evaluation.measures import Measure, parse_measures
from demur.evaluation.measures import measure as find_measure
from demur.evaluation.report import Report
from demur.evaluation.selective import Selective
from demur.evaluation.significance import holm, p_value
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

    def to_json(self) -> dict[str, Any]:
        """The comparison as plain values."""
        return {**asdict(self), "rows": [asdict(row) for row in self.rows], "correction": "holm"}


def compare(
    reports: Mapping[str, Report] | Sequence[Report],
    baseline: int | str = 0,
    tests: str | Iterable[str] = ("permutation",),
    measures: str | Measure | Iterable[str | Measure] | None = None,
    *,
    common: bool = False,
    confidence: float = 0.95,
    seed: int = 0,
) -> Comparison:
    """The comparison of every report with the baseline, which is a place in the list or a name.

    All reports must be of the same pools, labels, measures and convention. With `common`, what counts is
    the pools and measures that all of them have.
    """
    named = dict(reports) if isinstance(reports, Mapping) else _named(reports)
    base = _baseline(list(named), baseline)
    convention = _same_convention(named, base)
    columns = _same_measures(named, base, common)
    if measures is not None:
        columns = [_known(str(measure), columns) for measure in parse_measures(measures)]
    places = _same_pools(named, base, common)
    rows = []
    for measure in columns:
        table = {name: _values(measure, report)[places[name]] for name, report in named.items()}
        counts = _counted(measure, table, list(named[base].ids), places[base], common)
        for name in named:
            if name == base:
                continue
            if measure in named[base].values:
                pair = table[base][counts], table[name][counts]
                rows += [_row(measure, name, test, *pair, confidence, seed) for test in _listed(tests)]
            else:
                kept = {one: np.array(places[one])[counts] for one in (base, name)}
                rows.append(_row_of_answers(measure, named, base, name, kept, confidence, seed))
    return Comparison(base, convention, confidence, tuple(_corrected(rows)))


def _values(measure: str, report: Report) -> FloatArray:
    """The measure's value for each pool; for measures over answers, the confidence that they look at."""
    if measure in report.values or report.answered is None:
        return report.values[measure]
    return report.answered.confidence


def _row(
    measure: str, system: str, test: str, before: FloatArray, after: FloatArray, confidence: float, seed: int
) -> Row:
    differences = after - before
    interval = estimates(differences[:, None], confidence=confidence, seed=seed)[0]
    p = p_value(test, differences, seed)
    return Row(
        measure=measure,
        system=system,
        test=test,
        pools=len(differences),
        baseline=float(before.mean()),
        mean=float(after.mean()),
        difference=interval.mean,
        low=interval.low,
        high=interval.high,
        p=p,
        adjusted=p,
    )


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
    return [tests] if isinstance(tests, str) else list(tests)


def _named(reports: Sequence[Report]) -> dict[str, Report]:
    """The reports by their rankers' names, or by their places where those are missing or the same."""
    names = [report.ranker for report in reports]
    distinct = all(names) and len(set(names)) == len(names)
    return {
        name if distinct else str(n): report
        for n, (name, report) in enumerate(zip(names, reports, strict=True))
    }


def _baseline(names: list[str], baseline: int | str) -> str:
    if len(names) < 2:
        raise UsageError("a comparison needs two reports or more")
    if isinstance(baseline, str):
        return _known(baseline, names)
    if not -len(names) <= baseline < len(names):
        raise UsageError(f"baseline {baseline} is not among the {len(names)} reports, counted from 0")
    return names[baseline]


def _known(name: str, names: list[str]) -> str:
    if name not in names:
        raise UnknownName("measure or system", name, names)
    return name


def _same_convention(named: dict[str, Report], base: str) -> str:
    ours = named[base].convention
    for name, report in named.items():
        if report.convention != ours:
            raise UsageError(
                f"{base} was measured under {ours}, {name} under {report.convention}; "
                "evaluate both under one convention"
            )
    return ours


def _same_measures(named: dict[str, Report], base: str, common: bool) -> list[str]:
    ours = list(named[base].measures)
    shared = [measure for measure in ours if all(measure in report.measures for report in named.values())]
    for name, report in named.items():
        if (odd := set(ours) ^ set(report.measures)) and not common:
            raise UsageError(
                f"{base} and {name} do not have the same measures (only one has {', '.join(sorted(odd))}); "
                "evaluate both with the same, or compare what is common"
            )
    if not shared:
        raise UsageError("the reports have no measure in common; evaluate all with the same")
    return shared


def _same_pools(named: dict[str, Report], base: str, common: bool) -> dict[str, list[int]]:
    """For each report, the places of the shared pools, in the order of the baseline's."""
    ours = named[base]
    shared = set(ours.ids).intersection(*(report.ids for report in named.values()))
    for name, report in named.items():
        odd = set(ours.ids) ^ set(report.ids)
        if common:
            continue
        if odd:
            raise UsageError(
                f"{base} has {ours.pools:,} pools and {name} has {report.pools:,}, but only "
                f"{ours.pools + report.pools - len(odd) >> 1:,} are the same ({min(odd)!r} is in one only); "
                "evaluate both on the same data, or compare what is common"
            )
        if ours.labels and report.labels and ours.labels != report.labels:
            raise UsageError(
                f"{base} and {name} have pools of the same ids but not the same labels; "
                "evaluate both on the same data"
            )
    if not shared:
        raise UsageError("the reports have no pool in common; evaluate all on the same data")
    places = {}
    for name, report in named.items():
        at = {pool: place for place, pool in enumerate(report.ids)}
        places[name] = [at[pool] for pool in ours.ids if pool in shared]
    return places


def _counted(
    measure: str, table: dict[str, FloatArray], ids: list[str], places: list[int], common: bool
) -> NDArray[np.bool_]:
    """Which of the shared pools the measure counts in all reports."""
    counts = ~np.isnan(np.stack(list(table.values())))
    shared: NDArray[np.bool_] = np.logical_and.reduce(counts)
    uneven = np.logical_or.reduce(counts) & ~shared
    if uneven.any() and not common:
        example = ids[places[int(np.argmax(uneven))]]
        raise UsageError(
            f"{measure} counts {int(uneven.sum()):,} pools in some reports only, such as {example!r}; "
            "evaluate all on the same labels, or compare what is common"
        )
    if not shared.any():
        raise UsageError(f"no pool counts for {measure} in all reports; leave that measure out")
    return shared
