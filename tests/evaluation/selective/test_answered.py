"""Measures over answers in reports: which questions count, what is kept, and how reports are compared."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from demur.data import Pools
from demur.errors import DemurError
from demur.evaluation import (
    AURC,
    Answers,
    Report,
    compare,
    difference,
    evaluate,
    evaluate_run,
    measure_answers,
)
from demur.evaluation.selective.measures import AUROC, Coverage, Risk
from demur.types import FloatArray, Pool

POOLS = [
    Pool.of("?", ["a", "b"], [1, 0], "right"),
    Pool.of("?", ["a", "b"], [0, 2], "wrong"),
    Pool.of("?", ["a", "b"], [0, 0], "none"),
    Pool.of("?", ["a", "b"], [2, 0], "tied"),
    Pool("empty", "?", ()),
    Pool.of("?", ["a"], [None], "unjudged"),
]
SCORES = [[2.0, 1.0], [3.0, 1.0], [5.0, 1.0], [1.0, 1.0], [], [9.0]]
SURE = [4.0, 3.0, 2.0, 1.0, math.nan, 0.0]


@dataclass(frozen=True)
class Spread:
    """How far apart the scores are, with a record of the pools that were seen."""

    seen: tuple[str, ...] = ("right", "wrong", "none", "tied", "empty")
    spec = "spread"
    needs_fitting = False

    def out_of_fold(self, pools: Sequence[Pool], scores: Sequence[FloatArray], folds: int = 5) -> FloatArray:
        raise AssertionError("it has nothing to learn")

    def confidence(self, pools: Sequence[Pool], scores: Sequence[FloatArray]) -> FloatArray:
        assert tuple(pool.id for pool in pools) == self.seen
        assert [len(each) for each in scores] == [len(pool) for pool in pools]
        return np.array([np.ptp(each) if len(each) else np.nan for each in scores])


def test_every_judged_question_counts_and_those_with_candidates_have_an_answer() -> None:
    report = evaluate(SCORES, POOLS, "MAP,AURC,Risk@1,Coverage@0.5", confidences=SURE)
    assert list(report.measures) == ["MAP", "AURC", "Risk@1", "Coverage@0.5"]
    assert (report.ids, report.skipped) == (("right", "wrong", "none", "tied", "empty"), 1)
    assert report.counted == {"MAP": 3, "AURC": 4, "Risk@1": 4, "Coverage@0.5": 4}
    losses = [0, 1, 1, 0.5]  # the tied answer is wrong with chance one half
    assert report.measures["AURC"].mean == AURC.of(SURE[:4], losses)
    assert report.measures["Risk@1"].mean == 2.5 / 4
    assert report.measures["Coverage@0.5"].mean == 0.5
    assert report.answered is not None
    assert report.answered.outcomes == {"AD+": 1.5, "AD-": 1.5, "AN": 0, "UD": 1, "UN": 1}
    assert report.per_pool["none"] == {"MAP": None}
    alone = evaluate(SCORES, POOLS, "MAP")
    assert alone.answered is None
    assert report.measures["MAP"] == alone.measures["MAP"]


def test_risk_at_full_coverage_is_one_minus_p_at_1_under_every_convention() -> None:
    rng = np.random.default_rng(0)
    pools = [Pool.of("?", list("abc"), rng.integers(0, 2, 3).tolist(), str(n)) for n in range(60)]
    scores = rng.integers(0, 3, (60, 3))
    for name in ("fixed", "scan", "nn4nqa", "trec", "optimistic", "pessimistic"):
        wanted = evaluate(scores, pools, "P@1", name, "zero").measures["P@1"].mean
        found = evaluate(scores, pools, "Risk@1", name, confidences=rng.random(60)).measures["Risk@1"].mean
        assert found == pytest.approx(1 - wanted)


def test_a_qualifier_sees_judged_pools_with_their_scores() -> None:
    report = evaluate(SCORES, POOLS, [AURC], qualifier=Spread())
    assert report.measures["AURC"].mean == AURC.of([1, 2, 4, 0], [0, 1, 1, 0.5])
    assert report.answered is not None
    assert report.answered.qualifier == "spread"


@pytest.mark.parametrize("spec", [None, "margin"])
def test_qualifiers_have_names_and_margin_is_the_default(spec: str | None) -> None:
    report = evaluate("length", POOLS, [AURC], qualifier=spec)
    assert report.answered is not None
    assert report.answered.qualifier.startswith("margin")


def test_graded_labels_count_from_where_the_measure_says() -> None:
    report = evaluate(SCORES, POOLS, "Risk@1,Risk(rel=2)@1,AURC(rel=2)", confidences=SURE)
    assert report.measures["Risk(rel=2)@1"].mean == 3.5 / 4
    assert report.measures["AURC(rel=2)"].mean == AURC.of(SURE[:4], [1, 1, 1, 0.5])
    assert Report.from_json(report.to_json()).to_json() == report.to_json()


def test_pools_say_from_which_label_an_answer_is_right() -> None:
    graded = Pools("graded", (), lambda: iter(POOLS), relevant=2)
    report = evaluate(SCORES, graded, "MAP,P@1,nDCG@10,Risk@1", confidences=SURE)
    wanted = evaluate(SCORES, POOLS, "MAP(rel=2),P(rel=2)@1,nDCG@10,Risk(rel=2)@1", confidences=SURE)
    assert report.measures == wanted.measures
    assert list(report.measures) == ["MAP(rel=2)", "P(rel=2)@1", "nDCG@10", "Risk(rel=2)@1"], (
        "gains count all labels"
    )


def test_json_keeps_answers_apart_from_values_per_pool(tmp_path: Path) -> None:
    sure = [math.inf, 3.0, -math.inf, 1.0, math.nan, 0.0]
    report = evaluate(SCORES, POOLS, "AURC,P@1", confidences=sure, seed=3)
    value = json.loads(json.dumps(report.to_json(), allow_nan=False))
    assert value["answers"]["measures"] == ["AURC"]
    assert value["answers"]["predicted"] == 4
    assert value["answers"]["per_pool"]["right"] == {"confidence": "inf", "wrong": 0.0, "answerable": True}
    assert value["answers"]["per_pool"]["empty"] == {"confidence": None, "wrong": None, "answerable": False}
    assert value["per_pool"]["wrong"] == {"P@1": 0.0}
    assert set(value["measures"]["AURC"]) == {"mean", "low", "high"}
    report.write(tmp_path / "report.json")
    back = Report.read(tmp_path / "report.json")
    assert back.to_json() == report.to_json()
    assert back.answered is not None
    assert back.answered.confidence.tolist()[:4] == sure[:4]
    only = evaluate(SCORES, POOLS, "AURC", confidences=SURE)
    assert Report.from_json(only.to_json()).to_json() == only.to_json()
    assert "answers" not in evaluate(SCORES, POOLS, "MAP").to_json()


def refused(says: str, *arguments: object, **more: object) -> None:
    with pytest.raises(DemurError, match=says) as caught:
        evaluate(*arguments, **more)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_what_cannot_be_measured_is_one_clear_line() -> None:
    refused("give one of them", SCORES, POOLS, "AURC", confidences=SURE, qualifier="margin")
    refused(r"confidences of shape \(2,\) for 6 pools", SCORES, POOLS, "AURC", confidences=[1, 2])
    bad = [math.nan, *SURE[1:]]
    refused(r"confidence in the answer to 'right' is not a number", SCORES, POOLS, "AURC", confidences=bad)
    right = POOLS[:1]
    refused(
        "AUROC is undefined here, as the answers are all right or all wrong; leave that measure out",
        *(SCORES[:1], right, "AUROC"),
        confidences=[1.0],
    )
    refused("AP-error is undefined here, as no answer is wrong", SCORES[:1], right, "AP-error")
    refused("no answer reaches the threshold", SCORES, POOLS, "Risk(threshold=9)", confidences=SURE)
    refused("there are no answers", [[]], POOLS[4:5], "AURC")
    refused("confidence is 95", SCORES, POOLS, "AURC", confidences=SURE, confidence=95)
    with pytest.raises(DemurError, match="AURC needs the confidence of each answer, and a run has none"):
        evaluate_run({"q": {"a": 1.0}}, {"q": {"a": 1}}, "MAP,AURC")


def draw(n: int, seed: int, noise: float = 0.0) -> Answers:
    rng = np.random.default_rng(seed)
    sure = rng.random(n)
    loss = (rng.random(n) < 0.5 * (1 - sure)).astype(float)
    return Answers.of(sure + noise * np.random.default_rng([seed, 1]).standard_normal(n), loss)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    held = np.zeros(3)
    for seed in range(300):
        answers = {1: draw(150, seed)}
        found = measure_answers([AURC, Risk @ 0.8, AUROC], answers, resamples=499, seed=seed)
        truths = 0.125, 0.2, TRUE_AUROC
        held += [each.low <= truth <= each.high for each, truth in zip(found, truths, strict=True)]
    assert (held / 300 > 0.9).all()
    assert (held / 300 < 0.99).all()


# Sureness u is even: f_wrong = (1-u)/2, in all 1/4, and F_right = (u + u^2/2)/2. Their product's integral
# is (1/2 - 1/6 - 1/8)/4: how often a wrong answer is the surer one of the 1/4 times 3/4 of pairs.
TRUE_AUROC = 1 - ((1 / 2 - 1 / 6 - 1 / 8) / 4) / (0.25 * 0.75)


def test_estimates_depend_on_the_seed_and_not_on_the_company() -> None:
    answers = {1: draw(80, 1), 2: draw(80, 2)}
    both = measure_answers([AURC, Coverage @ 0.2, AURC(rel=2)], answers, resamples=199)
    assert both[:1] == measure_answers([AURC], answers, resamples=199)
    assert both[2:] == measure_answers([AURC(rel=2)], {2: answers[2]}, resamples=199)
    assert both != measure_answers([AURC, Coverage @ 0.2, AURC(rel=2)], answers, resamples=199, seed=1)
    assert both[0].low < both[0].mean < both[0].high


def test_one_answer_or_none_that_differs_has_no_spread() -> None:
    for n in (1, 9):
        found = measure_answers([AURC], {1: Answers.of(range(n), np.ones(n))}, resamples=99)[0]
        assert (found.mean, found.low, found.high) == pytest.approx((1.0, 1.0, 1.0))


def test_a_resample_without_errors_is_left_out() -> None:
    """One wrong answer of five: a third of the resamples do not have it."""
    found = measure_answers([AUROC], {1: Answers.of(range(5), [1, 0, 0, 0, 0])}, resamples=199)[0]
    assert (found.mean, found.low, found.high) == (1.0, 1.0, 1.0)


def report(seed: int, noise: float = 0.0, pools: int = 80) -> Report:
    answers = draw(80, 0, noise)
    listed = [Pool.of("?", ["a", "b"], [1 - int(loss), 0], str(n)) for n, loss in enumerate(answers.loss)]
    found = evaluate(
        [[2.0, 1.0]] * pools, listed[:pools], "AURC,P@1,Coverage@0.2", confidences=answers.confidence[:pools]
    )
    return replace(found, ranker=f"system {seed}")


def test_reports_are_compared_by_resampling_both_together() -> None:
    good, bad = report(0), report(1, noise=1.0)
    found = compare([good, bad])
    rows = {row.measure: row for row in found.rows}
    assert {name: row.test for name, row in rows.items()} == {
        "AURC": "bootstrap",
        "P@1": "permutation",
        "Coverage@0.2": "bootstrap",
    }
    row = rows["AURC"]
    assert (row.baseline, row.mean) == (good.measures["AURC"].mean, bad.measures["AURC"].mean)
    assert row.low < row.difference < row.high
    assert row.difference == row.mean - row.baseline > 0
    assert row.p < 0.05
    assert row.adjusted == pytest.approx(3 * row.p)
    assert rows["P@1"].p == 1.0
    turned = compare([bad, good]).rows[0]
    assert (turned.low, turned.high) == pytest.approx((-row.high, -row.low))
    assert turned.p == row.p
    assert compare([good, good]).rows[0].p == 1.0
    with_two = compare([good, bad], tests=["permutation", "wilcoxon"])
    assert [row.test for row in with_two.rows] == ["bootstrap", "permutation", "wilcoxon", "bootstrap"]
    assert with_two.rows[0] == found.rows[0]


def test_answers_are_joined_by_pool() -> None:
    good, bad = report(0), report(1, noise=1.0)
    value = bad.to_json()
    value["per_pool"] = dict(reversed(value["per_pool"].items()))
    assert compare([good, Report.from_json(value)]).rows == compare([good, bad]).rows
    part = report(1, noise=1.0, pools=50)
    with pytest.raises(DemurError, match="only 50 are the same"):
        compare([good, part])
    assert compare([good, part], common=True).rows[0].pools == 50


def test_measures_are_chosen_and_must_be_there() -> None:
    good, bad = report(0), report(1, noise=1.0)
    assert [row.measure for row in compare([good, bad], measures="AURC").rows] == ["AURC"]
    with pytest.raises(DemurError, match="unknown measure or system 'AUGRC'"):
        compare([good, bad], measures="AUGRC")
    with pytest.raises(DemurError, match=r"only one has AURC, Coverage@0\.2"):
        compare([good, evaluate([[2.0, 1.0]] * 80, _pools(), "P@1")])


def _pools() -> list[Pool]:
    return [Pool.of("?", ["a", "b"], [1 - int(loss), 0], str(n)) for n, loss in enumerate(draw(80, 0).loss)]


def test_two_that_are_equally_good_differ_as_rarely_as_p_says() -> None:
    low = 0
    for seed in range(200):
        base = draw(100, seed)
        noise = np.random.default_rng([seed, 2]).standard_normal((2, 100)) * 0.5
        pair = [Answers.of(base.confidence + each, base.loss) for each in noise]
        low += difference(AURC, *pair, resamples=199, seed=seed).p <= 0.05
    assert low <= 20  # 10 are expected


def test_one_candidate_is_an_answer_and_the_usual_label_is_1() -> None:
    pools = [Pool.of("q", ["a"], [1], id="1"), Pool.of("r", ["b"], [0], id="2")]
    report = evaluate([[1.0], [2.0]], pools, "Risk@1,Risk(rel=2)@1", confidences=[0.5, 0.9])
    assert report.answered is not None and report.answered.predicted.tolist() == [True, True]
    assert report.measures["Risk@1"].mean == 0.5 and report.measures["Risk(rel=2)@1"].mean == 1.0
    wrong = [report.answered.answers(*rel).loss.tolist() for rel in ((), (1,), (2,))]
    assert wrong[0] == wrong[1] != wrong[2]
