from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import demur
from demur.errors import UsageError
from demur.rankers.explanations import Explains
from demur.types import Pool

SPECS = [
    "bm25",
    "bm25(words=content, stem=english)",
    "bm25(k1=0, b=0)",
    "overlap",
    "overlap(weighted=false, stem=english)",
]
WORD = st.sampled_from(
    ["saw", "Saws", "sawed", "the", "café", "cafe\u0301", "船", "🎉", "STRASSE", "straße", "1,5"]
)
TEXT = st.lists(WORD, max_size=8).map(" ".join)


@pytest.mark.parametrize("spec", SPECS)
@settings(max_examples=40)
@given(question=TEXT, answers=st.lists(TEXT, max_size=4))
def test_explanations_add_up_to_the_scores(spec: str, question: str, answers: list[str]) -> None:
    ranker = demur.ranker(spec)
    assert isinstance(ranker, Explains)
    explained = ranker.explain(question, answers)
    assert [each.score for each in explained] == ranker.score(question, answers).tolist()
    for answer, explanation in zip(answers, explained, strict=True):
        assert sum(pair.contribution for pair in explanation.pairs) == pytest.approx(
            explanation.score, abs=1e-9
        )
        for pair in explanation.pairs:
            assert question[pair.question.start : pair.question.end] == pair.question.text
            assert answer[pair.answer.start : pair.answer.end] == pair.answer.text


def test_each_place_of_a_word_adds_its_part() -> None:
    ranker = demur.ranker("overlap(weighted=false, stem=english)")
    assert isinstance(ranker, Explains)
    (explanation,) = ranker.explain("Saws, saw?", ["a saw and two saws"])
    assert [(pair.question.text, pair.answer.text, pair.weight) for pair in explanation.pairs] == [
        ("Saws", "saw", 0.5),
        ("Saws", "saws", 0.5),
    ]


def test_statistics_are_needed_first_and_then_used() -> None:
    ranker = demur.ranker("bm25(stats=dataset)")
    assert isinstance(ranker, Explains)
    with pytest.raises(UsageError, match=r"call prepare\(pools\)"):
        ranker.explain("saw", ["saw"])
    prepared = ranker.prepare([Pool.of("saw", ["saw", "plane", "lathe"])])
    assert prepared.explain("saw", ["saw"])[0].score == prepared.score("saw", ["saw"])[0] > 0


def test_those_that_look_at_no_word_explain_nothing() -> None:
    assert not isinstance(demur.ranker("random"), Explains)
