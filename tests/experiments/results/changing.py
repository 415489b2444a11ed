"""Stored results with some of what they say changed, and what a table then says of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from demur.experiments import tables
from demur.experiments.recipe import Table

LEXICAL = "toy/table1: lexical"


def changed(results: Path, row: str = "bm25", **said: Any) -> Path:
    """A stored result with some of what it says changed, or left out."""
    file = results / f"toy/table1/{row}/animals-seed0.json"
    found = json.loads(file.read_text()) | said
    file.write_text(json.dumps({name: value for name, value in found.items() if value is not None}))
    return file


def made_earlier(results: Path, row: str = "bm25", **said: Any) -> Path:
    """The same as it was before keys held editions."""
    return changed(results, row, editions=None, settings=None, key="0123456789abcdef", **said)


def origins(table: Table, results: Path) -> dict[str, str]:
    return {cell.row: cell.origin for cell in tables.cells(table, results)}
