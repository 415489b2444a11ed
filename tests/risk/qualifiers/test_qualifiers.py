from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demur.errors import UsageError
from demur.risk import committee, qualifier
from demur.types import FloatArray, Pool

INF = math.inf


def sure(spec: str, *scores: float, question: str = "who?", answers: list[str] | None = None) -> float:
    pool = Pool.of(question, answers or [f"answer {n}" for n in range(len(scores))])
    return float(qualifier(spec).confidence([pool], [np.array(scores)])[0])


@pytest.mark.parametrize(
    ("spec", "scores", "expected"),
    [
        ("top", (1, 3, 2), 3),
        ("top", (-INF, -INF), -INF),
        ("margin", (1, 3, 2), 1),
        ("margin", (3, 3, 2), 0),
        ("margin", (3,), 0),
        ("margin", (INF, 3), INF),
        ("margin", (INF, INF), 0),
        ("margin", (-INF, -INF), 0),
        ("softmax", (0, 0), 0.5),
        ("softmax", (math.log(3), 0), 0.75),
        ("softmax(temperature=2)", (2 * math.log(3), 0), 0.75),
        ("softmax", (INF, 0, INF), 0.5),
        ("softmax", (1e308, -1e308), 1),
        ("softmax", (7,), 1),
        ("softmax(above_chance=true)", (math.log(3), 0), 0.5),
        ("softmax(above_chance=true)", (5, 5, 5), 0),
        ("softmax(above_chance=true)", (7,), 0),
        ("entropy", (5, 5, 5), -1),
        ("entropy", (1e308, -1e308), 0),
        ("entropy", (math.log(3), 0), -(math.log(4) - 0.75 * math.log(3)) / math.log(2)),
        ("entropy", (7,), -1),
        ("zscore", (0, 0, 3), math.sqrt(2)),
        ("zscore", (5, 5), 0),
        ("zscore", (7,), 0),
        ("zscore", (-INF, 2, -INF), math.sqrt(2)),
        ("zscore", (0, 0, 1e300), math.sqrt(2)),
        ("size", (1, 2, 3), -math.log(3)),
        ("size", (1,), 0),
    ],
)
def test_known_values(spec: str, scores: tuple[float, ...], expected: float) -> None:
    assert sure(spec, *scores) == pytest.approx(expected, abs=1e-12)


def test_coverage_is_the_share_of_content_words_by_idf() -> None:
    answers = ["the red ship", "a ship", "a ship"]
    common, rare, absent = (math.log(1 + (3 - n + 0.5) / (n + 0.5)) for n in (3, 1, 0))
    found = sure("coverage", 9, 1, 0, question="Where is the red ship of Oslo?", answers=answers)
    assert found == pytest.approx((common + rare) / (common + rare + absent))
    tied = sure("coverage", 9, 9, 0, question="Where is the red ship of Oslo?", answers=answers)
    assert tied == pytest.approx(common / (common + rare + absent)), "of equals the least counts"
    assert sure("coverage", 1, 0, question="where is it?", answers=["it is", "no"]) == 0
    inflected = {"question": "red ships", "answers": ["red ship", "x"]}
    assert sure("coverage(stem=english)", 1, 0, **inflected) == 1  # type: ignore[arg-type]
    assert sure("coverage", 1, 0, **inflected) < 0.6  # type: ignore[arg-type]


def test_agreement_counts_votes_for_the_top() -> None:
    pool = Pool.of("red ship", ["red ship", "green", "a very long answer without them"])
    top = np.array([1.0, 0.0, 0.0])
    voted = qualifier('agreement(rankers="bm25; overlap(weighted=false); length")').confidence([pool], [top])
    assert voted[0] == pytest.approx(2 / 3), "length votes for the long one"
    divided = qualifier("agreement(rankers=overlap)").confidence([Pool.of("x", ["a", "b"])], [np.zeros(2)])
    assert divided[0] == 0.5
    with pytest.raises(UsageError, match="word statistics first; write stats=pool"):
        qualifier("agreement(rankers='bm25(stats=dataset)')")
    with pytest.raises(UsageError, match="write by=votes, by=mean, by=variance"):
        qualifier("agreement(by=vote)")
    with pytest.raises(UsageError, match="unknown ranker 'bm52'"):
        qualifier("agreement(rankers=bm52)")


def test_a_committee_of_arrays() -> None:
    scores = [np.array([2.0, 1.0]), np.empty(0), np.array([1.0])]
    against = [np.array([0.0, 5.0]), np.empty(0), np.array([3.0])]
    votes = committee(scores, [scores, against, scores])
    assert votes.tolist() == pytest.approx([2 / 3, -INF, 1])
    high, low = 1 / (1 + math.exp(-2)), 1 / (1 + math.exp(2))
    assert committee(scores, [scores, against], by="mean")[0] == pytest.approx(0.5)
    assert committee(scores, [scores, against], by="variance")[0] == pytest.approx(-(((high - low) / 2) ** 2))
    with pytest.raises(UsageError, match="member 2 of the committee has scored other pools"):
        committee(scores, [scores, scores[:1]])
    with pytest.raises(UsageError, match="at least one ranker"):
        committee(scores, [])


arrays = st.lists(
    st.lists(st.floats(-50, 50), max_size=5).map(lambda each: np.array(each, np.float64)),
    min_size=1,
    max_size=6,
)


@given(arrays, st.floats(-20, 20))
@settings(max_examples=60)
def test_only_differences_count(scores: list[FloatArray], shift: float) -> None:
    pools = [Pool.of("q", ["x"] * len(each)) for each in scores]
    for spec in ("margin", "softmax", "entropy", "zscore"):
        before = qualifier(spec).confidence(pools, scores)
        after = qualifier(spec).confidence(pools, [each + shift for each in scores])
        # what a shift rounds away may make a tie, where the z-score jumps
        gaps = [np.diff(np.sort(each)) for each in scores]
        clear = [bool(((gap == 0) | (gap > 1e-6)).all()) for gap in gaps]
        assert np.allclose(before[clear], after[clear], atol=1e-6)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("margn", "unknown qualifier 'margn'; did you mean 'margin'"),
        ("margin(k=1)", "qualifier 'margin' has no setting 'k'; it takes none"),
        ("margin@3", "a qualifier has no @"),
        ("softmax(temperature=0)", "needs a temperature above 0, not 0"),
        ("entropy(temperature=-1)", "needs a temperature above 0, not -1"),
        ("learned(kind=forest)", "write kind=logistic or kind=boosting"),
        ("learned(features='')", "at least one feature"),
        ("learned(features=margin, weights='[1, [0, 1]]')", "the weights of learned are broken"),
        ("learned(features=margin, weights='x')", "the weights of learned are broken"),
    ],
)
def test_what_cannot_be_is_one_clear_line(spec: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        qualifier(spec)


def calls(spec: str, count: int) -> int:
    """How many functions are called for so many pools."""
    pools = [Pool.of("q", ["x"] * 8)] * count
    scores = list(np.random.default_rng(0).normal(size=(count, 8)))
    events: list[str] = []

    def called(frame: object, event: str, what: object) -> None:
        events.append(event)

    sys.setprofile(called)
    try:
        qualifier(spec).confidence(pools, scores)
    finally:
        sys.setprofile(None)
    return sum("call" in event for event in events)


@pytest.mark.parametrize("spec", ["margin", "softmax", "entropy", "zscore"])
def test_many_pools_are_taken_together(spec: str) -> None:
    """Few functions are called for each more pool: the numbers of all are reckoned in one array."""
    assert 0 < calls(spec, 1100) - calls(spec, 100) < 25 * 1000
