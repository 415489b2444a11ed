"""The batch function: columns or Arrow in, the same and what was found out; and exactly what rankers give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow
import pytest

from demur.errors import UsageError
from demur.scoring import Scorer, score_batch
from demur.types import Pool, Ranking, Span, Verdict
from scored import RANKER, made

POOLS = [*made(3), Pool("empty", "nobody answers", ())]
COLUMNS = {
    "question": [pool.question for pool in POOLS],
    "answers": [pool.answers for pool in POOLS],
    "mine": [1, 2, 3, 4],
}


@dataclass(frozen=True)
class Glimpse:
    score: float
    span: Span | None
    confidence: float


@dataclass(frozen=True)
class Least:
    """A gate that wants a score of at least this; of nothing it is not sure."""

    score: float

    def judge(self, ranking: Ranking) -> Verdict:
        if not len(ranking):
            return Verdict(float("-inf"), "nothing there")
        best = ranking.scores[0]
        return Verdict(best, "" if best >= self.score else f"only {ranking.candidates[0].text}")


def glimpses(pools: Any) -> list[list[Glimpse]]:
    return [
        [
            Glimpse(float(len(text)), Span(0, 3, text[:3]) if "ape" in text else None, 1 / (1 + n))
            for n, text in enumerate(pool.answers)
        ]
        for pool in pools
    ]


WANTED = RANKER.score_pools(POOLS)


def test_columns_come_back_with_scores_and_ranks() -> None:
    found = Scorer(RANKER)(COLUMNS)
    assert list(found) == ["question", "answers", "mine", "scores", "ranks"]
    assert found["mine"] is COLUMNS["mine"] and list(COLUMNS) == ["question", "answers", "mine"]
    assert [each.tolist() for each in found["scores"]] == [each.tolist() for each in WANTED]
    assert [each.tolist() for each in found["ranks"]] == [[1, 2, 3]] * 3 + [[]]


def test_ranks_are_those_of_rank() -> None:
    answers = ["cat", "ape", "cow", "ape w1", "ape"]
    found = Scorer(RANKER)({"question": ["ape w1"], "answers": [answers]})
    ranked = RANKER.rank("ape w1", answers)
    assert found["ranks"][0].tolist() == [4, 2, 5, 1, 3], "equal scores keep their order"
    assert [int(each.id) for each in ranked.candidates] == np.argsort(found["ranks"][0]).tolist()


@pytest.mark.parametrize("kind", ["table", "batch", "chunks"])
def test_arrow_comes_back_as_it_was(kind: str) -> None:
    table = pyarrow.table(COLUMNS).replace_schema_metadata({"made": "here"})
    if kind == "chunks":
        table = pyarrow.concat_tables([table.slice(0, 1), table.slice(1)])
    given = table.combine_chunks().to_batches()[0] if kind == "batch" else table
    scorer = Scorer(RANKER, glimpses, Least(0.3), one_pass=False)
    found = scorer(given)
    assert type(found) is type(given) and found.schema.metadata == {b"made": b"here"}
    assert found.select(["question", "answers", "mine"]).to_pylist() == given.to_pylist()
    plain = scorer(COLUMNS)
    rows = found.to_pylist()
    for row, scores, ranks, spans in zip(rows, plain["scores"], plain["ranks"], plain["spans"], strict=True):
        assert (row["scores"], row["ranks"], row["spans"]) == (scores.tolist(), ranks.tolist(), spans)
    assert [row["confidence"] for row in rows] == [*(float(each[0]) for each in WANTED[:3]), None]
    assert [row["refusal"] for row in rows] == plain["refusal"].tolist()
    assert scorer(found).to_pylist() == rows, "a second time replaces what the first has found"


def test_a_score_that_is_no_number_is_not_null_in_arrow() -> None:
    class Odd(type(RANKER)):  # type: ignore[misc]
        def score_pools(self, pools: Any) -> list[Any]:
            return [np.array([np.nan] * len(pool)) for pool in pools]

    table = pyarrow.table({"question": ["a"], "answers": [["b"]]})
    assert np.isnan(Scorer(Odd())(table)["scores"].to_pylist()[0][0])


def test_a_reader_quotes_and_a_gate_judges() -> None:
    found = Scorer(RANKER, glimpses, Least(0.3))(COLUMNS)
    assert found["spans"][0][1:] == [{"start": 0, "end": 3, "text": "ape"}, None]
    assert found["span_confidences"][0].tolist() == [1, 1 / 2, 1 / 3]
    assert [each.tolist() for each in found["scores"]] == [each.tolist() for each in WANTED]
    assert found["confidence"][:3].tolist() == [each[0] for each in WANTED[:3]]
    assert np.isnan(found["confidence"][3]) and found["refusal"][3] == "nothing there"
    refused = Scorer(RANKER, gate=Least(99))(COLUMNS)["refusal"]
    assert refused[:3].tolist() == [f"only {pool.answers[0]}" for pool in POOLS[:3]], "it judges the best"
    assert Scorer(RANKER, gate=Least(0))(COLUMNS)["refusal"][:3].tolist() == ["", "", ""]


def test_one_pass_takes_the_scores_of_the_look() -> None:
    found = Scorer(RANKER, glimpses, one_pass=True)(COLUMNS)
    assert found["scores"][0].tolist() == [len(text) for text in POOLS[0].answers]


def test_pools_get_the_same_as_columns() -> None:
    scorer = Scorer(RANKER, glimpses, Least(0.3))
    columns, pools = scorer(COLUMNS), scorer.pools(POOLS)
    assert [pool.id for pool in pools] == ["q0", "q1", "q2", "empty"]
    for place, pool in enumerate(pools):
        assert pool.labels == POOLS[place].labels
        assert [one.extra["score"] for one in pool.candidates] == columns["scores"][place].tolist()
        assert [one.extra["span"] for one in pool.candidates] == columns["spans"][place]
        sure = [one.extra["span_confidence"] for one in pool.candidates]
        assert sure == columns["span_confidences"][place].tolist()
        assert pool.extra["refusal"] == columns["refusal"][place]
    assert pools[3].extra["confidence"] is None, "JSON has no minus infinity"
    assert Scorer(RANKER).pools(POOLS) == score_batch(RANKER, POOLS)
    assert all(pool.extra == {} for pool in Scorer(RANKER).pools(POOLS))


def test_rankers_see_the_pools_as_they_are() -> None:
    seen: list[Any] = []

    class Sees(type(RANKER)):  # type: ignore[misc]
        def score_pools(self, pools: Any) -> list[Any]:
            seen.extend(pools)
            return RANKER.score_pools(pools)

    Scorer(Sees()).pools(POOLS)
    assert seen == POOLS


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        ({"query": ["a"], "answers": [["b"]]}, "no column 'question' .its columns: 'query', 'answers'."),
        ({"question": ["a"]}, "no column 'answers'"),
        ({"question": ["a", "b"], "answers": [["b"]]}, "2 questions but 1 lists of answers"),
        ({"question": ["a", None], "answers": [["b"], []]}, "row 2 of the batch: the question is NoneType"),
        ({"question": ["a"], "answers": [["b", 3]]}, "row 1 of the batch: answer 2 is int, not text"),
        ({"question": ["a"], "answers": ["b"]}, "row 1 .*answers are str, not a list of texts; write"),
        ({"question": ["a"], "answers": [None]}, "row 1 .*answers are NoneType"),
        (pyarrow.table({"query": ["a"]}), "no column 'question' .its columns: 'query'."),
        (pyarrow.table({"question": ["a"], "answers": [["b", None]]}), "answer 2 is NoneType"),
    ],
)
def test_a_bad_batch_is_one_line(batch: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        Scorer(RANKER)(batch)
    assert "\n" not in str(caught.value)


def test_arrays_of_numpy_and_pandas_will_do() -> None:
    answers = np.empty(1, object)
    answers[0] = np.array(["w0 ape bee", "ape", "cat 0"])
    found = Scorer(RANKER)({"question": np.array(["ape w0"]), "answers": answers})
    assert found["scores"][0].tolist() == WANTED[0].tolist()
