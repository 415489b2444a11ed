from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit

from demur.errors import DataError, UnknownName, UsageError
from demur.evaluation import evaluate
from demur.risk.calibrators import (
    CALIBRATORS,
    Beta,
    Isotonic,
    Platt,
    Temperature,
    cross_fit,
    from_json,
)
from demur.types import FloatArray, Pool

KINDS = sorted(CALIBRATORS)
chances = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40)


def draw(n: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Logits, and answers that are right with their chance."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0.5, 2, n)
    return logits, (rng.random(n) < expit(logits)).astype(float)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=50, deadline=None)
@given(chances, st.lists(st.floats(0, 1), min_size=2, max_size=20))
@example([(0.0, False), (2e-313, True)], [0.0, 5e-324])
def test_order_is_kept_and_chances_are_chances(
    kind: str, seen: list[tuple[float, bool]], other: list[float]
) -> None:
    sure, right = zip(*seen, strict=True)
    fitted = CALIBRATORS[kind].fit(sure, right)
    found = fitted.calibrated(np.sort(other))
    assert (np.diff(found) >= -1e-12).all()
    assert ((found >= 0) & (found <= 1)).all()
    assert from_json(json.loads(json.dumps(fitted.to_json(), allow_nan=False))) == fitted


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.floats(-1e308, 1e308), st.booleans()), min_size=1, max_size=30))
def test_raw_confidence_of_any_size(seen: list[tuple[float, bool]]) -> None:
    sure, right = zip(*seen, strict=True)
    asked = [-math.inf, *sorted(sure), math.inf]
    for fitted in (Platt.fit(sure, right), Isotonic.fit(sure, right), Temperature.fit(sure, right, raw=True)):
        found = fitted.calibrated(asked)
        assert (np.diff(found) >= -1e-9).all()
        assert np.isfinite(found).all()


def test_temperature_is_found_again() -> None:
    logits, right = draw(40_000)
    assert Temperature.fit(logits * 3, right, raw=True).temperature == pytest.approx(3, rel=0.05)
    over = Temperature.fit(expit(logits * 3), right)
    assert over.temperature == pytest.approx(3, rel=0.05)
    assert over.calibrated(expit(logits * 3)) == pytest.approx(expit(logits), abs=0.02)


def test_platt_and_beta_are_found_again() -> None:
    logits, right = draw(40_000, 1)
    platt = Platt.fit(logits * 5 - 20, right)
    assert platt.slope == pytest.approx(0.2, rel=0.05)
    assert platt.intercept == pytest.approx(4, rel=0.05)
    beta = Beta.fit(expit(logits), right)
    assert (beta.right, beta.wrong, beta.intercept) == pytest.approx((1, 1, 0), abs=0.1)


@pytest.mark.parametrize("kind", KINDS)
def test_the_fit_is_the_likeliest(kind: str) -> None:
    """No small step in any parameter makes the (softened) answers likelier."""
    logits, right = draw(300, 2)
    sure = expit(0.6 * logits + 0.3)
    fitted = CALIBRATORS[kind].fit(sure, right)
    if kind == "isotonic":
        wanted = [  # the largest mean from somewhere below to the smallest somewhere above
            max(min(right[np.argsort(sure)][i : k + 1].mean() for k in range(n, 300)) for i in range(n + 1))
            for n in range(0, 300, 37)
        ]
        assert fitted.calibrated(np.sort(sure)[::37]) == pytest.approx(wanted, abs=1e-9)
        return
    count = right.sum()
    targets = np.where(right > 0, (count + 1) / (count + 2), 1 / (300 - count + 2))

    def likelihood(value: dict[str, float]) -> float:
        p = from_json(value).calibrated(sure)
        return float((targets * np.log(p) + (1 - targets) * np.log1p(-p)).sum())

    best = fitted.to_json()
    for key in set(best) - {"kind", "raw"}:
        for step in (-1e-2, 1e-2):
            assert likelihood({**best, key: best[key] + step}) < likelihood(best)


@pytest.mark.parametrize("kind", ["platt", "beta", "isotonic"])
def test_confidence_that_misleads_is_flattened_and_not_turned(kind: str) -> None:
    logits, right = draw(2000, 3)
    found = CALIBRATORS[kind].fit(expit(-logits), right).calibrated([0.01, 0.5, 0.99])
    assert found == pytest.approx([right.mean()] * 3, abs=0.01)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("right", [0.0, 1.0])
def test_all_right_all_wrong_and_a_single_one_are_defined(kind: str, right: float) -> None:
    for n in (1, 2, 50):
        sure = np.linspace(0.6, 0.9, n)
        found = CALIBRATORS[kind].fit(sure, np.full(n, right)).calibrated([0.0, 0.6, 0.9, 1.0])
        assert np.isfinite(found).all()
        if kind == "isotonic":
            assert found.tolist() == [right] * 4
        elif kind != "temperature":  # as if one more answer of each kind had been seen
            assert found == pytest.approx([(right * n + 1) / (n + 2)] * 4, abs=0.01)
    if kind == "temperature" and right:
        assert 0.9 < CALIBRATORS[kind].fit([0.7] * 50, [1] * 50).calibrated([0.7])[0] < 1


