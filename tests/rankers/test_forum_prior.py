from __future__ import annotations

import math

import pytest

import demur


def test_what_tells_comes_before_what_asks_or_thanks() -> None:
    answers = [
        "Thanks a lot for all of your help with this.",
        "Why do you want to know? Where are you from?",
        "Go to the office in the old town and fill in the form there.",
        "",
    ]
    ranking = demur.ranker("forum-prior").rank("where do I get a licence?", answers)
    assert [answers.index(candidate.text) for candidate in ranking.candidates] == [2, 3, 0, 1]


def test_the_score_is_the_sum_that_it_says() -> None:
    prior = demur.ranker("forum-prior(length=0.5, thanks=2)")
    assert prior.score("q", ["one two three"])[0] == pytest.approx(0.5 * math.log(4))
    assert prior.score("q", ["one? two. three."])[0] == pytest.approx(0.5 * math.log(4) - 1 / 4)
    assert prior.score("q", ["thanks, one? two"])[0] == pytest.approx(0.5 * math.log(4) - 1 / 2 - 2)
    assert prior.score("q", ["ثلاثة؟"])[0] == pytest.approx(0.5 * math.log(2) - 1 / 2)


def test_the_question_is_not_looked_at() -> None:
    prior = demur.ranker("forum-prior")
    assert prior.score("a", ["b c?"]).tolist() == prior.score("thanks?", ["b c?"]).tolist()
