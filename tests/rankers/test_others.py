from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import demur
from demur.rankers import Ranker
from demur.types import Candidate, FloatArray


def test_overlap_counts_different_words() -> None:
    plain = demur.ranker("overlap(weighted=false)")
    assert plain.score("ape bee ape", ["ape ape", "bee ape", "cat"]).tolist() == [1, 2, 0]


def test_weighted_overlap_prefers_rare_words() -> None:
    scores = demur.ranker("overlap").score("ape bee", ["ape x", "bee y", "ape z"])
    assert scores[1] > scores[0] == scores[2] > 0


def test_random_depends_on_seed_question_and_answer_alone() -> None:
    answers = [f"answer {n}" for n in range(2000)]
    scores = demur.ranker("random").score("q", answers)
    assert scores[::-1].tolist() == demur.ranker("random").score("q", answers[::-1]).tolist()
    assert not np.allclose(scores, demur.ranker("random(seed=1)").score("q", answers))
    assert not np.allclose(scores, demur.ranker("random").score("r", answers))
    assert 0.48 < scores.mean() < 0.52 and scores.min() >= 0 and scores.max() < 1


def test_rank_sorts_stably_and_keeps_candidates() -> None:
    given = [Candidate("a", "bb"), Candidate("b", "c"), Candidate("c", "dd"), Candidate("d", "eee")]
    ranking = demur.ranker("length").rank("q", given)
    assert [candidate.id for candidate in ranking.candidates] == ["d", "a", "c", "b"]
    assert list(ranking.scores) == [3, 2, 2, 1]
    assert demur.ranker("length").rank("q", ["x", "yy"]).candidates[0] == Candidate("1", "yy")


def test_a_spec_builds_the_same_ranker_again() -> None:
    for spec in ("bm25(k1=0.9, stats=dataset)", "overlap(weighted=false)", "random(seed=3)", "length"):
        built = demur.ranker(spec)
        assert demur.ranker(built.spec) == built
        assert demur.ranker(built) is built


def test_a_ranker_must_score() -> None:
    with pytest.raises(TypeError, match="must define score or score_pools"):
        type("Idle", (Ranker,), {})


def test_score_alone_is_enough() -> None:
    class Vowels(Ranker):
        name = "vowels"

        def score(self, question: str, answers: Sequence[str]) -> FloatArray:
            return np.array([float(sum(c in "aeiou" for c in answer)) for answer in answers])

    assert Vowels().rank("q", ["b", "aa"]).candidates[0].text == "aa"
