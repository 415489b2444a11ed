"""Each convention gives what the published code gives, ties and empty pools included."""

from __future__ import annotations

import csv
import gzip
import math
import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demur.errors import UnknownName, UsageError
from demur.evaluation import CONVENTIONS, Report, Rules, convention, evaluate
from demur.types import Pool

Scored = list[tuple[float, int]]
"""A pool as the published codes see it: pairs of score and label, in the order of the file."""

pools_of_pairs = st.lists(
    st.lists(st.tuples(st.sampled_from([0.0, 0.25, 1.0, 3.0]), st.integers(0, 1)), min_size=1, max_size=14),
    min_size=1,
    max_size=6,
)


def stable(pool: Scored) -> list[int]:
    return [label for _, label in sorted(pool, key=lambda pair: pair[0], reverse=True)]


def precisions(labels: Sequence[int]) -> list[float]:
    return [sum(labels[: i + 1]) / (i + 1) for i, label in enumerate(labels) if label]


def first(labels: Sequence[int]) -> float:
    return next((1 / (i + 1) for i, label in enumerate(labels) if label), 0.0)


def mean(values: Iterable[float]) -> float:
    values = list(values)
    return sum(values) / len(values) if values else math.nan


def semeval10(pools: list[Scored]) -> dict[str, float]:
    tops = [stable(pool)[:10] for pool in pools]
    return {
        "MAP": mean(mean(precisions(top)) if any(top) else 0.0 for top in tops),
        "RR": mean(map(first, tops)),
        "P@1": mean(top[0] for top in tops),
    }


def scan(pools: list[Scored]) -> dict[str, float]:
    ranked = [stable(pool) for pool in pools]
    answered = [labels for labels in ranked if any(labels)]
    return {
        "MAP": mean(mean(precisions(labels)) for labels in answered),
        "RR": mean(map(first, answered)),
        "P@1": mean(labels[0] for labels in ranked),
        "P@3": mean(sum(labels[:3]) / 3 for labels in ranked),
    }


def nn4nqa(pools: list[Scored]) -> dict[str, float]:
    ranked = [[label for _, label in sorted(pool, reverse=True)] for pool in pools]
    return {
        "MAP": mean(sum(precisions(labels)) / (sum(labels) + 1e-6) for labels in ranked),
        "RR": mean(map(first, ranked)),
        "P@1": mean(labels[0] for labels in ranked),
    }


def matchzoo(pools: list[Scored]) -> dict[str, float]:
    ranked = [stable(pool) for pool in pools]

    def gain(labels: Sequence[int]) -> float:
        return sum((2.0**label - 1) / math.log(i + 2) for i, label in enumerate(labels[:3]))

    return {
        "MAP": mean(mean(precisions(labels)) if any(labels) else 0.0 for labels in ranked),
        "MAP@2": mean(sum(precisions(labels[:2])) / max(sum(labels), 1) for labels in ranked),
        "RR": mean(map(first, ranked)),
        "P@3": mean(sum(labels[:3]) / 3 for labels in ranked),
        "nDCG@3": mean(
            gain(labels) / gain(sorted(labels, reverse=True)) if any(labels) else 0.0 for labels in ranked
        ),
    }


def report(pools: list[Scored], measures: Iterable[str], name: str, no_positive: str | None = None) -> Report:
    made = [
        Pool.of("q", [str(i) for i in range(len(pool))], [label for _, label in pool], str(n))
        for n, pool in enumerate(pools)
    ]
    return evaluate([[score for score, _ in pool] for pool in pools], made, measures, name, no_positive)


@pytest.mark.parametrize("code", [semeval10, scan, nn4nqa, matchzoo])
@given(pools=pools_of_pairs)
@settings(max_examples=40, deadline=None)
def test_conventions_are_what_the_codes_do(
    code: Callable[[list[Scored]], dict[str, float]], pools: list[Scored]
) -> None:
    pools = [*pools, [(0.5, 0), (0.5, 1), (0.5, 1)], [(1.0, 0)]]
    wanted = code(pools)
    found = report(pools, wanted, code.__name__)
    for name, value in wanted.items():
        assert found.measures[name].mean == pytest.approx(value, abs=1e-12), name


def test_graded_gains_of_matchzoo_are_exponential_unless_the_measure_says() -> None:
    pools = [[(3.0, 1), (2.0, 2), (1.0, 3)]]
    exponential = (1 + 3 / math.log2(3) + 7 / 2) / (7 + 3 / math.log2(3) + 1 / 2)
    linear = (1 + 2 / math.log2(3) + 3 / 2) / (3 + 2 / math.log2(3) + 1 / 2)
    found = report(pools, ["nDCG", "nDCG(gain=linear)"], "matchzoo")
    assert found.measures["nDCG"].mean == pytest.approx(exponential, abs=1e-14)
    assert found.measures["nDCG(gain=linear)"].mean == pytest.approx(linear, abs=1e-14)
    assert report(pools, ["nDCG"], "fixed").measures["nDCG"].mean == pytest.approx(linear, abs=1e-14)


def test_scan_averages_ties_in_ndcg_only() -> None:
    pools = [[(1.0, 0), (1.0, 1)], [(1.0, 0)]]
    found = report(pools, ["nDCG@1", "RR"], "scan")
    assert found.per_pool == {"0": {"nDCG@1": 0.5, "RR": 0.5}, "1": {"nDCG@1": 0.0, "RR": None}}


