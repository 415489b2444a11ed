from __future__ import annotations

import dataclasses
import math
import random
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import demur
from demur.data import pools as load
from demur.errors import DataError, UsageError
from demur.risk.sets import AnswerSets, answer_sets, depths, threshold
from demur.types import Candidate, FloatArray, Pool, Ranking

SCORES = st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=8)


@lru_cache(maxsize=1)
def population(pools: int = 30_000) -> FloatArray:
    """Depths needed for pools of 2 to 12 candidates, of which one is right and tends to score well."""
    rng = np.random.default_rng(5)
    sizes = rng.integers(2, 13, pools)
    needed = []
    for size in sizes:
        scores = rng.normal(size=size)
        scores[0] += 1
        needed.append(depths(scores)[0])
    return np.array(needed)


def mean_loss(rule: object, n: int, level: float) -> tuple[float, float]:
    """The mean and its standard error over 1,000 draws of the share of new questions with a failing set."""
    rng = np.random.default_rng(7)
    everyone = np.sort(population())
    losses = []
    for _ in range(1000):
        chosen = rule(rng.choice(everyone, n), level)  # type: ignore[operator]
        losses.append(1 - np.searchsorted(everyone, chosen, side="right") / len(everyone))
    return float(np.mean(losses)), float(np.std(losses) / math.sqrt(1000))


@pytest.mark.parametrize(("n", "level"), [(20, 0.9), (100, 0.9), (500, 0.95), (60, 0.7)])
def test_the_mean_loss_is_what_was_promised_and_not_much_less(n: int, level: float) -> None:
    mean, error = mean_loss(threshold, n, level)
    assert mean <= 1 - level + 3 * error
    assert mean >= 1 - level - 2 / (n + 1) - 3 * error


def test_the_empirical_rule_fails_the_same_harness() -> None:
    def empirical(needed: FloatArray, level: float) -> float:
        return float(np.quantile(needed, level, method="inverted_cdf"))

    mean, error = mean_loss(empirical, 20, 0.9)
    assert mean > 0.1 + 3 * error


@given(st.lists(st.integers(0, 6).map(float), min_size=1, max_size=30), st.integers(1, 99))
def test_the_threshold_is_the_least_that_meets_the_condition(needed: list[float], percent: int) -> None:
    n, alpha = len(needed), 1 - Fraction(percent, 100)

    def valid(depth: float) -> bool:
        return Fraction(sum(need > depth for need in needed) + 1, n + 1) <= alpha

    valids = [depth for depth in sorted(set(needed)) if valid(depth)]
    assert threshold(np.array(needed), percent / 100) == (valids[0] if valids else math.inf)


def test_no_rounding_error_decides() -> None:
    nine = np.arange(9.0)
    assert (1 - 0.9) * 10 < 1  # in floats, nine questions would seem too few for 90 %
    assert threshold(nine, 0.9) == 8
    assert threshold(nine[:8], 0.9) == math.inf


def test_if_every_threshold_will_do_the_smallest_sets_are_chosen() -> None:
    assert threshold(np.zeros(100), 0.9) == 0
    assert threshold(np.array([0.0, 5, 6]), 0.25) == 0


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, 90.0, float("nan")])
def test_levels_are_shares(level: float) -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        threshold(np.zeros(5), level)


@given(SCORES, st.floats(0.1, 50), st.floats(-50, 50))
def test_depths_go_by_order_and_gap_and_not_by_scale(scores: list[float], times: float, plus: float) -> None:
    deep = depths(scores)
    assert deep.min() == 0
    for one, first in zip(scores, deep, strict=True):
        assert math.floor(first) - sum(other > one for other in scores) in (0, 1)
        for other, second in zip(scores, deep, strict=True):
            assert (one > other) == (first < second)
    assert np.allclose(depths([times * score + plus for score in scores]), deep)
    assert depths(scores[::-1]).tolist() == deep[::-1].tolist()


def test_depth_by_hand() -> None:
    assert depths([9.0, 1.0, 5.0, 5.0]).tolist() == [0.0, 4.0, 1.5, 1.5]
    assert depths([2.0, 2.0]).tolist() == [0.0, 0.0]
    assert depths([]).tolist() == []


def rule(depth: float) -> AnswerSets:
    return AnswerSets(0.9, depth, "bm25", "f" * 16, 30, 4, 2.5, 9.0, "0" * 64)


def ranking(*scores: float) -> Ranking:
    return Ranking("q", tuple(Candidate(str(n), "") for n in range(len(scores))), scores)


def test_equal_scores_are_in_together_or_out_together() -> None:
    four = ranking(9.0, 5.0, 5.0, 1.0)
    assert [len(rule(depth).of(four)) for depth in (0, 1.49, 1.5, 3.9, 4, math.inf)] == [1, 1, 3, 3, 4, 4]
    assert len(rule(0).of(ranking(1.0, 1.0, 1.0))) == 3
    assert rule(3).of(ranking()) == ()


