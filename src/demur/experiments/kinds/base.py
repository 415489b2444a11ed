"""What a kind of table is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from demur.experiments.recipe import Column
from demur.types import Pool

if TYPE_CHECKING:
    from demur.experiments.runs import Run

Result = dict[str, Any]
"""What is kept of a run under results/."""


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

    def over(self, seeds: Sequence[float]) -> Figure:
        """The mean of several seeds, with an interval over questions that is made one over seeds too.

        As far as these are apart, by Student's distribution: few seeds leave much open. One says nothing.
        """
        if self.low is None or self.high is None or len(seeds) < 2:
            return self
        open_ = np.std(seeds, ddof=1) / len(seeds) ** 0.5 * stats.t.ppf(0.975, len(seeds) - 1)
        low, high = (float(np.hypot(end - self.mean, open_)) for end in (self.low, self.high))
        return replace(self, low=self.mean - low, high=self.mean + high)


@dataclass(frozen=True)
class Loaded:
    """The data of a column, and its hash."""

    pools: Sequence[Pool]
    fit: Sequence[Pool]
    sha: str


class Kind(ABC):
    """A kind of table."""

    def load(self, data: str, fit: str = "") -> Loaded:
        """The data of a column; ids joined by + are read one after the other."""
        from demur.experiments.models.cached_models import hash_of, pools_of

        shas = [hash_of(names) for names in (data, fit) if names]
        return Loaded(pools_of(data), pools_of(fit), "-".join(shas))

    @abstractmethod
    def depends(self, run: Run) -> Result:
        """What a result depends on besides the data, the seed and editions."""

    def promised(self, run: Run) -> Result:
        """What figures of promises over random halves depend on."""
        table = run.table
        return {"splits": table.splits, "confidence": table.confidence, "measures": table.measures}

    @abstractmethod
    def result(self, run: Run, loaded: Loaded) -> Result:
        """What is kept of a run, under keys of the kind's own."""

    def points(self, column: Column) -> Sequence[str]:
        """The parts of a column that have a cell each; in most tables a column is one, without a name."""
        return [""]

    def readers(self, found: Sequence[Result]) -> int:
        """How many readers the results are of; 0 where they are of none."""
        return len({one["reader"] for one in found if "reader" in one})

    def outcomes(self, found: Sequence[Result]) -> tuple[int, int, int] | None:
        """How many answers are right, how many answer what has no answer, of how many questions; if known."""
        if not found or not {"AD+", "UD"} <= found[0].get("figures", {}).keys():
            return None
        right, misled = (int(found[0]["figures"][name][0]) for name in ("AD+", "UD"))
        return right, misled, int(found[0]["pools"])

    def values(self, found: Sequence[Result], convention: str, measure: str) -> dict[str, float]:
        """By pool, the figure that `figure` is the mean of; nothing where pools have none."""
        return {}

    @abstractmethod
    def figure(
        self, found: Sequence[Result], convention: str, measure: str, point: str = ""
    ) -> Figure | None:
        """The figure of a cell from the runs that are kept for it; None if they do not have it."""
