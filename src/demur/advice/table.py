"""What advice found, as rows for people and as values for machines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from demur.advice.deciding.choosing import Judged, best_of, chosen
from demur.advice.trials.measuring import Cost, plain
from demur.advice.trials.trying import Trial

COLUMNS = ("method", "MAP", "95 % interval", "expected", "P@1", "training", "ms", "memory", "disk")


@dataclass(frozen=True, eq=False)
class Row:
    """A method with all that was measured of it."""

    judged: Judged
    cost: Cost | None
    coverage: float | None = None  # of a certified gate; None where the labels carry none
    tried: bool = False  # whether a gate was tried at all

    def cells(self) -> list[str]:
        """The row as the table shows it."""
        quality, cost = self.judged.quality, self.cost
        trained = self.judged.trial.method.trains
        shown = [
            self.judged.name,
            f"{quality.mean:.3f}",
            f"{quality.low:.3f}–{quality.high:.3f}",
            f"{self.judged.expected:.3f}",
            f"{self.judged.report.measures['P@1'].mean:.3f}",
            _seconds(self.judged.trial.train_seconds) if trained else "–",
            "–" if cost is None else f"{cost.ms_per_question:.1f}",
            "–" if cost is None or cost.memory_mb is None else f"{cost.memory_mb:,.0f}",
            "–" if cost is None else f"{cost.disk_mb:,.1f}",
        ]
        return [*shown, *([_coverage(self.coverage)] if self.tried else [])]

    def to_json(self) -> dict[str, Any]:
        """The row as plain values."""
        judged = self.judged
        return {
            "method": judged.name,
            "spec": judged.trial.method.spec,
            "measures": {name: asdict(each) for name, each in judged.report.measures.items()},
            "pools": judged.report.pools,
            "expected": judged.expected,
            "behind_best": None if judged.behind is None else asdict(judged.behind),
            "p": judged.p,
            "significantly_worse": judged.worse,
            "train_seconds": judged.trial.train_seconds if judged.trial.method.trains else None,
            "cost": plain(self.cost),
            **({"coverage": self.coverage} if self.tried else {}),
        }


def evidence(rows: Sequence[Row], skipped: Sequence[Trial]) -> dict[str, Any]:
    """What a model's card says of how it was chosen."""
    found = [row.judged for row in rows]
    return {
        "chosen": chosen(found).name,
        "best": best_of(found).name,
        "rows": [row.to_json() for row in rows],
        "skipped": {trial.method.name: trial.skipped for trial in skipped},
    }


def _coverage(share: float | None) -> str:
    return "none" if share is None else f"{100 * share:.0f} %"


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 90 else f"{seconds / 60:.1f} min"
