"""Each measure equals the mean over all orders that ties allow, enumerated one by one."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demur import registry
from demur.errors import DataError, UnknownName, UsageError
from demur.evaluation import (
    MAP,
    RR,
    Judged,
    Measure,
    P,
    Ranked,
    convention,
    measure,
    measured,
    nDCG,
    parse_measures,
)
from demur.evaluation.judged import HIGHEST
from demur.types import FloatArray, Pool

SPECS = [
    *("MAP", "MAP@1", "MAP@3", "MAP(rel=2)", "MAP(rel=2)@4", "RR", "RR@2", "RR(rel=2)"),
    *("P@1", "P@3", "P(rel=2)@10", "R@1", "R@3", "R(rel=2)@2", "Success@1", "Success@3", "Success(rel=3)@2"),
    *("nDCG", "nDCG@1", "nDCG@3", "nDCG(gain=exp)", "nDCG(gain=exp)@2", "nDCG(gain=exp, rel=2)@3"),
]


def by_hand(spec: str, ranked: Sequence[int], missed: Sequence[int] = ()) -> float:
    """A measure of one list without ties, straight from its definition."""
    wanted = measure(spec)
    k = wanted.at or len(ranked)
    rel, exponential = wanted.rel, "gain=exp" in spec
    hits = [label >= rel for label in ranked]
    positives = sum(hits) + sum(label >= rel for label in missed)
    if positives == 0:
        return math.nan
    if wanted.name == "MAP":
        return sum(sum(hits[: i + 1]) / (i + 1) for i, hit in enumerate(hits[:k]) if hit) / positives
    if wanted.name == "RR":
        return next((1 / (i + 1) for i, hit in enumerate(hits[:k]) if hit), 0.0)
    if wanted.name == "P":
        return sum(hits[:k]) / k
    if wanted.name == "R":
        return sum(hits[:k]) / positives
    if wanted.name == "Success":
        return float(any(hits[:k]))

    def discounted(labels: Sequence[int], k: int) -> float:
        gains = [(2**label - 1 if exponential else label) if label >= rel else 0 for label in labels[:k]]
        return sum(gain / math.log2(i + 2) for i, gain in enumerate(gains))

    best = sorted([*ranked, *missed], reverse=True)
    return discounted(ranked, k) / discounted(best, wanted.at or len(best))


def orders(scores: Sequence[float], labels: Sequence[int]) -> Iterator[tuple[tuple[int, ...], float]]:
    """Every order of labels that the ties allow, with its chance."""
    blocks = [
        Counter(
            itertools.permutations([label for s, label in zip(scores, labels, strict=True) if s == score])
        )
        for score in sorted(set(scores), reverse=True)
    ]
    for parts in itertools.product(*blocks):
        chance = math.prod(
            block[part] / math.factorial(len(part)) for block, part in zip(blocks, parts, strict=True)
        )
        yield tuple(itertools.chain(*parts)), chance


def expected(spec: str, scores: Sequence[float], labels: Sequence[int], missed: Sequence[int] = ()) -> float:
    return sum(chance * by_hand(spec, ranked, missed) for ranked, chance in orders(scores, labels))


def judge(pools: Sequence[tuple[Sequence[float], Sequence[int], Sequence[int]]]) -> Judged:
    """Pools of scores, labels, and labels of documents that were not retrieved."""
    run = {
        str(p): {f"d{i}": score for i, score in enumerate(scores)} for p, (scores, _, _) in enumerate(pools)
    }
    qrels = {
        str(p): {f"d{i}": label for i, label in enumerate(labels)}
        | {f"m{i}": x for i, x in enumerate(missed)}
        for p, (_, labels, missed) in enumerate(pools)
    }
    return Judged.of_run(run, qrels)


def check(pools: Sequence[tuple[Sequence[float], Sequence[int], Sequence[int]]]) -> None:
    found = measured(judge(pools), parse_measures(SPECS), convention("fixed"))
    for spec in SPECS:
        wanted = [expected(spec, *pool) for pool in pools]
        np.testing.assert_allclose(found[str(measure(spec))], wanted, rtol=0, atol=2e-14, err_msg=spec)


def test_every_tie_pattern_of_up_to_five_items_with_every_labelling() -> None:
    pools = []
    for n in range(1, 6):
        for cuts in itertools.product((0, 1), repeat=n - 1):
            scores = [float(-sum(cuts[:i])) for i in range(n)]
            pools += [(scores, labels, ()) for labels in itertools.product((0, 1), repeat=n)]
    assert len(pools) == 2 + 8 + 32 + 128 + 512
    check(pools)


@pytest.mark.parametrize("n", [6, 7])
def test_every_tie_pattern_of_six_and_seven_items(n: int) -> None:
    labels = [1, 0, 2, 0, 0, 3, 1][:n]
    cuts = itertools.product((0, 1), repeat=n - 1)
    check([([float(-sum(cut[:i])) for i in range(n)], labels, ()) for cut in cuts])


pools_with_ties = st.integers(1, 7).flatmap(
    lambda n: st.tuples(
        st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0]), min_size=n, max_size=n),
        st.lists(st.integers(0, 3), min_size=n, max_size=n),
        st.lists(st.integers(0, 3), max_size=2),
    )
)


@given(st.lists(pools_with_ties, min_size=1, max_size=3))
@settings(max_examples=60, deadline=None)
def test_graded_labels_and_documents_that_were_not_retrieved(
    pools: list[tuple[list[float], list[int], list[int]]],
) -> None:
    check(pools)


@given(pools_with_ties, st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_the_order_of_the_input_changes_nothing(
    pool: tuple[list[float], list[int], list[int]], random: object
) -> None:
    scores, labels, missed = pool
    order = list(range(len(scores)))
    random.shuffle(order)  # type: ignore[attr-defined]
    shuffled = ([scores[i] for i in order], [labels[i] for i in order], missed)
    wanted = parse_measures(SPECS)
    before = measured(judge([pool]), wanted, convention("fixed"))
    after = measured(judge([shuffled]), wanted, convention("fixed"))
    for name in before:
        np.testing.assert_allclose(before[name], after[name], rtol=0, atol=1e-15)


def test_a_constant_scorer_gains_nothing_from_its_ties() -> None:
    pool = Pool.of("q", [str(i) for i in range(100)], [1] + [0] * 99)
    judged = Judged.of_pools([pool], [np.zeros(100)])
    found = measured(judged, parse_measures("RR,MAP,P@1,Success@10"), convention("fixed"))
    assert found["RR"][0] == pytest.approx(sum(1 / i for i in range(1, 101)) / 100, rel=1e-13)
    assert found["MAP"][0] == pytest.approx(found["RR"][0], rel=1e-13)
    assert found["P@1"][0] == pytest.approx(0.01)
    assert found["Success@10"][0] == pytest.approx(0.1)
    assert measured(judged, [RR], convention("optimistic"))["RR"][0] == 1.0


def test_large_blocks_keep_their_digits() -> None:
    n, r, before, k = 3000, 40, 7, 25
    scores = [2.0] * before + [1.0] * n
    labels = [0] * before + [1] * r + [0] * (n - r)
    found = measured(
        judge([(scores, labels, ())]), parse_measures(f"RR,Success@{k},R@{k}"), convention("fixed")
    )
    ways = math.comb(n, r)
    rr = sum(Fraction(math.comb(n - j, r - 1), ways * (before + j)) for j in range(1, n - r + 2))
    none = Fraction(math.comb(n - r, k - before), math.comb(n, k - before))
    assert found["RR"][0] == pytest.approx(float(rr), rel=1e-10)
    assert found[f"Success@{k}"][0] == pytest.approx(float(1 - none), rel=1e-10)
    assert found[f"R@{k}"][0] == pytest.approx((k - before) / n, rel=1e-13)


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("MAP", "MAP"),
        ("AP", "MAP"),
        ("MRR", "RR"),
        (" P @1 ", "P@1"),
        ("nDCG(gain=exp)@10", "nDCG(gain=exp)@10"),
        ("nDCG( rel=2,gain='exp' )@10", "nDCG(gain=exp, rel=2)@10"),
        ("P(rel=1)@5", "P(rel=1)@5"),
        ("MAP@1000000", "MAP@1000000"),
    ],
)
def test_one_spelling_that_parses_back(text: str, spelled: str) -> None:
    found = measure(text)
    assert str(found) == repr(found) == spelled
    assert measure(spelled) == found
    assert hash(measure(spelled)) == hash(found)


def test_the_same_spelling_in_python() -> None:
    assert nDCG @ 10 == measure("nDCG@10")
    assert nDCG(gain="exp") @ 10 == measure("nDCG(gain=exp)@10")
    assert P(rel=2) @ 3 != P @ 3
    assert MAP != RR
    assert parse_measures("MAP, nDCG(gain=exp, rel=2)@3,AP") == (MAP, nDCG(gain="exp", rel=2) @ 3)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("P", "P needs a cut-off; write P@1 or P@10"),
        ("R(rel=2)", "needs a cut-off"),
        ("Success", "needs a cut-off"),
        ("P@0", "whole number above 0"),
        ("P@1.5", "whole number above 0"),
        ("P(rel=0)@1", "rel in P"),
        ("P(rel=high)@1", "rel in P"),
        ("nDCG(gain=log)@1", "linear or exp"),
        ("MAP(gain=exp)", "MAP has no setting 'gain'; it takes rel"),
        ("__import__('os')", "cannot read"),
        ("", "cannot read"),
    ],
)
def test_what_cannot_be_meant_is_one_clear_line(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says.replace("(", r"\(")) as caught:
        measure(text)
    assert "\n" not in str(caught.value)


def test_an_unknown_name_comes_with_a_hint() -> None:
    with pytest.raises(UnknownName, match="unknown measure 'NDCG'; did you mean 'nDCG'"):
        measure("NDCG@10")
    with pytest.raises(UnknownName, match="unknown measure 'map'; did you mean 'MAP'"):
        measure("map")
    with pytest.raises(UsageError, match="too high for nDCG with exponential gain"):
        measured(judge([([1.0], [60], ())]), [nDCG(gain="exp")], convention("fixed"))


def test_measures_do_not_need_to_be_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three steps: a function, a `Measure`, a line in the registry."""
    monkeypatch.setitem(registry.OURS["measure"], "Size", f"{__name__}:SIZE")
    monkeypatch.setitem(__import__("sys").modules, __name__, type("Room", (), {"SIZE": SIZE}))
    judged = judge([([1.0, 2.0], [1, 0], ()), ([1.0], [0], ())])
    found = measured(judged, parse_measures("Size@10"), convention("fixed"))
    np.testing.assert_array_equal(found["Size@10"], [2.0, np.nan])


