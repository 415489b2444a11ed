from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demur.errors import NoThreshold, UnknownName, UsageError
from demur.risk.predictions import BoolArray
from demur.risk.thresholds.bounds import p_value, upper_bound
from demur.risk.thresholds.control import METHODS, PROMISING, Evidence, as_grid, choose, thresholds
from demur.risk.thresholds.counted_answers import Labelled
from demur.risk.thresholds.learn_then_test import fixed_sequence, start_places
from demur.types import FloatArray

GRID = np.linspace(0, 1, 21)


def draws(seed: int, m: int = 300, levels: int = 0) -> tuple[FloatArray, BoolArray]:
    rng = np.random.default_rng(seed)
    confidence = rng.random(m) if not levels else rng.integers(0, levels, m) / levels
    return confidence, rng.random(m) < 0.3 * (1 - confidence)


@given(st.integers(0, 10**6), st.sampled_from(sorted(METHODS)), st.sampled_from([0, 3, 10]))
@settings(max_examples=60)
def test_what_is_chosen_is_what_is_seen_there(seed: int, method: str, levels: int) -> None:
    confidence, wrong = draws(seed, levels=levels)
    try:
        choice = choose(confidence, wrong, 0.15, 0.1, grid=GRID, method=method)
    except NoThreshold:
        return
    passing = confidence >= choice.threshold
    assert (choice.accepted, choice.errors) == (passing.sum(), wrong[passing].sum())
    assert choice.questions == 300 and choice.method == method
    if method in PROMISING or method == "clopper-pearson":
        assert choice.bound <= 0.15 + 1e-12
        assert p_value(choice.errors, choice.accepted, 0.15) <= 0.1


@given(st.integers(0, 10**6), st.sampled_from([*PROMISING, "naive"]), st.sampled_from([0, 3, 10]))
@settings(max_examples=40)
def test_order_of_rows_changes_nothing(seed: int, method: str, levels: int) -> None:
    confidence, wrong = draws(seed, levels=levels)
    order = np.random.default_rng(seed).permutation(len(wrong))

    def found(confidence: FloatArray, wrong: BoolArray) -> object:
        try:
            return choose(confidence, wrong, 0.2, 0.1, grid=GRID, method=method)
        except NoThreshold as error:
            return str(error)

    assert found(confidence, wrong) == found(confidence[order], wrong[order])


