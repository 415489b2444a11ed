from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import demur
from demur.errors import DemurError, UsageError
from demur.rankers import Ranker
from demur.types import Candidate, FloatArray, Pool


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


@dataclass(frozen=True)
class Given(Ranker):
    """Its scores are whatever it is given."""

    name = "given"
    scores: Any

    def score(self, question: str, answers: Sequence[str]) -> FloatArray:
        found: FloatArray = self.scores
        return found


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ([1.0], "gave 1 score for 2 answers; its score must return one number for each"),
        ([1.0, 2, 3], "gave 3 scores for 2 answers"),
        ([[1.0], [2.0]], r"gave an array of the shape \(2, 1\) for 2 answers"),
        (None, "gave NoneType, no scores for 2 answers"),
        (["a", "b"], "gave list, no scores"),
        ([1.0, np.nan], "not a number"),
    ],
)
def test_what_is_no_score_is_told_wherever_it_is_used(scores: object, said: str) -> None:
    pools = [Pool.of("Who sails?", ["Ada sails.", "He sails not."], [1, 0])] * 60
    pools = [replace(pool, id=str(number)) for number, pool in enumerate(pools)]
    uses: list[Callable[[], object]] = [
        lambda: Given(scores).rank("Who sails?", ["Ada sails.", "He sails not."]),
        lambda: demur.evaluate(Given(scores), pools),
        lambda: demur.calibrate(Given(scores), pools),
        lambda: demur.ask("Who sails?", ["Ada sails.", "He sails not."], ranker=Given(scores)),
    ]
    for use in uses:
        with pytest.raises(DemurError, match=said):
            use()


def test_a_list_of_numbers_will_do() -> None:
    assert Given([1, 2]).rank("?", ["a", "b"]).scores == (2.0, 1.0)
    answer = demur.ask("Who sails?", ["Ada sails.", "He sails not."], ranker=Given([1, 2]))
    assert isinstance(answer, demur.Answer) and "not" in answer.candidate.text


def test_what_is_no_dataclass_with_a_name_is_told_so() -> None:
    @dataclass(frozen=True)
    class Nameless(Ranker):
        def score(self, question: str, answers: Sequence[str]) -> FloatArray:
            return np.zeros(len(answers))

    plain: Ranker = object.__new__(type("Plain", (Ranker,), {"name": "plain", "score": Nameless.score}))
    for ranker in (plain, Nameless()):
        with pytest.raises(UsageError, match="is no frozen dataclass with a name; put @dataclass"):
            ranker.spec  # noqa: B018


def test_what_no_package_registers_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'given' cannot be saved, as no package registers"):
        Given([1]).save(tmp_path / "model")
