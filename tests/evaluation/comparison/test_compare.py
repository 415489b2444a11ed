from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from demur.errors import DemurError
from demur.evaluation import Comparison, Report, compare, estimates, evaluate, holm, p_value
from demur.types import Pool

POOLS = [Pool.of("?", ["a", "b", "c", "d"], [0, 1, 0, 1], f"q{n}") for n in range(30)]
EMPTY = Pool.of("?", ["a", "b"], [0, 0], "empty")


def system(
    seed: int, pools: list[Pool] = POOLS, measures: str = "MAP,P@1", convention: str = "fixed"
) -> Report:
    rng = np.random.default_rng(seed)
    scores = {pool.id: rng.random(len(pool)) for pool in [*POOLS, EMPTY]}
    report = evaluate([scores[pool.id] for pool in pools], pools, measures, convention)
    return replace(report, ranker=f"system {seed}")


def test_rows_are_paired_and_corrected_over_the_whole_table() -> None:
    a, b, c = (system(seed) for seed in range(3))
    found = compare([a, b, c])
    assert found.baseline == "system 0"
    assert [(row.measure, row.system) for row in found.rows] == [
        ("MAP", "system 1"),
        ("MAP", "system 2"),
        ("P@1", "system 1"),
        ("P@1", "system 2"),
    ]
    for row in found.rows:
        other = {"system 1": b, "system 2": c}[row.system]
        differences = other.values[row.measure] - a.values[row.measure]
        interval = estimates(differences[:, None])[0]
        assert (row.difference, row.low, row.high) == (interval.mean, interval.low, interval.high)
        assert row.p == p_value("permutation", differences)
        assert row.mean - row.baseline == pytest.approx(row.difference)
        assert row.pools == 30
    assert [row.adjusted for row in found.rows] == holm([row.p for row in found.rows])


def test_pools_are_joined_by_id_and_not_by_place() -> None:
    a, b = system(0), system(1)
    turned = Report.from_json(b.to_json())
    turned = replace(
        turned, ids=turned.ids[::-1], values={name: column[::-1] for name, column in turned.values.items()}
    )
    assert compare([a, turned]).rows == compare([a, b]).rows
    assert compare([a, a]).rows[0].p == 1.0


def test_names_baselines_and_tests() -> None:
    reports = {name: system(seed) for seed, name in enumerate("xyz")}
    found = compare(reports, "y", ["permutation", "wilcoxon", "mcnemar"], "P@1")
    assert found.baseline == "y"
    assert [(row.system, row.test) for row in found.rows] == [
        (name, test) for name in "xz" for test in ("permutation", "wilcoxon", "mcnemar")
    ]
    family = [row for row in found.rows if row.test == "wilcoxon"]
    assert [row.adjusted for row in family] == holm([row.p for row in family])
    assert compare(reports, "y", "permutation, wilcoxon,mcnemar", "P@1") == found
    assert compare(reports, -1).baseline == "z"
    assert compare(iter(reports.values())).rows
    assert json.loads(json.dumps(found.to_json()))["correction"] == "holm"
    unnamed = [replace(report, ranker="same") for report in reports.values()]
    assert compare(unnamed).baseline == "0"


def refused(says: str, *reports: Report, **more: object) -> None:
    with pytest.raises(DemurError, match=says) as caught:
        compare(dict(zip("abc", reports, strict=False)), **more)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_what_does_not_match_is_refused_with_counts_and_an_example() -> None:
    full, part = system(0), system(1, POOLS[:28])
    refused(r"a has 30 pools and b has 28, but only 28 are the same \('q28' is in one only\)", full, part)
    refused("a was measured under fixed, b under scan", full, system(1, convention="scan"))
    refused("do not have the same measures .only one has RR", full, system(1, measures="MAP,P@1,RR"))
    refused("the report b does not say what was judged", full, replace(system(1), labels=()))
    refused("two reports or more", full)
    refused("unknown measure or system 'RR'", full, system(1), measures="RR")
    refused("unknown measure or system 'd'", full, system(1), baseline="d")
    refused("baseline 2 is not among the 2 reports", full, system(1), baseline=2)
    refused("unknown test", full, system(1), tests="t")
    refused("no test is named", full, system(1), tests=[])
    refused("the seed is -1", full, system(1), seed=-1)
    refused("values must be 0 or 1", full, system(1), tests="mcnemar")


@pytest.mark.parametrize(
    "other",
    [
        Pool.of("?", ["b", "d"], [1, 1], "q3"),  # without the negatives
        Pool.of("?", ["a", "b", "c", "d"], [0, 1, 1, 0], "q3"),
        Pool.of("?", ["a", "b", "c", "d"], [0, 1, None, 1], "q3"),
    ],
)
def test_pools_with_other_judged_candidates_are_refused(other: Pool) -> None:
    changed = [*POOLS[:3], other, *POOLS[4:]]
    report = evaluate([np.arange(len(pool)) for pool in changed], changed, "MAP,P@1")
    says = "a and b have 1 pool of the same ids but not the same candidates and labels, such as 'q3'"
    refused(says, system(0), report)
    refused(says, system(0), report, common=True)


def test_pools_that_no_measure_counts_need_not_be_the_same() -> None:
    full, answerable = system(0, [EMPTY, *POOLS]), system(1)
    assert {row.pools for row in compare([full, answerable]).rows} == {30}


def test_every_measure_of_every_system_is_told_of() -> None:
    told: list[int] = []
    found = compare([system(n) for n in range(3)], tests=["permutation", "wilcoxon"], on_row=told.append)
    assert told == [1] * found.family == [1] * 4
    assert len(found.rows) == 8


def test_what_is_common_is_compared_only_when_asked() -> None:
    full, part = system(0), system(1, POOLS[5:], "MAP,RR")
    found = compare([full, part], common=True)
    assert [(row.measure, row.pools) for row in found.rows] == [("MAP", 25)]
    differences = part.values["MAP"] - full.values["MAP"][5:]
    assert found.rows[0].difference == pytest.approx(differences.mean())
    refused("no pool in common", system(0, POOLS[:5]), system(1, POOLS[5:]), common=True)
    refused("no measure in common", system(0, measures="RR"), system(1, measures="MAP"), common=True)


def test_pools_that_one_measure_leaves_out_are_left_out_for_all() -> None:
    pools = [*POOLS, EMPTY]
    a, b = (system(seed, pools, convention="scan") for seed in (0, 1))
    found = compare([a, b])
    assert {row.measure: row.pools for row in found.rows} == {"MAP": 30, "P@1": 31}
    values = {**b.values, "MAP": np.where(np.arange(31) == 3, np.nan, b.values["MAP"])}
    uneven = replace(b, values=values)
    refused("MAP counts 1 pool in some reports only, such as 'q3'", a, uneven)
    assert compare([a, uneven], common=True).rows[0].pools == 29


def test_a_comparison_is_a_value() -> None:
    found = compare([system(0), system(1)])
    assert found == compare([system(0), system(1)])
    assert isinstance(found, Comparison)
    assert found != compare([system(0), system(2)])