def test_isotonic_joins_ties_and_interpolates() -> None:
    fitted = Isotonic.fit([1, 1, 2, 3, 3, 3, 5], [0, 1, 0, 1, 1, 0, 1])
    assert fitted.calibrated([1, 2, 3, 4, 5]) == pytest.approx([1 / 3, 1 / 3, 2 / 3, 5 / 6, 1])
    assert fitted.calibrated([-9, 9]).tolist() == pytest.approx([1 / 3, 1])
    again = Isotonic.fit([3, 1, 3, 5, 2, 1, 3], [1, 1, 0, 1, 0, 0, 1])
    assert again.calibrated([1, 2, 3, 4, 5]) == pytest.approx(fitted.calibrated([1, 2, 3, 4, 5]))
    assert len(Isotonic.fit(np.arange(999), np.arange(999) > 500).chance) == 4


def test_a_temperature_changes_no_ranking() -> None:
    rng = np.random.default_rng(0)
    pools = [Pool.of("?", list("abcd"), [1, 0, 0, 1], str(n)) for n in range(50)]
    scores = rng.normal(0, 2, (50, 4))
    fitted = Temperature.fit(scores.ravel(), rng.random(200) < 0.5, raw=True)
    assert fitted.temperature > 1.5
    cooled = [fitted.calibrated(each) for each in scores]
    before, after = (evaluate(each, pools, "P@1,MAP") for each in (list(scores), cooled))
    assert before.per_pool == after.per_pool


def test_cross_fitting_uses_only_other_folds() -> None:
    logits, right = draw(60, 4)
    found = cross_fit("platt", logits, right, folds=4, seed=7)
    fold = np.random.default_rng(7).permutation(60) % 4
    for each in range(4):
        alone = Platt.fit(logits[fold != each], right[fold != each]).calibrated(logits[fold == each])
        assert found[fold == each].tolist() == alone.tolist()
    turned = right.copy()
    turned[5] = 1 - turned[5]
    assert cross_fit("platt", logits, turned, folds=4, seed=7)[5] == found[5]
    assert found.tolist() != cross_fit("platt", logits, right, folds=4, seed=8).tolist()
    unsaid, said = cross_fit("platt", logits, right), cross_fit("platt", logits, right, folds=5, seed=0)
    assert unsaid.tolist() == said.tolist()
    assert len(cross_fit("isotonic", [1, 2, 3], [0, 1, 1], folds=10)) == 3
    raw = cross_fit("temperature", logits, right, raw=True)
    assert raw.tolist() == pytest.approx(cross_fit("temperature", expit(logits), right).tolist(), rel=1e-4)


def test_infinite_confidence_counts_as_the_surest_seen() -> None:
    assert Platt.fit([1, 2, math.inf], [0, 1, 1]) == Platt.fit([1, 2, 2], [0, 1, 1])
    assert Platt.fit([math.inf, math.inf], [0, 1]).calibrated([3.0]) == pytest.approx([0.5])


def test_chances_of_being_right_may_lie_in_between() -> None:
    halves, doubled = Platt.fit([0, 1, 2], [0, 0.5, 1]), Platt.fit([0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1])
    assert halves.calibrated([1])[0] == pytest.approx(doubled.calibrated([1])[0])


def test_probabilities_of_0_and_1_are_allowed() -> None:
    for kind in ("temperature", "beta"):
        found = CALIBRATORS[kind].fit([0, 0.2, 0.8, 1], [0, 1, 0, 1]).calibrated([0, 0.5, 1])
        assert 0 <= found[0] < found[1] < found[2] <= 1
    assert Temperature(1.0).calibrated([0.1, 0.5, 0.9]) == pytest.approx([0.1, 0.5, 0.9])
    assert Temperature(2.0, raw=True).calibrated(logit([0.9])) == pytest.approx(expit(logit(0.9) / 2))


def test_misuse_is_one_clear_line() -> None:
    with pytest.raises(UsageError, match="not a probability; use platt or isotonic, or temperature with raw"):
        Temperature.fit([1.5], [1])
    with pytest.raises(UsageError, match="not a probability"):
        Beta.fit([-0.5], [1])
    with pytest.raises(UsageError, match="give one of each, at least one"):
        Platt.fit([], [])
    with pytest.raises(UsageError, match="correct must be 1 where the answer is right"):
        Platt.fit([1.0], [2])
    with pytest.raises(UsageError, match="not a number"):
        Platt.fit([math.nan], [1])
    with pytest.raises(UsageError, match="cannot fit 1 answers in 5 folds"):
        cross_fit("platt", [1.0], [1])
    with pytest.raises(UnknownName, match="unknown calibrator 'plat'; did you mean 'platt'"):
        cross_fit("plat", [1.0, 2.0], [1, 0])
    with pytest.raises(DataError, match="a platt calibrator has intercept, slope, not slope"):
        from_json({"kind": "platt", "slope": 1.0})