def test_what_a_pool_without_a_positive_does() -> None:
    pools = [[(1.0, 1)], [(1.0, 0)], [(1.0, 0), (0.0, 1)], [(2.0, 0), (1.0, 0)]]
    skipping = report(pools, ["MAP", "P@1"], "fixed")
    assert (skipping.pools, skipping.skipped, skipping.measures["MAP"].mean) == (2, 2, 0.75)
    assert list(skipping.per_pool) == ["0", "2"]
    counting = report(pools, ["MAP", "P@1"], "fixed", "zero")
    assert (counting.pools, counting.skipped, counting.measures["MAP"].mean) == (4, 0, 0.375)
    assert counting.convention == "fixed(no_positive=zero)"
    assert report(pools, ["MAP"], counting.convention).measures == {"MAP": counting.measures["MAP"]}
    mixed = report(pools, ["MAP", "P@1"], "scan")
    assert (mixed.pools, mixed.skipped, mixed.counted) == (4, 0, {"MAP": 2, "P@1": 4})
    assert (mixed.measures["MAP"].mean, mixed.measures["P@1"].mean) == (0.75, 0.25)
    assert mixed.per_pool["1"] == {"MAP": None, "P@1": 0.0}
    assert report(pools, ["P@1"], "scan", "skip").measures["P@1"].mean == 0.5


def test_names_say_what_was_changed_and_only_that() -> None:
    assert convention("fixed", "skip").name == "fixed"
    assert convention("scan", "skip").name == "scan(no_positive=skip)"
    assert convention("scan(no_positive=zero)").rules_for("MAP").no_positive == "zero"
    for name, one in CONVENTIONS.items():
        assert name == one.name == convention(name).name
    with pytest.raises(UnknownName, match="unknown convention 'semeval'; did you mean 'semeval10'"):
        convention("semeval")
    with pytest.raises(UsageError, match="write skip or zero"):
        convention("fixed", "drop")
    with pytest.raises(UsageError, match="its only setting is no_positive"):
        convention("fixed(ties=input)")
    with pytest.raises(UsageError, match="needs settled ties"):
        Rules(map_over="found")
    with pytest.raises(UsageError, match="must be one of expected, input"):
        Rules(ties="coin")


def data(*parts: str) -> Path:
    return Path(os.environ["DEMUR_DATA"], *parts)


@pytest.mark.data
def test_semeval10_on_the_official_scorers_own_files() -> None:
    files = ("scorer-dev-subtaskA.relevancy.gz", "scorer-dev-subtaskA.pred.gz")
    pools: list[dict[str, Scored]] = [{}, {}]
    for scored, file in zip(pools, files, strict=True):
        with (
            gzip.open(data("semeval2016", files[0]), "rt") as gold,
            gzip.open(data("semeval2016", file), "rt") as given,
        ):
            for truth, line in zip(gold, given, strict=True):
                question, _, _, score, _ = line.split()
                scored.setdefault(question, []).append((float(score), int(truth.split()[4] == "true")))
    order, system = (report(list(scored.values()), ["MAP", "RR", "P@1"], "semeval10") for scored in pools)
    assert order.pools == system.pools == 244
    assert f"{order.measures['MAP'].mean:.4f} {system.measures['MAP'].mean:.4f}" == "0.5384 0.4556"
    assert f"{100 * order.measures['RR'].mean:.2f} {100 * system.measures['RR'].mean:.2f}" == "63.13 53.50"


def overlap(rows: Iterable[tuple[str, str, str, int]]) -> list[Scored]:
    """Pools scored by how many different words question and answer share."""
    pools: dict[str, Scored] = {}
    for id, question, answer, label in rows:
        shared = set(re.findall(r"\w+", question.lower())) & set(re.findall(r"\w+", answer.lower()))
        pools.setdefault(id, []).append((len(shared), label))
    return list(pools.values())


@pytest.mark.data
def test_what_ties_can_make_of_word_overlap_on_wikiqa() -> None:
    with gzip.open(data("wikiqa", "WikiQA-test.tsv.gz"), "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]
    pools = overlap((row[0], row[1], row[5], int(row[6])) for row in rows)
    clean = [pool for pool in pools if len({label for _, label in pool}) == 2]
    assert len(clean) == 237
    found = {name: report(clean, ["MAP"], name).measures["MAP"].mean for name in CONVENTIONS}
    assert {name: f"{found[name]:.3f}" for name in ("scan", "optimistic", "pessimistic")} == {
        "scan": "0.680",
        "optimistic": "0.756",
        "pessimistic": "0.507",
    }
    assert found["pessimistic"] < found["fixed"] < found["optimistic"]
    assert f"{found['fixed']:.3f}" == "0.607"


@pytest.mark.data
def test_what_cut_offs_and_denominators_make_of_word_overlap_on_antique() -> None:
    with gzip.open(data("antique", "scan-test.tsv.gz"), "rt", encoding="utf-8", newline="\n") as file:
        rows = [line.rstrip("\r\n").split("\t") for line in file]
    pools = overlap((row[0], row[0], row[1], int(row[2])) for row in rows)
    assert len(pools) == 200
    full = report(pools, ["MAP", "MAP@10"], "scan").measures
    found = report(pools, ["MAP"], "semeval10").measures["MAP"].mean
    assert f"{full['MAP'].mean:.3f} {found:.3f} {full['MAP@10'].mean:.3f}" == "0.498 0.598 0.247"


def test_scores_compare_as_short_floats_under_trec_only() -> None:
    pools = [[(1.00000001, 1), (1.0, 0)]]  # as 32-bit floats a tie, which the later id wins
    assert report(pools, ["RR"], "trec").measures["RR"].mean == 0.5
    assert report(pools, ["RR"], "fixed").measures["RR"].mean == 1.0
    huge = [[(1e300, 0), (2e300, 1)]]
    assert report(huge, ["RR"], "trec").measures["RR"].mean == 1.0  # both infinite, and "1" comes first
