"""Whether reports can be compared: one convention, the same measures, and the same judged pools."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demur.errors import UnknownName, UsageError, count_of
from demur.evaluation.report import Report
from demur.types import FloatArray

COMMON = "--common, or common=True in Python"


def by_name(reports: Any) -> dict[str, Report]:
    """The reports by their rankers' names, or by their places where those are missing or the same."""
    reports = list(reports) if isinstance(reports, Iterable) and not isinstance(reports, str) else [reports]
    if wrong := [each for each in reports if not isinstance(each, Report)]:
        what = f"what is compared are reports, not {type(wrong[0]).__name__}"
        raise UsageError(f"{what}; give those of demur.evaluate, or demur.evaluation.Report.read of a file")
    names = [report.ranker for report in reports]
    distinct = all(names) and len(set(names)) == len(names)
    return {
        name if distinct else str(n): report
        for n, (name, report) in enumerate(zip(names, reports, strict=True))
    }


def baseline(names: list[str], baseline: int | str) -> str:
    """The name of the report that the others are compared with."""
    if len(names) < 2:
        raise UsageError("a comparison needs two reports or more")
    if isinstance(baseline, str):
        return known(baseline, names)
    if not -len(names) <= baseline < len(names):
        raise UsageError(
            f"baseline {baseline} is not among the {len(names)} reports, counted from 0; name one of them"
        )
    return names[baseline]


def known(name: str, names: list[str]) -> str:
    """The name itself, if it is among those there are."""
    if name not in names:
        raise UnknownName("measure or system", name, names)
    return name


def same_convention(named: dict[str, Report], base: str) -> str:
    """The convention that all reports were measured under."""
    ours = named[base].convention
    for name, report in named.items():
        if report.convention != ours:
            raise UsageError(
                f"{base} was measured under {ours}, {name} under {report.convention}; "
                "evaluate both under one convention"
            )
    return ours


def same_measures(named: dict[str, Report], base: str, common: bool) -> list[str]:
    """The measures that all reports have, in the order of the baseline's."""
    ours = list(named[base].measures)
    shared = [measure for measure in ours if all(measure in report.measures for report in named.values())]
    for name, report in named.items():
        if (odd := set(ours) ^ set(report.measures)) and not common:
            raise UsageError(
                f"{base} and {name} do not have the same measures (only one has {', '.join(sorted(odd))}); "
                f"evaluate both with the same, or compare what is common ({COMMON})"
            )
    if not shared:
        raise UsageError("the reports have no measure in common; evaluate all with the same")
    return shared


def same_pools(named: dict[str, Report], base: str, common: bool) -> dict[str, list[int]]:
    """For each report, the places of the shared pools, in the order of the baseline's."""
    ours = named[base]
    shared = set(ours.ids).intersection(*(report.ids for report in named.values()))
    for name, report in named.items():
        odd = set(ours.ids) ^ set(report.ids)
        if odd and not common:
            raise UsageError(
                f"{base} has {count_of(ours.pools, 'pool')} and {name} has {report.pools:,}, but only "
                f"{ours.pools + report.pools - len(odd) >> 1:,} are the same ({min(odd)!r} is in one only); "
                f"evaluate both on the same data, or compare what is common ({COMMON})"
            )
    if not shared:
        raise UsageError("the reports have no pool in common; evaluate all on the same data")
    places: dict[str, list[int]] = {}
    for name, report in sorted(named.items(), key=lambda item: item[0] != base):  # the baseline first
        at = {pool: place for place, pool in enumerate(report.ids)}
        places[name] = [at[pool] for pool in ours.ids if pool in shared]
        _same_labels(base, ours, places[base], name, report, places[name])
    return places


def _same_labels(
    base: str, ours: Report, here: list[int], name: str, theirs: Report, there: list[int]
) -> None:
    """Refuse reports whose shared pools did not hold the same judged candidates."""
    for one, report in ((base, ours), (name, theirs)):
        if not report.labels:
            raise UsageError(f"the report {one} does not say what was judged; evaluate it again")
    other = [ours.ids[a] for a, b in zip(here, there, strict=True) if ours.labels[a] != theirs.labels[b]]
    if other:
        raise UsageError(
            f"{base} and {name} have {count_of(len(other), 'pool')} of the same ids but not the same "
            f"candidates and labels, such as {other[0]!r}; evaluate both on the same data"
        )


def counted(
    measure: str, table: dict[str, FloatArray], ids: list[str], places: list[int], common: bool
) -> NDArray[np.bool_]:
    """Which of the shared pools the measure counts in all reports."""
    counts = ~np.isnan(np.stack(list(table.values())))
    shared: NDArray[np.bool_] = np.logical_and.reduce(counts)
    uneven = np.logical_or.reduce(counts) & ~shared
    if uneven.any() and not common:
        example = ids[places[int(np.argmax(uneven))]]
        raise UsageError(
            f"{measure} counts {count_of(int(uneven.sum()), 'pool')} in some reports only, such as "
            f"{example!r}; evaluate all on the same labels, or compare what is common ({COMMON})"
        )
    if not shared.any():
        raise UsageError(f"no pool counts for {measure} in all reports; leave that measure out")
    return shared
