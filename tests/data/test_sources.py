from __future__ import annotations

import pytest

from demur import registry
from demur.data import Pools, dataset, load, sources


@pytest.mark.parametrize("name", registry.OURS["dataset"])
def test_every_dataset_has_facts(name: str) -> None:
    facts = sources.facts(name)
    assert facts.description and facts.licence and facts.citation and facts.obtain
    assert not facts.obtain.endswith(".")  # it stands in the middle of a line
    assert len(facts.description) <= 110


@pytest.mark.parametrize("name", registry.OURS["dataset"])
def test_every_file_of_a_split_has_a_checksum_or_is_a_known_hole(name: str) -> None:
    for pools in dataset(name).pools.values():
        for file in pools.files:
            facts = sources.facts(file.partition("/")[0])
            assert file in facts.files or file in facts.holes
            assert not (file in facts.files and file in facts.holes)


@pytest.mark.parametrize("name", sources.known())
def test_counts_belong_to_ids_and_files_to_the_dataset(name: str) -> None:
    facts = sources.facts(name)
    for rest, counts in facts.counts.items():
        assert isinstance(load(f"{name}/{rest}"), Pools)
        assert set(counts) <= {"pools", "pairs", "positives", "empty", "by"}
        assert counts.get("by", "us") == "us"
    for file, expected in facts.files.items():
        assert file.startswith(f"{name}/")
        assert set(expected) == {"bytes", "sha256"}
        assert len(str(expected["sha256"])) == 64


def test_another_package_has_no_facts_here() -> None:
    assert sources.facts("elsewhere").files == {}
