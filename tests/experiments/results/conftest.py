"""A table with results of committed code."""

from __future__ import annotations

from pathlib import Path

import pytest

from demur.experiments import tables
from demur.experiments.recipe import Table
from demur.experiments.results import provenance


@pytest.fixture
def filled(experiments: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Table, Path]:
    """A table with results of committed code, and their folder."""
    monkeypatch.setattr(provenance, "commit", lambda: "abc")
    [table] = tables.find_tables(experiments)
    results = experiments.parent / "results"
    tables.fill(table, results, (), lambda runs: None)
    return table, results