def _size(ranked: Ranked, at: int | None, rel: int = 1) -> FloatArray:
    return np.diff(ranked.judged.bounds).astype(np.float64)


SIZE = Measure("Size", _size)


def test_the_smoothing_of_a_published_code_is_a_millionth() -> None:
    judged = Judged.of_pools([Pool.of("q", ["a", "b", "c"], [1, 0, 1])], [np.array([3.0, 2.0, 1.0])])
    found = measured(judged, [MAP], convention("nn4nqa"))["MAP"][0]
    assert found == pytest.approx((1 + 2 / 3) / (2 + 1e-6), abs=1e-12)


def test_a_query_that_the_run_lacks_is_skipped_or_counts_as_nothing() -> None:
    qrels = {"there": {"a": 1, "b": 0}, "lacking": {"a": 1}}
    run = {"there": {"a": 2.0, "b": 1.0}}
    judged = Judged.of_run(run, qrels)
    assert judged.absent.tolist() == [False, True]
    assert np.isnan(measured(judged, [MAP], convention("trec"))["MAP"]).tolist() == [False, True]
    assert measured(judged, [MAP], convention("fixed"))["MAP"].tolist() == [1.0, 0.0]
    kept = Judged.of_pools([Pool.of("q", ["a"], [1], id="q")], [np.zeros(1)])
    assert kept.absent.tolist() == [False]


