"""Thresholds of another library are tried as the gate's are."""

from __future__ import annotations

import numpy as np
from bench.peers.promise import RISK, Theirs, kept

from demur.risk.thresholds.guarantee import RULES


def test_a_rule_of_another_library_is_held_against_the_truth() -> None:
    never = Theirs("never", "", find=lambda confidence, wrong, risk, delta: None)
    always = Theirs("always", "", find=lambda confidence, wrong, risk, delta: float(np.min(confidence)))
    found = kept([RULES[0], never, always], sizes=(200,), draws=5)
    cells = {(cell["population"], cell["rule"]): cell for cell in found["cells"]}
    assert found["risk"] == RISK and found["draws"] == 5
    assert cells["smooth", "never"]["abstained"] == 5 and cells["smooth", "never"]["violations"] == 0
    assert cells["smooth", "always"]["violations"] == 5 and cells["smooth", "always"]["coverage"] > 0.9
    assert cells["smooth", RULES[0].name]["draws"] == 5
