from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from demur.data import formats
from demur.types import Pool

RECIPE = """
paper = "toy"
table = "table1"
title = "A table"
measures = ["MAP", "P@1"]
conventions = ["fixed", "scan"]
differs = "Everything."

[[column]]
name = "animals"
data = "{data}"

[[row]]
name = "bm25"
group = "lexical"
ranker = "bm25"

[[row]]
name = "random"
group = "floor"
ranker = "random"
seeds = [0, 1, 2]

[[row]]
name = "not yet"

[[published]]
row = "not yet"
measure = "MAP"
convention = "fixed"
values = {{ animals = 0.5 }}
"""


@pytest.fixture
def experiments(tmp_path: Path) -> Path:
    made = [
        Pool.of(f"ape w{n}", [f"bee w{n}", "ape", "cat", f"ape w{n}"], [0, 0, 0, n % 3 > 0], id=str(n))
        for n in range(9)
    ]
    made = [
        dataclasses.replace(pool, extra={"answers": [{"text": "ape"}] if n % 3 else []})
        for n, pool in enumerate(made)
    ]
    formats.write_pools(tmp_path / "animals.jsonl", made)
    folder = tmp_path / "experiments" / "toy"
    folder.mkdir(parents=True)
    (folder / "table1.toml").write_text(RECIPE.format(data=tmp_path / "animals.jsonl"), "utf-8")
    return tmp_path / "experiments"
