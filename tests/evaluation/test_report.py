from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from demur.errors import DataError, DemurError
from demur.evaluation import MAP, Report, evaluate, evaluate_run, nDCG
from demur.rankers import Ranker
from demur.types import Candidate, FloatArray, Pool


class Longest(Ranker):
    """Scores by length, and remembers how many pools it was prepared with."""

    name = "longest"
    prepared = 0
    batches: tuple[int, ...] = ()

    def score_pools(self, pools: Sequence[Pool]) -> list[FloatArray]:
        self.batches += (len(pools),)
        return [np.array([len(answer) for answer in pool.answers], float) for pool in pools]

    def prepare(self, pools: object) -> Longest:
        self.prepared = len(list(pools))  # type: ignore[call-overload]
        return self

    @property
    def spec(self) -> str:
        return "longest"


POOLS = [
    Pool.of("?", ["a", "bb", "ccc"], [0, 0, 1], "one"),
    Pool.of("?", ["a", "bb"], [2, 0], "two"),
    Pool.of("?", ["a", "bb"], [0, 0], "none"),
    Pool.of("?", ["a", "bb"], [None, 1], "half"),
    Pool.of("?", ["a"], [None], "unjudged"),
]


def test_a_ranker_is_prepared_then_scored_in_batches() -> None:
    ranker = Longest()
    report = evaluate(ranker, iter(POOLS), "MAP,P@1", data="toy")
    assert ranker.prepared == len(POOLS)
    assert ranker.batches == (len(POOLS),)
    assert (report.ranker, report.data, report.convention) == ("longest", "toy", "fixed")
    assert (report.pools, report.skipped) == (3, 2)
    assert report.per_pool == {
        "one": {"MAP": 1.0, "P@1": 1.0},
        "two": {"MAP": 0.5, "P@1": 0.0},
        "half": {"MAP": 1.0, "P@1": 1.0},
    }
    assert report.measures["MAP"].mean == pytest.approx(2.5 / 3)


def test_scores_and_names_do_as_well() -> None:
    scores = [Longest().score(pool.question, pool.answers) for pool in POOLS]
    assert evaluate(scores, POOLS, [MAP]).per_pool == evaluate("length", POOLS, "MAP").per_pool
    assert list(evaluate(scores, POOLS).measures) == ["MAP", "RR", "P@1", "nDCG@10"]


def test_pools_of_no_label_count_nowhere_and_empty_ones_as_without_a_positive() -> None:
    pools = [*POOLS, Pool("empty", "?", ())]
    report = evaluate(Longest(), pools, "MAP", no_positive="zero")
    assert (report.pools, report.skipped) == (5, 1)
    assert report.per_pool["empty"] == report.per_pool["none"] == {"MAP": 0.0}
    assert "unjudged" not in report.per_pool


def test_json_has_the_promised_keys_and_comes_back_equal(tmp_path: Path) -> None:
    report = evaluate(Longest(), POOLS, "MAP,P@1,nDCG(gain=exp)@2", "scan", seed=5)
    value = json.loads(json.dumps(report.to_json(), allow_nan=False))
    assert {"measures", "convention", "pools", "skipped", "per_pool"} <= set(value)
    assert set(value["measures"]["MAP"]) == {"mean", "low", "high"}
    assert value["per_pool"]["none"] == {"MAP": None, "P@1": 0.0, "nDCG(gain=exp)@2": 0.0}
    assert Report.from_json(value).to_json() == report.to_json()
    report.write(tmp_path / "r.json.gz")
    assert Report.read(tmp_path / "r.json.gz").to_json() == report.to_json()


def test_the_same_seed_gives_the_same_report() -> None:
    rng = np.random.default_rng(0)
    pools = [Pool.of("?", ["a", "b", "c"], [0, 1, 0], str(n)) for n in range(40)]
    scores = rng.random((40, 3))
    one, again, other = (evaluate(scores, pools, "MAP", seed=seed) for seed in (1, 1, 2))
    assert one.measures == again.measures
    assert one.measures["MAP"].mean == other.measures["MAP"].mean
    assert one.measures != other.measures
    alone = evaluate(scores, pools, "RR,MAP", seed=1).measures["MAP"]
    assert alone == one.measures["MAP"]
    assert evaluate(scores, pools, "MAP", confidence=0.5).measures["MAP"].low > one.measures["MAP"].low


