"""The same numbers as ir_measures, and its trec_eval: without ties, and under `trec` with them."""

from __future__ import annotations

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demur.evaluation import evaluate_run

Run = dict[str, dict[str, float]]
Qrels = dict[str, dict[str, int]]

NAMES = {
    "MAP": "AP",
    "MAP@5": "AP@5",
    "MAP(rel=2)": "AP(rel=2)",
    "RR": "RR",
    "P@1": "P@1",
    "P@5": "P@5",
    "P(rel=2)@5": "P(rel=2)@5",
    "R@5": "R@5",
    "Success@5": "Success@5",
    "nDCG": "nDCG",
    "nDCG@5": "nDCG@5",
}


def theirs(run: Run, qrels: Qrels) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    wanted = {ir_measures.parse_measure(name): ours for ours, name in NAMES.items()}
    for metric in ir_measures.iter_calc(list(wanted), qrels, run):
        found.setdefault(metric.query_id, {})[wanted[metric.measure]] = metric.value
    return found


def agree(run: Run, qrels: Qrels, convention: str) -> int:
    ours = evaluate_run(run, qrels, NAMES, convention, "zero").per_pool
    reference = theirs(run, qrels)
    for query, values in ours.items():
        assert values == pytest.approx(reference[query], abs=1e-12), query
    return len(ours)


def test_the_same_without_ties() -> None:
    rng = np.random.default_rng(3)
    run: Run = {}
    qrels: Qrels = {}
    for query in map(str, range(60)):
        documents = [f"d{i}" for i in rng.permutation(40)]
        run[query] = {
            d: float(s) for d, s in zip(documents[: rng.integers(1, 30)], rng.random(40), strict=False)
        }
        qrels[query] = {d: int(rng.integers(0, 4)) for d in rng.permutation(documents)[: rng.integers(1, 25)]}
    assert agree(run, qrels, "fixed") == 60
    assert agree(run, qrels, "trec") == 60


ids = st.sampled_from(["a", "b", "B", "10", "9", "é", "zz", "z", "", "𝛼"])
runs = st.dictionaries(ids, st.sampled_from([0.0, 0.5, 0.1, 0.1 + 1e-9, -2.0]), min_size=1)
judgements = st.dictionaries(ids, st.integers(0, 3), min_size=1)


@given(st.dictionaries(st.sampled_from("xyz"), st.tuples(runs, judgements), min_size=1))
@settings(max_examples=150, deadline=None)
def test_the_same_under_trec_with_ties(queries: dict[str, tuple[dict[str, float], dict[str, int]]]) -> None:
    run = {query: scores for query, (scores, _) in queries.items()}
    agree(run, {query: labels for query, (_, labels) in queries.items()}, "trec")


def test_queries_that_only_one_side_has() -> None:
    """trec_eval, without -c, averages over the queries that run and qrels share, empty ones as 0."""
    run = {"a": {"d": 1.0}, "empty": {"d": 1.0}, "foreign": {"d": 1.0}}
    qrels = {"a": {"d": 1}, "empty": {"d": 0}, "missing": {"d": 1}, "unjudged": {}}
    trec = evaluate_run(run, qrels, ["MAP"], "trec")
    assert trec.per_pool == {"a": {"MAP": 1.0}, "empty": {"MAP": 0.0}}
    assert (trec.measures["MAP"].mean, trec.pools, trec.skipped) == (0.5, 2, 2)
    fixed = evaluate_run(run, qrels, ["MAP"])
    assert fixed.per_pool == {"a": {"MAP": 1.0}, "missing": {"MAP": 0.0}}
    assert (fixed.measures["MAP"].mean, fixed.pools, fixed.skipped) == (0.5, 2, 2)
    assert theirs(run, qrels)["missing"]["MAP"] == 0.0  # ir_measures counts it, as trec_eval -c does


def test_retrieved_documents_without_a_judgement_stand_in_the_ranking() -> None:
    run = {"q": {"unknown": 3.0, "good": 2.0, "bad": 1.0}}
    qrels = {"q": {"good": 1, "bad": 0, "missed": 1}}
    found = evaluate_run(run, qrels, ["MAP", "RR", "P@1", "R@3", "nDCG"])
    ideal = 1 + 1 / np.log2(3)
    wanted = {"MAP": 0.25, "RR": 0.5, "P@1": 0.0, "R@3": 0.5, "nDCG": 1 / np.log2(3) / ideal}
    assert found.per_pool["q"] == pytest.approx(wanted)
