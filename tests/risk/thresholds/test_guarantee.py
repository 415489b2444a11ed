"""The law of the gate, in short: `make guarantee` runs it in full."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from demur.risk.thresholds.guarantee import GATE, RULES, Cell, faults, limit, tried
from demur.risk.thresholds.populations import Population, populations

DRAWS = 150
NAMES = [each.name for each in populations(0.1)]


def population(name: str, risk: float) -> Population:
    return next(each for each in populations(risk) if each.name == name)


@pytest.mark.parametrize("risk", [0.1, 0.05])
@pytest.mark.parametrize("name", NAMES)
def test_truth_is_what_many_draws_show(name: str, risk: float) -> None:
    made = population(name, risk)
    confidence, wrong = made.draw(np.random.default_rng(0), 400_000)
    for threshold in (-np.inf, 0.0, 0.31, 0.5, 0.6999, 0.7, 0.9):
        passing = confidence >= threshold
        assert made.coverage(threshold) == pytest.approx(passing.mean(), abs=0.005)
        if passing.any():
            assert made.risk(threshold) == pytest.approx(wrong[passing].mean(), abs=0.01)


def test_populations_are_what_they_are_called() -> None:
    for risk in (0.1, 0.05):
        flat, edge, odd = (population(name, risk) for name in ("flat", "edge", "non-monotone"))
        assert all(risk < flat.risk(t) < 1.03 * risk for t in (0, 0.5, 0.99))
        assert edge.risk(0.8) < 0.6 * risk and risk < edge.risk(0) < 1.05 * risk
        assert odd.risk(0.96) > risk > odd.risk(0.5) and odd.risk(0) > risk
    wrong = population("constant", 0.1).draw(np.random.default_rng(0), 50)[1]
    assert 0 < wrong.sum() == wrong.argmin(), "errors stand first"
    bent = Population("bent", "", (0.0, 0.5), ((0.6, 0.2), (0.2, 0.0)))
    assert bent.chance(np.array([0.25, 0.75])) == pytest.approx([0.4, 0.1])


@pytest.mark.parametrize("risk", [0.1, 0.05])
@pytest.mark.parametrize("name", NAMES)
def test_the_gate_keeps_its_word(name: str, risk: float) -> None:
    rules = [rule for rule in RULES if rule.method in ("ltt", "bonferroni", "sgr")]
    for cell in tried(population(name, risk), 400, risk, rules, DRAWS):
        assert cell.kept, f"{cell.rule}: {cell.violations} of {DRAWS}"


@pytest.mark.parametrize("method", ["naive", "sgr-code"])
def test_the_same_test_fails_others(method: str) -> None:
    rules = [rule for rule in RULES if rule.method == method]
    broken = {name for name in NAMES if not tried(population(name, 0.1), 400, 0.1, rules, DRAWS)[0].kept}
    expected = {"naive": set(NAMES) - {"constant"}, "sgr-code": {"constant", "flat", "non-monotone"}}[method]
    assert broken == expected


def test_the_gate_is_of_use() -> None:
    cell = tried(population("smooth", 0.1), 1000, 0.1, RULES[:1], 60)[0]
    assert cell.rule == GATE and cell.coverage > 0.3


def test_luck_is_allowed_for() -> None:
    assert (limit(1000, 0.1), limit(1000, 0.05)) == (130, 73)


def test_faults_are_told() -> None:
    def cell(rule: str, violations: int, coverage: float = 0.4) -> Cell:
        return Cell("smooth", 1000, 0.1, rule, 1000, violations, 0, coverage, 130)

    good = [cell(GATE, 20), cell("naive", 500), cell("SGR, authors' code", 500)]
    assert faults(good) == []
    assert "broke its word" in faults([cell(GATE, 131), *good[1:]])[0]
    assert "lets only 0.30" in faults([cell(GATE, 0, 0.3), *good[1:]])[0]
    assert "naive was not caught" in faults([good[0], cell("naive", 100), good[2]])[0]


def test_the_kept_result_is_of_this_code() -> None:
    """If this fails after a change to the gate, run `make guarantee` again."""
    file = Path(__file__).parents[3] / "results" / "risk" / "guarantee.json"
    kept = json.loads(file.read_text("utf-8"))
    cells = [Cell(**row) for row in kept["cells"]]
    assert faults(cells) == []
    seed, draws = kept["about"]["seed"], kept["about"]["draws"]
    again = tried(population("edge", 0.1), 200, 0.1, RULES[:3], draws, seed)
    assert [cell for cell in again if cell not in cells] == []