def test_labels_have_one_hash_from_pools_or_qrels() -> None:
    pools = [pool for pool in POOLS if pool.id != "unjudged"]
    qrels = {p.id: {c.id: c.label for c in p.candidates if c.label is not None} for p in reversed(pools)}
    run = {p.id: {c.id: float(len(c.text)) for c in p.candidates} for p in pools}
    report, other = evaluate(Longest(), pools, "MAP"), evaluate_run(run, qrels, "MAP")
    hashes, others = (dict(zip(each.ids, each.labels, strict=True)) for each in (report, other))
    assert hashes == others
    assert len(set(hashes.values())) == len(report.ids) == 3
    assert report.per_pool == {name: other.per_pool[name] for name in report.per_pool}
    relabelled = [*pools[:-1], Pool.of("?", ["a", "bb"], [None, 2], "half")]
    changed = evaluate(Longest(), relabelled, "MAP").labels
    assert [a == b for a, b in zip(changed, report.labels, strict=True)] == [True, True, False]
    fewer = [Pool("one", "?", pools[0].candidates[1:]), *pools[1:]]
    changed = evaluate(Longest(), fewer, "MAP").labels
    assert [a == b for a, b in zip(changed, report.labels, strict=True)] == [False, True, True]


def test_a_report_of_an_earlier_version_says_nothing_of_what_was_judged() -> None:
    value = evaluate(Longest(), POOLS, "MAP").to_json()
    assert Report.from_json({**value, "labels": "0123456789abcdef"}).labels == ()
    del value["labels"]
    assert Report.from_json(value).labels == ()
    with pytest.raises(DataError, match="no 'two'"):
        Report.from_json({**value, "labels": {"one": "aa"}})


def refused(says: str, *arguments: object, **more: object) -> None:
    with pytest.raises(DemurError, match=says) as caught:
        evaluate(*arguments, **more)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_what_cannot_be_measured_is_one_clear_line() -> None:
    one = POOLS[:1]
    refused(r"candidate '1' in pool 'one' is not a number \(NaN\)", [[1.0, math.nan, 0.0]], one)
    refused("pool 'one' has 3 candidates but 2 scores; give one score for each", [[1.0, 2.0]], one)
    refused(r"scores of shape \(1, 3\)", [[[1.0, 2.0, 3.0]]], one)
    refused("scores of pool 'one' are not numbers", [["x", "y", "z"]], one)
    refused("no scores for pool 'two' and after", [[1.0, 2.0, 3.0]], POOLS[:2])
    refused("scores of pool 'one' are not numbers", [[1.0, None, 0.0]], one)
    refused("scores of pool 'one' are not numbers", [["1.5", "2", "3"]], one)
    refused("scores of pool 'one' are not numbers", [[10**400, 2, 3]], one)
    refused("more arrays of scores than the 1 pool", [[1.0, 2.0, 3.0]] * 2, one)
    refused("toy: two pools have the id 'one'", [[1.0, 2.0, 3.0]] * 2, one * 2, data="toy")
    refused("toy: no candidate has a label", [[1.0]], POOLS[4:], data="toy")
    refused("toy: no pool counts for MAP", [[1.0, 2.0]], POOLS[2:3], "MAP", data="toy")
    refused("toy: the score of candidate '1'", [[1.0, math.nan, 0.0]], one, data="toy")
    for extreme in (2**40, -(2**80)):
        pool = [Pool.of("?", ["a", "b"], [1, extreme])]
        refused(f"toy: a label is {extreme}, beyond", [[1.0, 2.0]], pool, data="toy")
    for odd in (0.5, "1"):
        pool = [Pool("q", "?", (Candidate("a", "a", odd), Candidate("b", "b", 0)))]  # type: ignore[arg-type]
        refused(f"toy: a label is {odd!r}, not a whole number", [[1.0, 2.0]], pool, data="toy")
    refused("pools are a list of demur.Pool, not str; read .* with demur.load", "bm25", "a.jsonl")
    refused("pools are a list of demur.Pool, not Pool", "bm25", POOLS[0])
    refused("pools are a list of demur.Pool, not NoneType", "bm25", None)
    refused("MAP asks for no confidence; leave out qualifier", "bm25", POOLS, "MAP", qualifier="margin")
    refused("the seed is -1; it must be a whole number from 0", [[1.0, 2.0, 3.0]], one, seed=-1)
    refused("must be a whole number above 0 and at most", Longest(), POOLS, f"P@{10**20}")
    refused("no candidate has a label", [[1.0]], POOLS[4:])
    refused("the data have no pools", [], [])
    refused("no pool counts for MAP under fixed: none has a positive", [[1.0, 2.0]], POOLS[2:3], "MAP")
    refused(r"no pool counts for MAP\(rel=3\)", Longest(), POOLS, "P@1,MAP(rel=3)")
    refused("unknown ranker 'bm52'", "bm52", POOLS)
    refused("no measure is named", Longest(), POOLS, [])


