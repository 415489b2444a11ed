"""The words of demur: what they take, and what they share."""

from __future__ import annotations

import copy
import json
import operator
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import demur
from demur.errors import UsageError
from demur.types import Candidate, Pool


def test_what_is_written_into_one_extra_is_in_no_other() -> None:
    made: Any = Pool.of("q", ["x"])
    for write in (
        lambda extra: operator.setitem(extra, "score", 9.0),
        lambda extra: extra.update(score=9.0),
        lambda extra: extra.setdefault("score", 9.0),
    ):
        for one in (made, made.candidates[0]):
            with pytest.raises(UsageError, match="shared; make the object with an extra of its own"):
                write(one.extra)
    assert not Candidate("1", "t").extra and json.dumps(made.extra) == "{}"
    assert pickle.loads(pickle.dumps(made)) == copy.deepcopy(made) == made
    own: Any = replace(made, extra={"score": 9.0})
    own.extra["score"] = 1.0
    assert own.extra == {"score": 1.0} and not made.extra


def test_a_pool_is_made_of_any_list_and_of_whole_labels() -> None:
    made = Pool.of("q", (each for each in "ab"), iter([np.int64(2), None]))  # type: ignore[arg-type]
    assert made.answers == ["a", "b"] and made.labels == [2, None] and type(made.labels[0]) is int
    assert Pool.of("q", ["a"], [True]).labels == [1]
    for labels, said in (
        ([0.5, 0], "a label is '0.5', not a whole number; write 1 for right"),
        (["1", 0], "a label is '1', not a whole number"),
        ([float("nan"), 0], "a label is 'nan', not a whole number"),
        ([1], "2 answers but 1 labels"),
    ):
        with pytest.raises(UsageError, match=said):
            Pool.of("q", ["a", "b"], labels)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("question", "answers", "said"),
    [
        ("q", "abc", r"answers are a list of texts, not str; write \[answer\] for one"),
        ("q", None, "answers are a list of texts, not NoneType"),
        ("q", ["a", None], "an answer is a text, not NoneType"),
        ("q", ["a", 5], "an answer is a text, not int"),
        ("q", [b"a"], "an answer is a text, not bytes"),
        (None, ["a"], "the question is NoneType, not a text"),
    ],
)
def test_what_cannot_be_ranked_is_said_in_one_line(question: Any, answers: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        demur.ranker("bm25").rank(question, answers)


def test_candidates_and_generators_can_be_ranked() -> None:
    given: list[str | Candidate] = [Candidate("c", "a red fox"), "a dog"]
    found = demur.ranker("overlap").rank("red fox", (each for each in given))
    assert [candidate.id for candidate in found.candidates] == ["c", "1"]
