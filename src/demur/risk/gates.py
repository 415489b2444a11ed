"""Several gates in one folder, each with a promise of its own: gate.json first, then gate-NAME.json."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from demur.errors import UsageError
from demur.risk.certificate import percent
from demur.risk.gate import Gate


@dataclass(frozen=True)
class Gates:
    """Gates from one place; the first is taken where no risk is named."""

    gates: tuple[Gate, ...]
    place: str

    def of(self, risk: float | None = None) -> Gate:
        """The gate that promises this risk; an error that says which there are, if none does."""
        if risk is None:
            return self.gates[0]
        for gate in self.gates:
            if math.isclose(gate.certificate.risk, risk):
                return gate
        known = ", ".join(f"{each:g}" for each in sorted({gate.certificate.risk for gate in self.gates}))
        raise UsageError(
            f"{self.place} promises nothing about a risk of {risk:g} ({percent(risk)}); "
            f"choose among --risk {known}, or make a gate with demur calibrate"
        )


def gates(path: str | Path) -> Gates:
    """The gate that a file holds, or the gates in a folder."""
    path = Path(path)
    more = sorted(path.glob("gate-*.json")) if path.is_dir() else []
    return Gates((Gate.load(path), *map(Gate.load, more)), str(path))
