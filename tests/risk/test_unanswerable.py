"""A threshold by questions without an answer keeps its word, and the obvious one does not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import expit

from demur.errors import NoThreshold, UsageError
from demur.risk.thresholds.bounds import p_value
from demur.risk.thresholds.guarantee import limit
from demur.risk.unanswerable import GRID, choose
from demur.types import FloatArray

DRAWS, RISK, DELTA = 200, 0.1, 0.05
Rule = Callable[[FloatArray], float]


def ours(confidence: FloatArray) -> float:
    try:
        return choose(confidence, RISK, 1 - DELTA).threshold
    except NoThreshold:
        return np.inf


def naive(confidence: FloatArray) -> float:
    """The loosest threshold at which no more than a tenth of these were answered."""
    seen = (confidence[:, None] >= GRID[None, :]).mean(axis=0)
    return float(GRID[seen <= RISK][-1])


def violations(rule: Rule) -> int:
    """On how many draws more than a tenth of all such questions pass; true rates are those of a normal."""
    from scipy.stats import norm

    draw = np.random.default_rng(0)
    found = 0
    for _ in range(DRAWS):
        threshold = rule(expit(draw.normal(-2, 1.5, 120)))
        if np.isfinite(threshold):
            found += norm.sf(np.log(threshold / (1 - threshold)), -2, 1.5) > RISK
    return found


def test_it_keeps_its_word_and_the_naive_rule_does_not() -> None:
    assert violations(ours) <= limit(DRAWS, DELTA)
    assert violations(naive) > limit(DRAWS, DELTA)


def test_it_is_of_use() -> None:
    threshold = ours(expit(np.random.default_rng(1).normal(-2, 1.5, 400)))
    assert 0.3 < threshold < 0.8  # the true one is .48


def faq_of(centres: FloatArray, draw: np.random.Generator, count: int) -> FloatArray:
    """Questions as unit vectors around topics, more of some than of others."""
    weights = 1 / np.arange(1, len(centres) + 1)
    which = draw.choice(len(centres), count, p=weights / weights.sum())
    made = centres[which] + 0.6 * draw.normal(size=(count, centres.shape[1])) / np.sqrt(centres.shape[1])
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float64)


def test_entries_that_are_taken_away_bound_how_often_strange_questions_are_answered() -> None:
    """Given the rest, entries that are removed are drawn like all others of their kind."""
    draw = np.random.default_rng(2)
    centres = draw.normal(size=(60, 24)) / np.sqrt(24)
    found, answered = 0, []
    for _ in range(DRAWS):
        entries = faq_of(centres, draw, 400)
        rest, taken = entries[40:], entries[:40]
        confidence = expit(9 * (taken @ rest.T).max(axis=1) - 7)
        try:
            threshold = choose(confidence, 0.2, 1 - DELTA).threshold
        except NoThreshold:
            continue
        others = expit(9 * (faq_of(centres, draw, 1500) @ rest.T).max(axis=1) - 7)
        passing = int((others >= threshold).sum())
        answered.append(passing / 1500)
        found += bool(
            p_value(1500 - passing, 1500, 0.8) < 0.001
        )  # more than a fifth, beyond the luck of 1,500
    assert found <= limit(DRAWS, DELTA)
    assert len(answered) > DRAWS / 2 and np.mean(answered) > 0.03, "it lets something pass"


def test_too_few_are_told_how_many_it_takes() -> None:
    with pytest.raises(
        NoThreshold, match=r"8 entries .* remove more: it takes 14 entries if none is"
    ) as error:
        choose(np.full(8, 0.1), 0.2)
    assert (error.value.questions, error.value.more, error.value.lowest) == (8, 6, 0.32)
    assert choose(np.full(14, 0.1), 0.2).accepted == 0
    with pytest.raises(NoThreshold, match="0 entries"):
        choose(np.zeros(0), 0.2)


def test_equal_ones_share_one_fate() -> None:
    found = choose(np.repeat([0.1, 0.6], [95, 5]), 0.2)
    assert 0.1 < found.threshold <= 0.6 and found.accepted in (0, 5)
    assert found.bound <= 0.2


@pytest.mark.parametrize(("risk", "sure"), [(0, 0.95), (1, 0.95), (0.1, 1), (0.1, 0)])
def test_what_is_no_share_is_refused(risk: float, sure: float) -> None:
    with pytest.raises(UsageError, match="is not a"):
        choose(np.full(100, 0.1), risk, sure)


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(UsageError, match="not a number"):
        choose(np.array([0.1, np.nan]), 0.2)
