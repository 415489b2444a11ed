"""Every registered measure passes the same checks; a new one is found here by itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import demur
from demur import registry
from demur.evaluation import Measure, evaluate, measure
from demur.evaluation.selective.measures import Selective
from demur.types import Candidate, FloatArray, Pool


def spelled() -> list[str]:
    """Each name as it is completely spelled, with each kind of cut-off that it takes."""
    found = []
    for name in registry.names("measure"):
        thing: Measure = registry.find("measure", name)
        cuts = ["@0.2", "@0.8"] if isinstance(thing, Selective) else ["@1", "@3"]
        takes_cut = thing.needs_cutoff or not isinstance(thing, Selective)
        found += [name] * (not thing.needs_cutoff) + [f"{name}{cut}" for cut in cuts if takes_cut]
    return found


@pytest.fixture(params=spelled())
def spec(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def drawn(count: int, seed: int) -> tuple[list[Pool], list[FloatArray]]:
    """Pools of 0 to 6 candidates, graded and some without a positive, and scores with many ties."""
    generator = np.random.default_rng(seed)
    pools, scores = [], []
    for number in range(count):
        size = int(generator.integers(0, 7))
        labels = generator.choice([0, 0, 0, 1, 2], size).tolist()
        pools.append(Pool.of("q?", [f"a{n}" for n in range(size)], labels, id=f"q{number}"))
        scores.append(generator.choice([-1.0, 0.0, 0.5, 2.0], size))
    return pools, scores


POOLS, SCORES = drawn(60, 3)


def value(spec: str, pools: list[Pool], scores: list[FloatArray]) -> float:
    """The one mean of a report, whatever it is called in it."""
    (estimate,) = evaluate(scores, pools, spec).measures.values()
    return estimate.mean


def perfect(pools: list[Pool]) -> list[FloatArray]:
    return [np.array([float(label or 0) for label in pool.labels]) for pool in pools]


def test_bounds(spec: str) -> None:
    for seed in range(3):
        assert 0 <= value(spec, *drawn(60, seed)) <= 1
    for scores in (perfect(POOLS), [-each for each in perfect(POOLS)]):
        assert -1e-12 <= value(spec, POOLS, scores) <= 1 + 1e-12


def test_order_changes_nothing_under_fixed(spec: str) -> None:
    expected = value(spec, POOLS, SCORES)
    turned = [replace(pool, candidates=pool.candidates[::-1]) for pool in POOLS][::-1]
    assert value(spec, turned, [each[::-1] for each in SCORES][::-1]) == pytest.approx(expected, abs=1e-12)
    assert value(spec, POOLS, SCORES) == expected


def test_a_higher_scale_of_scores_changes_no_ranking(spec: str) -> None:
    scaled = [4 * each for each in SCORES]  # and all margins grow alike
    assert value(spec, POOLS, scaled) == pytest.approx(value(spec, POOLS, SCORES), abs=1e-12)


def test_empty_pools_change_nothing(spec: str) -> None:
    empty = [Pool(f"e{number}", "nothing?", ()) for number in range(3)]
    with_empty = value(spec, [*empty, *POOLS], [np.zeros(0)] * 3 + SCORES)
    assert with_empty == pytest.approx(value(spec, POOLS, SCORES), abs=1e-12)


def test_pools_of_one_candidate(spec: str) -> None:
    right = [Pool(f"r{n}", "q?", (Candidate("0", "a", 1),)) for n in range(2)]
    wrong = [Pool(f"w{n}", "q?", (Candidate("0", "a", 0),)) for n in range(2)]
    scores = [np.array([float(n)]) for n in range(4)]
    assert 0 <= value(spec, [*right, *wrong], scores) <= 1
    if not isinstance(measure(spec), Selective):
        reached = 1 if not spec.startswith("P@") else 1 / (measure(spec).at or 1)
        assert value(spec, right, scores[:2]) == pytest.approx(reached, abs=1e-12)


@pytest.mark.parametrize("spec", [spec for spec in spelled() if not isinstance(measure(spec), Selective)])
def test_a_perfect_ranking_is_the_best_there_is(spec: str) -> None:
    assert value(spec, POOLS, perfect(POOLS)) >= value(spec, POOLS, SCORES)


def test_one_spelling_goes_out_and_in(spec: str) -> None:
    found = measure(spec)
    assert measure(str(found)) == found and str(measure(str(found))) == str(found)
    (name,) = evaluate(SCORES, POOLS, spec).measures
    assert measure(name) == found
    assert demur.evaluate(SCORES, POOLS, [found]).measures.keys() == {name}
