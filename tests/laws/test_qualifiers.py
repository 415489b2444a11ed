"""Every registered qualifier passes the same checks; a new one is found here by itself."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import demur
from demur import registry
from demur.risk import Predictions, Qualifier, qualifier
from demur.specs import Setting
from demur.types import Candidate, FloatArray, Pool
from laws import toys

WORDS = ["ship", "cape", "café", "🎉", "船", "bread", "baker", "oven", "rain", "street"]


def drawn(count: int, seed: int) -> tuple[list[Pool], list[FloatArray]]:
    """Pools of 0 to 5 candidates with labels, and scores with ties and infinities among them."""
    generator = np.random.default_rng(seed)
    pools, scores = [], []
    for number in range(count):
        size = number % 6
        answers = [" ".join(generator.choice(WORDS, 4)) for _ in range(size)]
        labels = [int(label) for label in generator.integers(0, 2, size)]
        pools.append(Pool.of(" ".join(generator.choice(WORDS, 3)) + "?", answers, labels, id=f"q{number}"))
        scores.append(generator.choice([-np.inf, -1.0, 0.0, 0.5, 2.0, 1e9, np.inf], size))
    return pools, scores


NEEDS: dict[str, Callable[[], dict[str, Setting]]] = {
    "committee": lambda: {"model": toys.committee()},
    "mini": lambda: {"folder": toys.small()},
    "reading": lambda: {"reader": toys.answerer()},
}
"""Settings without which a qualifier can say nothing."""
TAUGHT = drawn(60, 1)
POOLS, SCORES = drawn(48, 2)


@pytest.fixture(
    params=[
        pytest.param(each, marks=pytest.mark.extras if each in NEEDS else ())
        for each in registry.names("qualifier")
    ]
)
def fitted(request: pytest.FixtureRequest) -> Qualifier:
    return qualifier(request.param, **NEEDS.get(request.param, dict)()).fit(*TAUGHT)


def near(fitted: Qualifier) -> float:
    """By how much its numbers may change with what else is asked at the same time."""
    return float(getattr(fitted, "tolerance", 1e-9))


def test_one_number_per_pool(fitted: Qualifier) -> None:
    found = fitted.confidence(POOLS, SCORES)
    assert found.shape == (len(POOLS),) and found.dtype == np.float64
    assert not np.isnan(found).any()
    assert fitted.confidence([], []).shape == (0,)
    Predictions.of_pools(POOLS, SCORES, found)  # takes them


def test_no_candidates_no_confidence(fitted: Qualifier) -> None:
    found = fitted.confidence(POOLS, SCORES)
    empty = np.array([len(pool) == 0 for pool in POOLS])
    assert (found[empty] == -np.inf).all()
    finite = [np.nan_to_num(each, posinf=5, neginf=-5) for each in SCORES]
    assert np.isfinite(fitted.confidence(POOLS, finite)[~empty]).all()


def test_the_same_twice_and_alone(fitted: Qualifier) -> None:
    together = fitted.confidence(POOLS, SCORES)
    assert together.tolist() == fitted.confidence(POOLS, SCORES).tolist()
    for pool, score, found in zip(POOLS, SCORES, together, strict=True):
        assert np.allclose(fitted.confidence([pool], [score])[0], found, rtol=0, atol=near(fitted))


def test_order_changes_nothing(fitted: Qualifier) -> None:
    turned = [replace(pool, candidates=pool.candidates[::-1]) for pool in POOLS]
    found = fitted.confidence(turned[::-1], [each[::-1] for each in SCORES][::-1])[::-1]
    assert np.allclose(found, fitted.confidence(POOLS, SCORES), rtol=0, atol=near(fitted))


def test_labels_and_ids_are_never_seen(fitted: Qualifier) -> None:
    def bare(label: int | None) -> list[Pool]:
        return [
            Pool("x", pool.question, tuple(Candidate("y", c.text, label) for c in pool.candidates))
            for pool in POOLS
        ]

    for label in (None, 0, 1):
        assert fitted.confidence(bare(label), SCORES).tolist() == fitted.confidence(POOLS, SCORES).tolist()


def test_out_of_fold_a_pools_own_labels_are_never_seen(fitted: Qualifier) -> None:
    before = fitted.out_of_fold(POOLS, SCORES)
    for place in (3, 11, 22):
        pool = POOLS[place]
        other = replace(pool, candidates=tuple(replace(c, label=1 - (c.label or 0)) for c in pool.candidates))
        changed = [*POOLS[:place], other, *POOLS[place + 1 :]]
        assert fitted.out_of_fold(changed, SCORES)[place] == before[place]
    backwards = fitted.out_of_fold(POOLS[::-1], SCORES[::-1])[::-1]
    assert np.allclose(backwards, before, rtol=0, atol=near(fitted))


def test_inputs_are_left_alone(fitted: Qualifier) -> None:
    pools, scores = copy.deepcopy(POOLS), copy.deepcopy(SCORES)
    fitted.confidence(pools, scores)
    assert pools == POOLS and all((a == b).all() for a, b in zip(scores, SCORES, strict=True))


def test_says_what_it_is_and_travels(fitted: Qualifier) -> None:
    again = qualifier(fitted.spec)
    assert again.spec == fitted.spec and again.fingerprint == fitted.fingerprint
    assert type(fitted).__doc__
    for other in (again, pickle.loads(pickle.dumps(fitted))):
        assert other.confidence(POOLS, SCORES).tolist() == fitted.confidence(POOLS, SCORES).tolist()


def test_scores_that_do_not_fit_are_one_clear_line(fitted: Qualifier) -> None:
    with pytest.raises(demur.DemurError, match="48 pools but 47 arrays of scores"):
        fitted.confidence(POOLS, SCORES[1:])
    with pytest.raises(demur.DemurError, match="pool 'q' has 2 candidates but 1 scores"):
        fitted.confidence([Pool.of("q", ["a", "b"])], [np.zeros(1)])
    with pytest.raises(demur.DemurError, match="pool 'q' has a score that is not a number"):
        fitted.confidence([Pool("e", "", ()), Pool.of("q", ["a"])], [np.zeros(0), np.array([np.nan])])
