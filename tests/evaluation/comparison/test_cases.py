"""Two rankers side by side: who is right where, how surely, and which reports go together."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from demur.errors import UsageError
from demur.evaluation import Report, cases, evaluate, evaluate_run
from demur.types import Candidate, Pool

POOLS = [
    Pool.of("Who sold the mill?", ["The mill is old.", "Sold by Ada.", "Nothing."], [0, 1, 0], id)
    for id in ("a", "b", "c", "d")
]
ONE = [[0, 9, 1], [9, 0, 1], [0, 5, 1], [2, 1, 0]]
OTHER = [[8, 0, 1], [0, 9, 1], [2, 0, 1], [5, 0, 0]]


def reports(pools: list[Pool] = POOLS, one: object = ONE, other: object = OTHER) -> dict[str, Report]:
    return {
        name: evaluate(scores, pools, "P@1")  # type: ignore[arg-type]
        for name, scores in (("one", one), ("other", other))
    }


def test_who_is_right_where_the_surest_first() -> None:
    found = cases(reports(), POOLS)
    assert [[found.count(first, second) for second in (True, False)] for first in (True, False)] == [
        [0, 2],
        [1, 1],
    ]
    assert [case.id for case in found.won(0)] == ["a", "c"]
    assert [case.id for case in found.won(1)] == ["b"]
    assert found.won(0)[0].lead > found.won(0)[1].lead > 0
    assert sum(found.left_out.values()) == 0


def test_a_lead_does_not_depend_on_the_scale_of_scores() -> None:
    larger = [[100 * score + 3 for score in row] for row in ONE]
    leads = [[case.lead for case in cases(reports(one=each), POOLS).every] for each in (ONE, larger)]
    assert leads[0] == pytest.approx(leads[1])
    squares = [np.var(row, ddof=0) * 3 for row in ONE]
    spread = (sum(squares) / 8) ** 0.5
    assert cases(reports(), POOLS).every[0].choices[0].lead == pytest.approx(9 / spread)


def test_scores_whose_squares_are_no_numbers_have_no_lead() -> None:
    huge = [[1e300 * score for score in row] for row in ONE]
    found = cases(reports(one=huge), POOLS)
    assert [case.id for case in found.won(1)] == ["b"] and found.every[0].choices[0].lead == 0


def test_a_case_says_what_each_chose_and_which_words_it_shares() -> None:
    one, other = cases(reports(), POOLS).won(0)[0].choices
    assert (one.ranker, one.candidate.text, one.right, one.groups) == ("one", "Sold by Ada.", True, ())
    assert (other.ranker, other.candidate.text, other.right) == ("other", "The mill is old.", False)
    assert [span.text for span in one.shared] == ["Sold"]
    assert [span.text for span in other.shared] == ["mill"]
    assert other.groups == ("number_or_name_mismatch",)


def test_questions_that_say_nothing_are_counted_by_the_reason() -> None:
    more = [
        *POOLS,
        Pool.of("q", ["x", "y"], [0, 0], "none"),
        Pool.of("q", ["x", "y"], [1, 1], "all"),
        Pool.of("q", ["x", "y"], [1, 0], "tied"),
        Pool.of("q", ["x", "y", "z"], [1, 0, 0], "wrong anyway"),
        Pool.of("q", ["x", "y"], [None, None], "unjudged"),
    ]
    extra = [[1, 0], [1, 0], [1, 1], [0, 1, 1], [1, 0]]
    found = cases(reports(more, ONE + extra, OTHER + extra), more)
    assert found.left_out == {
        "no right answer": 2,
        "no wrong answer": 1,
        "not ranked by both": 0,
        "a tie between right and wrong": 1,
    }
    assert [case.id for case in found.every] == ["a", "b", "c", "d", "wrong anyway"]
    assert cases(reports(more, ONE + extra, OTHER + extra), [more[4], *more[6:7]]).every == ()


def test_right_is_what_the_pools_or_the_call_say() -> None:
    graded = [Pool.of("q", ["x", "y"], [1, 2], "g"), Pool.of("q", ["x", "y"], [0, 2], "h")]
    both = reports(graded, [[0, 1]] * 2, [[1, 0]] * 2)
    assert cases(both, graded).left_out["no wrong answer"] == 1
    assert len(cases(both, graded, 2).won(0)) == 2


def test_runs_are_compared_over_the_candidates_that_have_a_text() -> None:
    labels = {pool.id: {c.id: c.label or 0 for c in pool.candidates} for pool in POOLS}
    run = {"a": {"elsewhere": 9.0, "1": 5.0}, "b": {"0": 3.0}}
    with_run = {"run": evaluate_run(run, labels, "P@1"), "other": reports()["other"]}
    found = cases(with_run, POOLS)
    assert [case.id for case in found.every] == ["a", "b"]
    assert found.left_out["not ranked by both"] == 2
    assert found.every[0].choices[0].candidate.id == "1"


def test_reports_come_back_from_json_with_their_scores() -> None:
    many = [Pool.of("q", [f"t{n}" for n in range(150)], [int(n == 140) for n in range(150)], "many")]
    scores = [np.arange(150) / 7]
    report = evaluate(scores, many, "P@1")
    again = Report.from_json(json.loads(json.dumps(report.to_json())))
    assert len(again.scores) == 1 and len(again.scores[0]) == 100
    assert next(iter(again.scores[0].items())) == ("149", 149 / 7)
    other = evaluate([-scores[0]], many, "P@1")
    found = cases({"one": again, "other": other}, many)
    assert found.every[0].choices[0].candidate.id == "149"
    infinite = evaluate([[np.inf, -np.inf]], [Pool.of("q", ["x", "y"], [1, 0], "i")], "P@1")
    json.dumps(infinite.to_json(), allow_nan=False)


def test_reports_of_other_data_or_without_scores_are_refused() -> None:
    old = {name: replace(report, scores=()) for name, report in reports().items()}
    with pytest.raises(UsageError, match="the report one does not hold scores; evaluate it again"):
        cases(old, POOLS)
    changed = [replace(POOLS[0], candidates=(Candidate("0", "The mill is old.", 1),)), *POOLS[1:]]
    with pytest.raises(UsageError, match="1 question with other candidates or labels, such as 'a'"):
        cases(reports(), changed)
    with pytest.raises(UsageError, match="no question in common"):
        cases(reports(), [replace(pool, id=f"x{pool.id}") for pool in POOLS])
    with pytest.raises(UsageError, match="cases are of two rankers, not 1"):
        cases({"one": reports()["one"]}, POOLS)


def test_json_has_counts_groups_and_every_case() -> None:
    said = json.loads(json.dumps(cases(reports(), POOLS, data="toy").to_json(), allow_nan=False))
    assert said["rankers"] == ["one", "other"] and said["data"] == "toy" and said["questions"] == 4
    assert (said["both_right"], said["both_wrong"], said["only_right"]) == (0, 1, {"one": 2, "other": 1})
    assert said["errors"]["other"]["wrong"] == 3
    assert said["errors"]["other"]["number_or_name_mismatch"] == 3
    assert [case["id"] for case in said["cases"]] == ["a", "c", "b"]
    assert [case["id"] for case in said["both_wrong_cases"]] == ["d"]
    answer = said["cases"][0]["answers"][1]
    assert answer["text"] == "The mill is old." and answer["shared"] == [
        {"start": 4, "end": 8, "text": "mill"}
    ]


def test_a_tie_of_very_many_is_seen() -> None:
    texts, labels = [f"text {n}" for n in range(150)], [int(n == 120) for n in range(150)]
    found = cases(
        reports([Pool.of("Who?", texts, labels)], [[0.0] * 150], [[0.0] * 150]),
        [Pool.of("Who?", texts, labels)],
    )
    assert found.left_out["a tie between right and wrong"] == 1 and not found.every
