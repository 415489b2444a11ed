"""Several gates at one place: each with its own promise, chosen by the risk."""

from __future__ import annotations

from pathlib import Path

import pytest

import demur
from demur.errors import NoThreshold, UsageError
from demur.risk.gates import several
from demur.risk.gates.gate import Gate
from demur.types import Pool


def pools(number: int = 300) -> list[Pool]:
    """Pools of which one in ten has no right answer."""
    return [Pool.of("saws?", ["saws", "no"], [int(n % 10 > 0), 0], str(n)) for n in range(number)]


def test_those_risks_that_can_be_promised_have_a_gate_each() -> None:
    made = several.calibrate_each("overlap", pools(), (0.05, 0.15, 0.2), data="toys")
    assert [gate.certificate.risk for gate in made.gates] == [0.15, 0.2]
    for gate in made.gates:
        alone = demur.calibrate("overlap", pools(), gate.certificate.risk, data="toys")
        assert gate == alone
    with pytest.raises(NoThreshold, match="at most 5 % of the answers are wrong"):
        several.calibrate_each("overlap", pools(), (0.01, 0.05))
    with pytest.raises(UsageError, match="no risk was named"):
        several.calibrate_each("overlap", pools(), ())


def test_they_are_kept_in_a_folder_and_chosen_by_risk(tmp_path: Path) -> None:
    made = several.calibrate_each("overlap", pools(), (0.2, 0.15, 0.3))
    made.save(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "gate-0.15.json",
        "gate-0.3.json",
        "gate.json",
    ]
    found = several.open_gates(tmp_path)
    assert found.of() == found.of(0.2) == Gate.load(tmp_path)
    assert [found.of(risk).certificate.risk for risk in (0.15, 0.3)] == [0.15, 0.3]
    with pytest.raises(UsageError, match=r"risk of 0\.1 \(10 %\); choose among --risk 0\.15, 0\.2, 0\.3, or"):
        found.of(0.1)
    several.Gates(made.gates[:1]).save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["gate.json"], "older ones do not stay"
    assert several.open_gates(tmp_path / "gate.json").of(0.2) == made.of(0.2)