def test_infinite_scores_have_ranks() -> None:
    pool = [Pool.of("?", ["a", "b", "c"], [0, 1, 0])]
    assert evaluate([[-math.inf, math.inf, 0.0]], pool, "RR").measures["RR"].mean == 1.0
    assert evaluate([[math.inf, math.inf, -math.inf]], pool, "RR").measures["RR"].mean == 0.75


def test_a_run_that_does_not_belong_to_the_qrels_is_refused() -> None:
    with pytest.raises(DataError, match="none of the run's 1 queries is among the 2 judged ones"):
        evaluate_run({"x": {"d": 1.0}}, {"a": {"d": 1}, "b": {"d": 1}})
    with pytest.raises(DemurError, match="candidate 'd' in pool 'b' is not a number"):
        evaluate_run({"a": {}, "b": {"d": math.nan}}, {"a": {"d": 1}, "b": {"d": 1}})
    with pytest.raises(DataError, match="no query is judged"):
        evaluate_run({"x": {"d": 1.0}}, {})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", r"bad.json:1: not JSON"),
        ("[]", r"not a report of an evaluation \(no JSON object\)"),
        ("{}", "no 'measures'"),
        ('{"measures": {"MAP": {"mean": 1}}}', "not a report of an evaluation"),
        ('{"measures": {}, "convention": "fixed", "skipped": 0}', "no 'per_pool'"),
        ('{"measures": {}, "per_pool": {}, "convention": "a\\nb", "skipped": 0}', r"'a\\nb' is no name"),
    ],
)
def test_a_file_that_is_no_report_is_named(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text, "utf-8")
    with pytest.raises(DataError, match=says) as caught:
        Report.read(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_label_that_is_named_counts_whatever_the_data_say() -> None:
    assert str(MAP.from_label(2)) == "MAP(rel=2)" and MAP.from_label(1) == MAP
    assert MAP(rel=1).from_label(3) == MAP(rel=1) and nDCG.from_label(3) == nDCG


def test_negative_labels_are_not_relevant() -> None:
    pool = [Pool("q", "?", (Candidate("a", "", -1), Candidate("b", "", 2)))]
    found = evaluate([[2.0, 1.0]], pool, "MAP,nDCG,nDCG(gain=exp)")
    wanted = {"MAP": 0.5, "nDCG": 1 / math.log2(3), "nDCG(gain=exp)": 1 / math.log2(3)}
    assert found.per_pool["q"] == pytest.approx(wanted)


def test_a_score_that_is_no_number_is_blamed_on_its_own_pool() -> None:
    both = [Pool.of("?", ["a", "b"], [1, 0], id="first"), Pool.of("?", ["a", "b"], [1, 0], id="second")]
    with pytest.raises(DataError, match="in pool 'second' is not a number"):
        evaluate([[1.0, 2.0], [float("nan"), 1.0]], both, "MAP")


def test_a_report_with_a_value_beyond_all_measures_is_refused() -> None:
    from demur.data import pools

    value = evaluate("length", pools("example/questions"), "MAP").to_json()
    next(iter(value["per_pool"].values()))["MAP"] = 1e308
    with pytest.raises(DataError, match="larger than any measure"):
        Report.from_json(value)


def test_a_report_holds_the_first_candidates_and_all_that_are_as_high_as_the_first() -> None:
    texts, labels = [str(n) for n in range(150)], [1, *[0] * 149]
    pools = [Pool.of("q", texts, labels, id=each) for each in ("ties", "apart")] + [Pool("none", "q", ())]
    tied = [1.0] * 120 + [0.5] * 30
    report = evaluate([tied, list(map(float, range(150))), []], pools, "MAP")
    kept = [len(scores) for scores in report.scores]
    assert kept == [120, 100, 0][: len(kept)] and len(kept) == report.pools
    assert max(report.scores[1].values()) == 149.0 and min(report.scores[1].values()) == 50.0
