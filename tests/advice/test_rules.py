"""Rules that choose, tried on figures whose truth is known; and that more labels do not make advice worse."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from demur.advice.deciding import rules
from demur.advice.deciding.evidence import Evidence, packaged
from demur.advice.deciding.profile import Profile
from demur.advice.deciding.rules import RULES, Lead, Leads, Values
from demur.advice.methods import METHODS, Method
from demur.types import FloatArray

OURS = "shrunk means, the simplest within .004"
MEANS = {"bm25": 0.62, "mini": 0.70, "encoder": 0.72, "sum": 0.76}
LEADS = {
    "bm25": Lead(-0.15, 0.01),
    "mini": Lead(-0.03, 0.02),
    "encoder": Lead(0.0, 0.0),
    "sum": Lead(0.03, 0.002),
}


def population(seed: int = 0, count: int = 400) -> dict[str, FloatArray]:
    """Figures of questions: hard ones are hard for all, and each method has luck of its own."""
    draws = np.random.default_rng(seed)
    hard = draws.normal(0, 0.2, count)
    found = {name: np.clip(mean + hard + draws.normal(0, 0.2, count), 0, 1) for name, mean in MEANS.items()}
    return {name: figures - figures.mean() + MEANS[name] for name, figures in found.items()}


def lost(values: Values, leads: Leads, rule: str, size: int, replays: int = 400) -> float:
    draws = np.random.default_rng(size)
    best = max(float(figures.mean()) for figures in values.values())
    found = []
    for _ in range(replays):
        drawn = draws.integers(0, len(values["bm25"]), size)
        name = RULES[rule]({each: figures[drawn] for each, figures in values.items()}, leads)
        found.append(best - float(values[name].mean()))
    return float(np.mean(found))


def test_more_labels_do_not_make_the_advice_worse() -> None:
    values = population()
    losses = [lost(values, LEADS, OURS, size) for size in (4, 8, 20, 80, 320)]
    assert all(more <= fewer + 0.002 for fewer, more in pairwise(losses)), losses
    assert losses[0] > losses[2] + 0.005 and losses[-1] < 0.001


def test_wrong_evidence_is_overcome_by_labels() -> None:
    against = {**LEADS, "sum": Lead(-0.2, 0.002), "bm25": Lead(0.2, 0.002)}
    values = population()
    losses = [lost(values, against, OURS, size) for size in (8, 80, 400)]
    assert losses[0] > 0.05 and losses[0] > losses[1] > losses[2] and losses[2] < 0.01


def test_with_few_labels_it_loses_less_than_rules_without_evidence() -> None:
    values = population()
    ours = lost(values, LEADS, OURS, 8)
    assert ours < lost(values, LEADS, "the best mean", 8) - 0.003
    assert ours < lost(values, LEADS, "the simplest within .004 of the best mean", 8) - 0.003
    assert ours < lost(values, LEADS, "the simplest not significantly worse", 8, 100) - 0.03


def test_a_mean_is_shrunk_the_more_the_fewer_and_the_more_certain_the_evidence() -> None:
    draws = np.random.default_rng(1)
    standard = draws.random(40) / 2
    values = {"encoder": standard, "other": standard + 0.1 + draws.normal(0, 0.05, 40)}
    level = float(standard.mean())
    raw = float(values["other"].mean()) - level

    def lead(variance: float, part: int = 40) -> float:
        few = {name: np.tile(figures, 1)[:part] for name, figures in values.items()}
        known = {"encoder": Lead(0, 0), "other": Lead(-0.1, variance)}
        return rules.shrunk(few, known)["other"] - float(few["encoder"].mean())

    assert lead(0.0) == pytest.approx(-0.1)
    assert -0.1 < lead(0.0004) < lead(0.004) < lead(0.4) < raw
    assert lead(0.4) == pytest.approx(raw, abs=0.001)
    assert lead(0.004, 5) < lead(0.004, 20)
    assert rules.shrunk(values, {"encoder": Lead(0, 0), "other": Lead(0, 1)})["encoder"] == level


@pytest.mark.parametrize(("behind", "taken"), [(0.003, "bm25"), (0.005, "encoder")])
def test_a_simpler_method_is_taken_only_if_it_is_hardly_behind(behind: float, taken: str) -> None:
    assert rules.simplest({"bm25": 0.7 - behind, "encoder": 0.7, "sum": 0.705 - 0.006}) == taken
    figures = np.linspace(0.2, 0.9, 400)
    values = {"bm25": figures - behind, "encoder": figures}
    leads = {"bm25": Lead(-behind, 0.01), "encoder": Lead(0, 0)}
    for rule in (OURS, "the simplest within .004 of the best mean"):
        assert RULES[rule](values, leads) == taken
    assert RULES["the best mean"](values, leads) == "encoder"


def test_the_rule_before_waited_for_proof() -> None:
    draws = np.random.default_rng(3)
    worse = np.clip(draws.normal(0.5, 0.3, 20), 0, 1)
    values = {"bm25": worse, "encoder": np.clip(worse + draws.normal(0.08, 0.3, 20), 0, 1)}
    leads = {"bm25": Lead(-0.1, 0.01), "encoder": Lead(0, 0)}
    assert float(values["encoder"].mean()) > float(worse.mean()) + 0.03
    assert RULES["the simplest not significantly worse"](values, leads) == "bm25"
    assert RULES[OURS](values, leads) == RULES["the best mean"](values, leads) == "encoder"


def evidence(**figures: dict[str, float]) -> Evidence:
    rows = [
        {
            "name": name,
            "profile": Profile(1, 1, 1, 0).to_json(),
            "figures": {key: {"mean": mean, "low": mean, "high": mean} for key, mean in means.items()},
            "curves": {},
            "without": None,
        }
        for name, means in figures.items()
    ]
    return Evidence.from_json({"datasets": rows})


def test_leads_are_means_over_datasets_and_a_stranger_is_like_any() -> None:
    known = evidence(
        one={"encoder": 0.7, "bm25": 0.6, "fusion": 0.72},
        two={"encoder": 0.8, "bm25": 0.5, "fusion": 0.78},
        three={"encoder": 0.5, "mini": 0.6},
    )
    methods = [Method(name, "x") for name in ("encoder", "bm25", "fusion", "mini")]
    methods.append(Method("adapted", "x", like="fusion"))
    found = known.leads(methods, "encoder")
    assert found["encoder"] == Lead(0.0, 0.0)
    assert found["bm25"].mean == pytest.approx(-0.2) and found["fusion"].mean == pytest.approx(0.0)
    assert found["fusion"] == found["adapted"]
    assert found["mini"].mean == 0  # one dataset is too few to say how much it differs
    assert found["mini"].variance == pytest.approx((0.1**2 + 0.3**2 + 2 * 0.02**2 + 0.1**2) / 5, rel=0.01)
    assert known.without("two").leads(methods, "encoder")["bm25"].mean == 0
    assert [each.name for each in known.without("two").datasets] == ["one", "three"]
    assert known.without("three").leads(methods[3:], "encoder")["mini"] == Lead(0.0, 1.0)
    assert known.measured("bm25", "encoder") and not known.measured("mini", "encoder")


def test_few_datasets_say_little_of_one_more() -> None:
    draws = np.random.default_rng(5)
    widths = {}
    for count in (2, 3, 5, 8):
        inside, variances = [], []
        for _ in range(2_000):
            *others, one_more = draws.normal(-0.5, 1.0, count + 1).tolist()
            known = evidence(
                **{f"set{place}": {"encoder": 0.6, "mini": 0.6 + ahead} for place, ahead in enumerate(others)}
            )
            lead = known.leads([Method("mini", "mini")], "encoder")["mini"]
            inside.append(abs(one_more - lead.mean) < 1.96 * lead.variance**0.5)
            variances.append(lead.variance)
        assert 0.935 < np.mean(inside) < 0.965, count
        widths[count] = float(np.median(variances))
    assert widths[2] > 5 * widths[3] > 5 * widths[5] > 5 * widths[8] > 5


def test_the_packaged_evidence_knows_the_methods_that_advice_tries() -> None:
    found = packaged().leads(METHODS, "encoder")
    assert found["bm25"].mean < -0.05 and abs(found["fusion"].mean) < 0.05
    assert found["MaxSim"].mean > 0 and found["mini"].variance > found["fusion"].variance
    for name in ("mini", "mini + encoder"):
        taught = [each for each in packaged().datasets if each.name == "WikiQA"]
        assert taught and name not in taught[0].figures
