from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import demur
from demur.errors import MissingExtra, UsageError
from demur.risk import Predictions, qualifier
from demur.risk.qualifiers.learned import Learned
from demur.types import FloatArray, Pool

FEW = "learned(features='top; margin')"


class Absent:
    """A finder as where scikit-learn is not installed."""

    def find_spec(self, name: str, *rest: object) -> None:
        if name == "sklearn":
            raise ModuleNotFoundError(name=name)


def questions(count: int, seed: int = 0) -> tuple[list[Pool], list[FloatArray]]:
    """Pools whose top candidate is right the more often, the larger its margin; the score says nothing."""
    generator = np.random.default_rng(seed)
    pools, scores = [], []
    for number in range(count):
        margin, base = generator.uniform(0, 4), generator.uniform(0, 100)
        right = generator.uniform() < 1 / (1 + np.exp(3 - 2 * margin))
        pools.append(Pool.of("q", ["a", "b"], [int(right), 1 - int(right)], id=f"{seed}-{number}"))
        scores.append(np.array([base + margin, base]))
    return pools, scores


def test_learns_what_tells_right_from_wrong() -> None:
    fitted = qualifier(FEW).fit(*questions(3000))
    pools, scores = questions(500, seed=1)
    found = fitted.confidence(pools, scores)
    margins = np.array([each[0] - each[1] for each in scores])
    assert np.abs(found - 1 / (1 + np.exp(3 - 2 * margins))).mean() < 0.05


def test_the_numbers_are_those_of_scikit_learn() -> None:
    pools, scores = questions(400)
    features = np.array([[each[0], each[0] - each[1]] for each in scores])
    right = Predictions.of_pools(pools, scores, np.zeros(400)).correct
    scaled = (features - features.mean(axis=0)) / features.std(axis=0)
    expected = LogisticRegression(max_iter=1000).fit(scaled, right).predict_proba(scaled)[:, 1]
    assert np.allclose(qualifier(FEW).fit(pools, scores).confidence(pools, scores), expected, atol=1e-4)


def test_the_spec_holds_what_was_learnt_and_only_boosting_needs_sklearn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pools, scores = questions(100)
    fitted = qualifier(FEW).fit(pools, scores)
    for name in [name for name in sys.modules if name.partition(".")[0] == "sklearn"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Absent(), *sys.meta_path])
    again = qualifier(fitted.spec)
    assert not again.needs_fitting
    assert again.confidence(pools, scores).tolist() == fitted.confidence(pools, scores).tolist()
    assert qualifier(FEW).fit(pools, scores) == fitted
    with pytest.raises(MissingExtra, match=r"pip install 'demur\[risk\]'"):
        qualifier("learned(kind=boosting, features=margin)").fit(pools, scores)


def test_beyond_what_it_has_seen_it_is_no_surer() -> None:
    fitted = qualifier("learned(features=margin)").fit(*questions(300))
    pool = Pool.of("q", ["a", "b"])
    far, infinite = (fitted.confidence([pool], [np.array([top, 0.0])])[0] for top in (1e6, np.inf))
    assert far == infinite < 1


def test_unfitted_it_says_what_to_do() -> None:
    pools, scores = questions(10)
    assert qualifier("learned").needs_fitting and not qualifier("margin").needs_fitting
    with pytest.raises(UsageError, match=r"has learnt nothing yet; call fit\(pools, scores\)"):
        qualifier("learned").confidence(pools, scores)
    with pytest.raises(UsageError, match="needs labelled pools with candidates"):
        qualifier("learned").fit([], [])
    with pytest.raises(UsageError, match="at least 2 pools and 2 folds"):
        qualifier("learned").out_of_fold(pools[:1], scores[:1])


def test_boosting_is_for_evaluation_only() -> None:
    pools, scores = questions(200)
    fitted = qualifier("learned(kind=boosting, features='top; margin')").fit(pools, scores)
    found = fitted.confidence(pools, scores)
    assert ((found > 0) & (found < 1)).all() and len(set(found.tolist())) > 10
    with pytest.raises(UsageError, match=r"for evaluation only, by .* for a gate use learned") as caught:
        _ = fitted.spec
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["logistic", "boosting"])
def test_all_right_or_all_wrong_teaches_the_share(kind: str) -> None:
    pools, scores = questions(9)
    wrong = [Pool.of("q", ["a", "b"], [0, 0], id=pool.id) for pool in pools]
    found = Learned(kind=kind).fit(wrong, scores).confidence(pools, scores)
    assert found.tolist() == pytest.approx([0.05] * 9)


@pytest.mark.parametrize("kind", ["logistic", "boosting"])
def test_out_of_fold_is_not_in_sample(kind: str) -> None:
    """Labels by chance: in-sample boosting seems to know them, out of fold nothing does."""
    generator = np.random.default_rng(3)
    pools, scores = questions(300)
    pools = [
        Pool.of("q", ["a", "b"], [int(label), 0], id=pool.id)
        for pool, label in zip(pools, generator.integers(0, 2, 300), strict=True)
    ]
    right = np.array([pool.labels[0] == 1 for pool in pools])
    learned = Learned(kind=kind, features="top; margin")
    inside = learned.fit(pools, scores).confidence(pools, scores)
    outside = learned.out_of_fold(pools, scores)
    assert abs(outside[right].mean() - outside[~right].mean()) < 0.05
    if kind == "boosting":
        assert inside[right].mean() - inside[~right].mean() > 0.1


def test_the_order_of_pools_teaches_nothing() -> None:
    pools, scores = questions(80)
    assert qualifier(FEW).fit(pools, scores) == qualifier(FEW).fit(pools[::-1], scores[::-1])


def test_what_must_learn_learns_out_of_fold_in_evaluate_and_from_a_third_in_calibrate() -> None:
    rng = np.random.default_rng(0)
    words = [f"w{n}" for n in range(50)]
    pools = []
    for n in range(600):
        asked = rng.choice(words, 4, replace=False)
        texts = [" ".join(rng.choice(words, 6)) for _ in range(4)]
        easy = bool(n % 2)
        if easy:
            texts[1] = " ".join(asked)
        pools.append(Pool.of(" ".join(asked), texts, [0, int(easy), 0, 0], id=str(n)))
    report = demur.evaluate("bm25", pools, ["AUROC"], qualifier="learned")
    assert report.measures["AUROC"].mean > 0.8
    gate = demur.calibrate("bm25", pools, risk=0.2, qualifier="learned")
    assert gate.certificate.questions <= 400, "a third of the pools has taught the qualifier"
    assert gate.qualifier.startswith("learned(") and "weights=" in gate.qualifier
    with pytest.raises(demur.DemurError):
        gate.check_pools(pools)
