"""Every registered dataset passes the same checks; a new one is found here by itself."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import pytest

from demur import registry
from demur.data import Pools, dataset, sources
from demur.errors import MissingData
from demur.types import Candidate, Pool

FIRST = 50  # pools of a split that are looked at
SPLITS = [pools for name in registry.names("dataset") for pools in dataset(name).pools.values()]


@pytest.fixture(params=SPLITS, ids=lambda pools: pools.id)
def split(request: pytest.FixtureRequest) -> Pools:
    found: Pools = request.param
    return found


def test_without_data_one_line_says_how_to_obtain_it(split: Pools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEMUR_DATA", raising=False)
    if not split.files:  # it comes with demur
        check(split.stream())
        return
    with pytest.raises(MissingData) as caught:
        next(split.stream())
    message = str(caught.value)
    obtain = sources.facts(split.files[0].partition("/")[0]).obtain
    assert "\n" not in message and message.startswith(f"{split.id.partition('/')[0]} needs {split.files[0]}")
    assert obtain in message and "DEMUR_DATA is not set" in message


@pytest.mark.data
def test_with_data_it_keeps_the_contract_of_pools(split: Pools) -> None:
    if any(sources.find_file(file) is None for file in split.files):
        with pytest.raises(MissingData):
            next(split.stream())
        return
    check(split.stream())


def check(pools: Iterator[Pool]) -> None:
    found = list(islice(pools, FIRST))
    seen: set[str] = set()
    assert found
    for pool in found:
        assert type(pool.id) is str and pool.id and pool.id not in seen
        seen.add(pool.id)
        assert type(pool.question) is str
        assert all(type(one) is Candidate and type(one.text) is str for one in pool.candidates)
        ids = [candidate.id for candidate in pool.candidates]
        assert all(type(id) is str and id for id in ids) and len(set(ids)) == len(ids)
        assert all(label is None or (type(label) is int and label >= 0) for label in pool.labels)


@pytest.mark.parametrize("name", registry.names("dataset"))
def test_its_facts_are_told(name: str) -> None:
    assert dataset(name).splits
    facts = sources.facts(name)
    assert facts.description and facts.licence and facts.citation and facts.obtain