def passes(
    confidence: FloatArray, wrong: BoolArray, grid: list[float], starts: int, delta: float
) -> set[float]:
    """Fixed sequence with levels handed on, as the words say it, one start after another."""
    carried, passed = dict.fromkeys(range(starts), delta / starts), set()
    alive: list[int] = []
    for place, threshold in enumerate(grid):
        alive += [start for start in range(starts) if start * len(grid) // starts == place]
        level = sum(carried[start] for start in alive)
        n = int((confidence >= threshold).sum())
        k = int(wrong[confidence >= threshold].sum())
        if alive and p_value(k, n, 0.15) <= level:
            passed.add(threshold)
        else:
            alive = []
    return passed


@given(st.integers(0, 10**6), st.integers(1, 6))
@settings(max_examples=40)
def test_fixed_sequence_against_its_words(seed: int, starts: int) -> None:
    confidence, wrong = draws(seed)
    grid = sorted(GRID.tolist(), reverse=True)
    passed = passes(confidence, wrong, grid, starts, 0.1)
    try:
        assert choose(confidence, wrong, 0.15, 0.1, grid=GRID, starts=starts).threshold == min(passed)
    except NoThreshold:
        assert not passed


def test_a_start_gets_no_more_than_its_share() -> None:
    """One start fails at its share and would pass at twice that."""
    confidence = np.repeat([0.9, 0.1], [25, 1000])
    wrong = np.repeat([False, True], [25, 1000])
    grid = np.array([0.9, 0.1])
    assert 0.05 < p_value(0, 25, 0.1) < 0.1
    assert choose(confidence, wrong, 0.1, 0.1, grid=grid, starts=1).threshold == 0.9
    with pytest.raises(NoThreshold):
        choose(confidence, wrong, 0.1, 0.1, grid=grid, starts=2)


def test_a_level_is_handed_on_and_lost() -> None:
    """The second threshold passes only with both shares, so only if the first has passed."""
    good = np.repeat([0.9, 0.1], [60, 200]), np.zeros(260, np.bool_)
    good[1][60:77] = True
    n, k = 260, 17
    assert 0.05 / 2 < p_value(k, n, 0.1) <= 0.05
    grid = np.array([0.9, 0.1])
    assert choose(*good, 0.1, 0.05, grid=grid, starts=2).threshold == 0.1
    bad = good[0], good[1].copy()
    bad[1][:8], bad[1][60:68] = True, False
    assert choose(*good, 0.1, 0.05, grid=grid, starts=2).bound <= 0.1
    with pytest.raises(NoThreshold):
        choose(*bad, 0.1, 0.05, grid=grid, starts=2)


def test_a_chance_of_just_the_level_passes() -> None:
    """No error among three, where half may be wrong: the chance of that is .125, exactly."""
    three = np.full(3, 0.5), np.zeros(3, np.bool_)
    for method in ("ltt", "bonferroni"):
        chosen = choose(*three, 0.5, 0.125, grid=np.array([0.5]), method=method, starts=1)
        assert chosen.threshold == 0.5 and chosen.accepted == 3


def test_a_level_that_is_lost_lets_nothing_pass() -> None:
    """Not even where the chance is so small that it is 0 as a number."""
    confidence = np.repeat([0.9, 0.1], [1, 100_000])
    wrong = np.repeat([True, False], [1, 100_000])
    assert p_value(1, 100_001, 0.5) == 0
    assert fixed_sequence(Labelled.of(confidence, wrong), 0.5, 0.1, np.array([0.9, 0.1]), 1) is None


def test_starts_stand_evenly() -> None:
    assert start_places(20, 4) == [0, 5, 10, 15]
    assert start_places(2, 4) == [0, 1]


def test_ties_share_one_fate() -> None:
    """All have one confidence, 30 % are wrong, errors first: the authors' SGR certifies everything."""
    wrong = np.arange(200) < 60
    confidence = np.full(200, 0.5)
    fooled = choose(confidence, wrong, 0.1, 0.1, grid=GRID, method="sgr-code")
    assert (fooled.accepted, fooled.errors) == (200, 60)
    for method in set(METHODS) - {"sgr-code"}:
        with pytest.raises(NoThreshold):
            choose(confidence, wrong, 0.1, 0.1, grid=GRID, method=method)


def test_the_authors_sgr_loses_an_error() -> None:
    """A rate of 29 in 100 becomes 28 when it is cut back to a count."""
    assert int(100 * (29 / 100)) == 28
    wrong = np.zeros(100, np.bool_)
    wrong[:29] = True
    choice = choose(np.full(100, 0.5), wrong, 0.5, 0.9, grid=GRID, method="sgr-code")
    assert choice.errors == 29
    assert choice.bound == float(upper_bound(29, 100, 0.9 / 7))


def test_sgr_accepts_strictly_above_a_rank() -> None:
    confidence = np.repeat([0.1, 0.5, 0.9], [400, 200, 400])
    wrong = np.repeat([True, False, False], [400, 200, 400])
    choice = choose(confidence, wrong, 0.1, 0.1, grid=GRID, method="sgr")
    assert 0.1 < choice.threshold <= 0.5 and choice.accepted == 600
    assert choose(confidence, np.zeros(1000, np.bool_), 0.1, 0.1, grid=GRID, method="sgr").accepted == 1000
    endless = np.repeat([0.0, 0.5, np.inf], [100, 24, 76])  # nothing lies strictly above the last
    with pytest.raises(NoThreshold):
        choose(endless, endless < 1, 0.1, 0.1, grid=GRID, method="sgr")


def test_refusal_says_what_could_be() -> None:
    confidence, wrong = draws(1, 400)
    with pytest.raises(NoThreshold) as refused:
        choose(confidence, wrong, 0.02, 0.05, grid=GRID)
    error = refused.value
    assert error.lowest is not None and error.more is not None and error.more > 0
    assert choose(confidence, wrong, error.lowest, 0.05, grid=GRID).bound <= error.lowest
    with pytest.raises(NoThreshold):
        choose(confidence, wrong, error.lowest - 0.01, 0.05, grid=GRID)
    assert f"{round(100 * error.lowest)} %" in str(error) and "\n" not in str(error)


def test_so_many_more_labels_mostly_do() -> None:
    """The forecast is for errors as frequent as seen, so about half of the time it is enough."""
    enough = tried = 0
    for seed in range(30):
        confidence, wrong = draws(seed, 150)
        evidence = Evidence.of(confidence, wrong, seed=seed)
        more = evidence.more_labels(0.1, 0.1) if evidence.choice(0.1, 0.1) is None else None
        if more is not None and more < 5000:
            tried += 1
            again = Evidence.of(*draws(1000 + seed, 150 + more), seed=seed)
            enough += again.choice(0.1, 0.1) is not None
    assert tried > 15 and 0.3 < enough / tried < 0.95


def test_more_labels_are_reckoned_where_tests_start() -> None:
    """Too much is wrong at the first threshold, not at the second, which only some methods test first."""
    labelled = Labelled.of(np.repeat([0.95, 0.5], [9, 110]), np.repeat([True, False], [9, 110]))
    more = {
        method: Evidence(labelled, 119, grid=as_grid([0.9, 0.1]), method=method, starts=1).more_labels(
            0.1, 0.05
        )
        for method in ("ltt", "bonferroni")
    }
    assert more["ltt"] is None and more["bonferroni"] is not None and more["bonferroni"] > 0


def test_thresholds_start_where_enough_pass() -> None:
    confidence = np.random.default_rng(0).random(5000)
    grid = thresholds(confidence, 1000, 0.1, 0.1)
    assert (np.diff(grid) < 0).all() and grid[-1] == -np.inf
    assert 1000 * (confidence >= grid[0]).mean() == pytest.approx(3 * np.log(0.1) / np.log(0.9), abs=1)
    assert (confidence >= thresholds(confidence, 20, 0.1, 0.1)[0]).mean() == pytest.approx(0.5, abs=0.01)
    assert thresholds(np.empty(0), 20, 0.1, 0.1).tolist() == [-np.inf]
    assert thresholds(np.array([0.8, 0.9]), 20, 0.1, 0.1).tolist() == [0.9, 0.8, -np.inf]
    assert thresholds(np.array([0.7, 0.8, 0.9]), 20, 0.1, 0.1).tolist() == [0.8, 0.7, -np.inf]


def test_what_makes_thresholds_is_not_tested() -> None:
    confidence, wrong = draws(0, 1000)
    evidence = Evidence.of(confidence, wrong, seed=3)
    assert evidence.apart is not None and len(evidence.apart) == 100 and len(evidence.tested) == 900
    together = np.sort(np.concatenate([evidence.apart, evidence.tested.confidence]))
    assert together.tolist() == np.sort(confidence).tolist()
    assert len(Evidence.of(confidence, wrong, others=confidence[:9] + 1).tested) == 1000
    assert len(Evidence.of(confidence, wrong, method="naive").tested) == 1000
    many = np.zeros(50_000)
    assert len(Evidence.of(many, many > 0).tested) == 49_000


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"risk": 1.5}, "share of wrong answers"),
        ({"delta": 0.0}, "not a probability"),
        ({"grid": []}, "one threshold or more"),
        ({"grid": [np.nan]}, "all of them numbers"),
        ({"confidence": [np.nan, 1.0]}, "place 0 is not a number"),
        ({"confidence": [1.0]}, "one entry per question"),
        ({"wrong": [0, 2]}, "true or false"),
    ],
)
def test_what_cannot_be_is_one_line(change: dict[str, object], message: str) -> None:
    given: dict[str, object] = {
        "confidence": [0.1, 0.2],
        "wrong": [0, 1],
        "risk": 0.1,
        "delta": 0.1,
        "grid": [0.5],
    }
    with pytest.raises(UsageError, match=message):
        choose(**(given | change))  # type: ignore[arg-type]


def test_unknown_method() -> None:
    with pytest.raises(UnknownName, match="did you mean 'ltt'"):
        choose(np.ones(2), np.zeros(2, np.bool_), 0.1, 0.1, grid=GRID, method="lttt")


def test_infinite_confidences_are_in_order() -> None:
    confidence = np.repeat([np.inf, 0.0, -np.inf], 100)
    wrong = np.repeat([False, False, True], 100)
    for method in PROMISING:
        choice = choose(confidence, wrong, 0.1, 0.1, grid=np.array([np.inf, 0.0, -np.inf]), method=method)
        assert choice.accepted in (100, 200) and choice.errors == 0
    assert Labelled.of(confidence, wrong).at(np.array([np.inf]))[0].tolist() == [100]
