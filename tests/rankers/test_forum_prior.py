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
    ranking = demur.ranker("telling").rank("where do I get a licence?", answers)
    assert [answers.index(candidate.text) for candidate in ranking.candidates] == [2, 3, 0, 1]


def test_the_score_is_the_sum_that_it_says() -> None:
    telling = demur.ranker("telling(length=0.5, thanks=2)")
    assert telling.score("q", ["one two three"])[0] == pytest.approx(0.5 * math.log(4))
    assert telling.score("q", ["one? two. three."])[0] == pytest.approx(0.5 * math.log(4) - 1 / 4)
    assert telling.score("q", ["thanks, one? two"])[0] == pytest.approx(0.5 * math.log(4) - 1 / 2 - 2)
    assert telling.score("q", ["ثلاثة؟"])[0] == pytest.approx(0.5 * math.log(2) - 1 / 2)


def test_the_question_is_not_looked_at() -> None:
    telling = demur.ranker("telling")
    assert telling.score("a", ["b c?"]).tolist() == telling.score("thanks?", ["b c?"]).tolist()
