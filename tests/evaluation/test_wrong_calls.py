"""What is given in place of rankers, pools and reports is one clear line."""

from __future__ import annotations

from typing import Any

import pytest

import demur
from demur.errors import UsageError
from demur.types import Pool

POOLS = [Pool.of("Who sails?", ["Ada sails.", "Nobody."], [1, 0])]


@pytest.mark.parametrize("ranker", [None, len, object()])
def test_what_is_no_ranker_is_told(ranker: Any) -> None:
    with pytest.raises(UsageError, match=r"neither a ranker, nor its name, nor scores; derive it from"):
        demur.evaluate(ranker, POOLS)


@pytest.mark.parametrize("pools", [["a"], [{"question": "Who?"}], (["Who?", "Ada"],)])
def test_what_is_no_pool_is_told(pools: Any) -> None:
    for use in (demur.evaluate, demur.calibrate):
        with pytest.raises(UsageError, match=r"the first of these is \w+; make them with demur\.Pool\.of"):
            use("bm25", pools)


@pytest.mark.parametrize("reports", [None, "a.json", ["a.json", "b.json"]])
def test_what_is_no_report_is_told(reports: Any) -> None:
    with pytest.raises(UsageError, match="what is compared are reports, not"):
        demur.compare(reports)


@pytest.mark.parametrize("seed", [-1, 1.5, None])
def test_a_seed_is_a_whole_number(seed: Any) -> None:
    with pytest.raises(UsageError, match=r"the seed is .*; it must be a whole number from 0"):
        demur.evaluate("bm25", POOLS, seed=seed)
