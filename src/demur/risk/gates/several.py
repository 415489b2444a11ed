"""Several gates in one folder, each with a promise of its own: gate.json first, then gate-NAME.json."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from demur.errors import NoThreshold, UsageError
from demur.rankers import Ranker
from demur.risk.gates.calibration import Calibration
from demur.risk.gates.certificate import percent
from demur.risk.gates.gate import Gate
from demur.risk.qualifiers.base import Qualifier
from demur.risk.qualifiers.base import qualifier as resolve_qualifier
from demur.risk.thresholds.control import STARTS
from demur.types import Pool


@dataclass(frozen=True)
class Gates:
    """Gates from one place; the first is taken where no risk is named."""

    gates: tuple[Gate, ...]
    place: str = "this model"

    def of(self, risk: float | None = None) -> Gate:
        """The gate that promises this risk; an error that says which there are, if none does."""
        if risk is None:
            return self.gates[0]
        for gate in self.gates:
            if math.isclose(gate.certificate.risk, risk):
                return gate
        known = ", ".join(f"{each:g}" for each in sorted({gate.certificate.risk for gate in self.gates}))
        raise UsageError(
            f"{self.place} has no gate for a risk of {risk:g} ({percent(risk)}); "
            f"choose among --risk {known}, or make a gate with demur calibrate"
        )

    def save(self, folder: str | Path) -> None:
        """Write the gates into a folder, in place of those that are there."""
        folder = Path(folder)
        for old in folder.glob("gate-*.json"):
            old.unlink()
        for number, gate in enumerate(self.gates):
            gate.save(folder / (f"gate-{gate.certificate.risk:g}.json" if number else "gate.json"))


def open_gates(path: str | Path) -> Gates:
    """The gate that a file holds, or the gates in a folder."""
    path = Path(path)
    more = sorted(path.glob("gate-*.json")) if path.is_dir() else []
    return Gates((Gate.load(path), *map(Gate.load, more)), str(path))


def calibrate_each(
    ranker: Ranker | str,
    pools: Iterable[Pool],
    risks: Iterable[float],
    confidence: float = 0.95,
    *,
    qualifier: str | Qualifier = "margin",
    data: str = "",
) -> Gates:
    """Gates for those of the risks that can be promised, in their order; `NoThreshold` if none can be.

    Each promise holds by itself: who looks at several and takes one for what came out has chosen by luck.
    """
    ready = Calibration.of(
        *(ranker, pools),
        how=resolve_qualifier(qualifier),
        method="ltt",
        starts=STARTS,
        seed=0,
        grid=None,
        data=data,
        on_batch=lambda pairs: None,
    )
    found, refused = [], None
    for risk in risks:
        try:
            found.append(Gate.of(ready, risk, confidence))
        except NoThreshold as none:
            refused = none
    if not found:
        raise refused or UsageError("no risk was named; say which are wanted")
    return Gates(tuple(found))
