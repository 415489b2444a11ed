"""What a gate is calibrated on, and how."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import demur.data
from demur.errors import NoThreshold, UsageError
from demur.risk import calibrate, plan
from demur.types import Candidate, Pool, Ranking
from risk.questions import QUESTION, pools


def test_methods_that_break_their_word_promise_nothing() -> None:
    naive = calibrate("overlap", pools(400), 0.1, 0.9, method="naive")
    assert "promises nothing" in naive.promise and naive.scope == () and naive.certificate.questions == 400
    low = Ranking(QUESTION, (Candidate("a", "x"), Candidate("b", "y")), (1e-9, 0.0))
    assert "wrong" not in naive.judge(low).refusal


def test_another_seed_parts_them_otherwise() -> None:
    found = {calibrate("overlap", pools(400), 0.15, 0.9, seed=seed).certificate.accepted for seed in range(6)}
    assert len(found) > 1


def test_statistics_of_the_pools_scored_are_refused() -> None:
    with pytest.raises(UsageError, match="takes its statistics from the pools it scores"):
        calibrate("bm25(stats=dataset)", pools(50))


BARE = Pool.of("q", ["a", "b"], id="bare")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "no pools to calibrate on"),
        ([*pools(3), *pools(3)], "2 pools have the id 'q0'"),
        ([Pool("e", "q", ()), Pool("f", "q", ())], "none of these pools has a candidate"),
        ([BARE], "no candidate of 1 pool has a label"),
        ([*pools(3), BARE], "in 1 of 4 pools the candidate that comes first has no label"),
        (
            [Pool.of("q", ["a"], [0], id=str(n)) for n in range(9)],
            "no candidate of 9 pools is labelled as right",
        ),
    ],
)
def test_pools_that_cannot_be_used_are_one_line(given: Sequence[Pool], message: str) -> None:
    with pytest.raises(UsageError, match=message) as refused:
        calibrate("overlap", given)
    assert "\n" not in str(refused.value)


def test_wishes_that_cannot_be_are_one_line() -> None:
    for wish, message in (
        ({"risk": 10}, "share"),
        ({"confidence": 95}, "probability"),
        ({"method": "x"}, "known"),
    ):
        with pytest.raises(UsageError, match=message):
            calibrate("overlap", pools(30), **wish)


def test_no_threshold_counts_all_that_were_labelled() -> None:
    with pytest.raises(NoThreshold) as refused:
        calibrate("overlap", pools(100), 0.05)
    assert refused.value.questions == 100 and refused.value.lowest is not None
    assert calibrate("overlap", pools(100), refused.value.lowest).certificate.risk == refused.value.lowest


def test_labels_that_the_qualifier_learnt_from_count_among_those_that_were_given() -> None:
    right = [
        Pool.of(QUESTION, [" ".join(QUESTION.split()[: 1 + n % 3]), "nothing at all"], [1, 0], id=f"r{n}")
        for n in range(60)
    ]
    with pytest.raises(NoThreshold) as refused:
        calibrate("overlap", right[:30], 0.1, qualifier="learned(features=margin)")
    assert refused.value.questions == 30 and refused.value.more == 30
    assert calibrate("overlap", right, 0.1, qualifier="learned(features=margin)").certificate.errors == 0


def test_pools_without_labels_make_the_thresholds() -> None:
    blank = [Pool.of(pool.question, pool.answers, id=pool.id) for pool in pools(200, seed=9, name="blank")]
    made = calibrate("overlap", pools(400), 0.1, 0.9, grid=blank)
    assert made.certificate.questions == 400
    with pytest.raises(UsageError, match="2 of the pools for the grid are also calibrated on"):
        calibrate("overlap", pools(400), 0.1, 0.9, grid=[*blank, *pools(2)])
    fixed = calibrate("overlap", pools(400), 0.1, 0.9, grid=np.array([0.0, made.threshold]))
    assert fixed.threshold == made.threshold


def test_questions_without_candidates_are_not_counted() -> None:
    empty = [Pool(f"none{n}", "q", ()) for n in range(50)]
    made = calibrate("overlap", [*pools(400), *empty], 0.1, 0.9)
    assert made.certificate.pools == 450 and made.certificate.questions == 360


def test_plan_is_what_calibrate_does() -> None:
    assert plan("overlap", pools(400)) == plan("overlap", pools(400), 0.95)
    table = plan("overlap", pools(400), 0.9)
    assert [level.risk for level in table.levels] == [0.01, 0.02, 0.05, 0.1, 0.2, 0.3]
    for level in table.levels:
        try:
            made = calibrate("overlap", pools(400), level.risk, 0.9)
        except NoThreshold as error:
            assert level.coverage is None and level.more == error.more
        else:
            assert level.coverage == made.certificate.accepted / made.certificate.questions
            assert (level.threshold, level.bound) == (made.plain_threshold, made.certificate.bound)
    assert {level.coverage is None for level in table.levels} == {True, False}


def test_plan_names_the_least_that_can_be_promised() -> None:
    for risks in ((0.01, 0.3), (0.005, 0.01)):  # one of them is kept; none is
        table = plan("overlap", pools(400), 0.9, risks=risks)
        with pytest.raises(NoThreshold) as refused:
            calibrate("overlap", pools(400), risks[0], 0.9)
        assert table.lowest is not None
        assert table.lowest == refused.value.lowest and risks[0] < table.lowest < 0.3
        assert calibrate("overlap", pools(400), table.lowest, 0.9).certificate.risk == table.lowest
    assert plan("overlap", pools(400), 0.9, risks=(0.3,)).lowest is None, "nothing was refused"


def test_many_confidences_are_thinned() -> None:
    names = [f"{place}" for place in range(2500)]
    right = [Pool.of("q", [f"a{name}", f"b{name}"], [1, 1], id=name) for name in names]
    made = calibrate("random", right, 0.3)
    assert len(made.confidences) == 1000 and list(made.confidences) == sorted(made.confidences)
    assert np.median(made.confidences) == pytest.approx(1 - 0.5**0.5, abs=0.03)  # of the gap of two numbers


@pytest.mark.data
def test_selqa_keeps_the_promise_on_its_test_set() -> None:
    made = calibrate("bm25", demur.data.pools("selqa/dev"), 0.1)
    found = made.predictions("bm25", demur.data.pools("selqa/test"))
    assert found.risk(made.threshold) <= 0.1 and found.coverage(made.threshold) > 0.25
    assert made.certificate.data == "selqa/dev"


def test_only_the_first_candidate_needs_a_label() -> None:
    def first(pool: Pool) -> Pool:
        return Pool.of(pool.question, pool.answers, [pool.labels[0], None], id=pool.id)

    known = pools(400)
    made = calibrate("overlap(weighted=false)", [first(pool) for pool in known], 0.1, 0.9)
    assert made == calibrate("overlap(weighted=false)", known, 0.1, 0.9)


def test_one_start_is_an_option() -> None:
    one = calibrate("overlap", pools(400), 0.1, 0.9, starts=1)
    assert one.certificate.accepted >= calibrate("overlap", pools(400), 0.1, 0.9).certificate.accepted
    with pytest.raises(UsageError, match="starts=0"):
        calibrate("overlap", pools(400), starts=0)
