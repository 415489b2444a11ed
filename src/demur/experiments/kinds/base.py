"""What a kind of table is."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from demur import data
from demur.experiments.recipe import Column
from demur.types import Pool

if TYPE_CHECKING:
    from demur.experiments.runs import Run

Kept = dict[str, Any]
"""What a file under results/ holds."""


@dataclass(frozen=True)
class Figure:
    """A figure of a table: its low and high are None where nothing is left open."""

    mean: float
    low: float | None
    high: float | None
    pools: int

    @classmethod
    def of(cls, kept: Sequence[float | None] | None, pools: int) -> Figure | None:
        """The figure whose mean, low and high were kept; None where they were not."""
        if kept is None or kept[0] is None:
            return None
        return cls(kept[0], kept[1], kept[2], pools)


@dataclass(frozen=True)
class Loaded:
    """The data of a column, and its hash."""

    pools: Sequence[Pool]
    fit: Sequence[Pool]
    sha: str


class Kind(ABC):
    """A kind of table."""

    def load(self, column: Column) -> Loaded:
        """The data of a column; ids joined by + are read one after the other."""
        pools, fit = (_pools(names) for names in (column.data, column.fit))
        shas = [fingerprint(pools), *([fingerprint(fit)] if column.fit else [])]
        return Loaded(pools, fit, "-".join(shas))

    @abstractmethod
    def depends(self, run: Run) -> Kept:
        """What a result depends on besides the data and the code."""

    @abstractmethod
    def modules(self, run: Run) -> list[str]:
        """The modules whose code, with all that they import, a result depends on."""

    @abstractmethod
    def result(self, run: Run, loaded: Loaded) -> Kept:
        """What is kept of a run, under keys of the kind's own."""

    @abstractmethod
    def figure(self, found: Sequence[Kept], convention: str, measure: str) -> Figure | None:
        """The figure of a cell from the runs that are kept for it; None if they do not have it."""


def _pools(names: str) -> Sequence[Pool]:
    parts = [data.pools(name.strip()) for name in names.split("+") if name.strip()]
    return parts[0] if len(parts) == 1 else [pool for part in parts for pool in part]


def fingerprint(pools: Sequence[Pool]) -> str:
    """A hash of everything in some pools that a ranker or a measure can see."""
    digest = hashlib.sha256()
    for pool in pools:
        row = [pool.id, pool.question, [[c.id, c.text, c.label] for c in pool.candidates]]
        digest.update(json.dumps(row).encode())
    return digest.hexdigest()[:16]