def test_queries_of_a_run_without_judgements_are_counted_aloud(caplog: pytest.LogCaptureFixture) -> None:
    run, qrels = {"q": {"a": 1.0}, "r": {"a": 1.0}}, {"q": {"a": 1}}
    assert Judged.of_run({"q": run["q"]}, qrels).unjudged == 0 and not caplog.messages
    assert len(Judged.of_run(run, qrels).scores) == 1
    assert caplog.messages == ["1 query of the run has no judgements; left out"]


def test_labels_reach_to_the_largest_that_can_be_counted() -> None:
    pool = Pool.of("q", ["a", "b"], [HIGHEST, 0])
    judged = Judged.of_pools([pool], [np.array([2.0, 1.0])])
    assert measured(judged, [RR], convention("fixed"))["RR"][0] == 1.0
    with pytest.raises(DataError, match="a label is"):
        Judged.of_pools([Pool.of("q", ["a"], [HIGHEST + 1])], [np.zeros(1)])


def test_scores_are_numbers_and_not_texts_of_numbers() -> None:
    pool = Pool.of("q", ["a", "b"], [1, 0])
    for wrong in (["2.0", "1.0"], [None, 1.0], np.array(["2", "1"])):
        with pytest.raises(UsageError, match="are not numbers"):
            Judged.of_pools([pool], [wrong])
    mixed = np.array([2, 1], dtype=object)  # numbers all the same
    assert Judged.of_pools([pool], [mixed]).scores.tolist() == [2.0, 1.0]