@settings(max_examples=50)
@given(SCORES, st.floats(0, 8), st.floats(0, 8))
def test_sets_grow_with_the_threshold(scores: list[float], one: float, other: float) -> None:
    ordered = ranking(*sorted(scores, reverse=True))
    small, large = rule(min(one, other)).of(ordered), rule(max(one, other)).of(ordered)
    assert large[: len(small)] == small
    assert small[0] == ordered.candidates[0]


def labelled() -> list[Pool]:
    """Forty pools in which the right answer shares one to three words with the question."""
    texts = ["saw", "saw drill", "saw drill lathe", "plane"]
    pools = [
        Pool.of("saw drill lathe", texts, [int(place == number % 3) for place in range(4)], id=str(number))
        for number in range(40)
    ]
    return [*pools, Pool.of("saw", ["no", "none"], [0, 0], id="without")]


def test_sets_are_calibrated_on_the_answerable_pools() -> None:
    sets = answer_sets("overlap", labelled(), 0.9)
    assert (sets.n, sets.left_out, sets.mean_pool) == (40, 1, 4.0)
    made = sets.of(demur.ranker("overlap").rank("saw drill lathe", labelled()[0].candidates))
    assert sets.mean_size == len(made) == 3
    assert answer_sets("overlap", labelled(), 0.3).mean_size == 1


@pytest.mark.data
@pytest.mark.parametrize("id", ["wikiqa/test", "semeval2016/test", "selqa/test"])
@pytest.mark.parametrize("ranker", ["bm25", "overlap"])
def test_on_real_questions_the_mean_loss_is_kept_and_sets_are_smaller_than_pools(
    id: str, ranker: str
) -> None:
    pools = [pool for pool in load(id) if pool.positives]
    deep = [depths(scores) for scores in demur.ranker(ranker).score_pools(pools)]
    right = [np.array([(label or 0) > 0 for label in pool.labels]) for pool in pools]
    needed = np.array([each[good].min() for each, good in zip(deep, right, strict=True)])
    rng = np.random.default_rng(1)
    losses = []
    for _ in range(500):
        order = rng.permutation(len(needed))
        half = len(needed) // 2
        losses.append(float((needed[order[half:]] > threshold(needed[order[:half]], 0.8)).mean()))
    error = float(np.std(losses) / math.sqrt(len(losses)))
    assert 0.2 - 2 / (len(needed) // 2 + 1) - 3 * error <= np.mean(losses) <= 0.2 + 3 * error
    sets = answer_sets(ranker, pools, 0.8)
    assert sets.mean_size < 0.6 * sets.mean_pool


def test_the_order_of_pools_and_candidates_changes_nothing() -> None:
    pools = [
        dataclasses.replace(pool, candidates=pool.candidates[::-1])
        for pool in random.Random(3).sample(labelled(), 41)
    ]
    assert answer_sets("overlap", pools) == answer_sets("overlap", labelled())


def test_too_few_questions_make_the_whole_pool_the_set() -> None:
    sets = answer_sets("overlap", labelled(), 0.99)
    assert math.isinf(sets.threshold)
    assert len(sets.of(ranking(3.0, 2.0, 1.0))) == 3
    assert "40 labelled questions are too few for 99 %" in sets.promise
    assert "calibrate with 99 or more" in sets.promise
    assert threshold(np.zeros(98), 0.99) == math.inf
    assert threshold(np.zeros(99), 0.99) == 0


def test_the_promise_is_one_sentence_about_averages() -> None:
    promise = answer_sets("overlap", labelled()).promise
    assert promise.startswith("On average, sets made this way hold a correct answer for at least 90 % of the")
    assert "the 40 labelled questions" in promise


def test_nothing_to_calibrate_on_is_refused() -> None:
    with pytest.raises(UsageError, match="no pool has a correct candidate"):
        answer_sets("overlap", labelled()[-1:])


def test_another_ranker_is_refused() -> None:
    sets = answer_sets("bm25(stats=dataset)", labelled())
    sets.check_ranker(demur.ranker("bm25(stats=dataset)").prepare(labelled()))
    with pytest.raises(UsageError, match="not with overlap"):
        sets.check_ranker(demur.ranker("overlap"))
    with pytest.raises(UsageError, match="what it learnt or counted has changed"):
        sets.check_ranker(demur.ranker("bm25(stats=dataset)").prepare(labelled()[:3]))


@pytest.mark.parametrize("level", [0.9, 0.99])
def test_saved_and_loaded_it_is_the_same(tmp_path: Path, level: float) -> None:
    sets = answer_sets("overlap", labelled(), level)
    sets.save(tmp_path / "sets.json")
    assert AnswerSets.load(tmp_path / "sets.json") == sets


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "not JSON"),
        ("[]", "no 'demur answer sets 1'"),
        ('{"format": "demur gate 1"}', "no 'demur answer sets 1'"),
        ('{"format": "demur answer sets 1", "level": "high"}', "'level' is missing or no float"),
        ('{"format": "demur answer sets 1", "level": true}', "'level' is missing or no float"),
        ('{"format": "demur answer sets 1", "level": 0.9}', "'threshold' is missing or no float"),
    ],
)
def test_other_files_are_refused_in_one_line(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "sets.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=why) as refused:
        AnswerSets.load(path)
    assert "\n" not in str(refused.value)
