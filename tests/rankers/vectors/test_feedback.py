from __future__ import annotations

import numpy as np
import pytest

import demur
from demur.rankers.ensembles.base import standardised
from demur.rankers.vectors.cosine import pairwise
from demur.types import Pool
from laws import toys

QUESTION = "which ship sailed round?"
ANSWERS = ["the ship sailed", "round the cape in may", "nothing", "abc", "ship"]


def feedback(**settings: str | int | float) -> demur.rankers.Ranker:
    features = f'words(vectors="{toys.vectors()}")'
    return demur.ranker("feedback", **{"first": "bm25", "features": features, **settings})


def test_the_question_moves_toward_the_best_answers() -> None:
    from demur.embedders import embedder

    vectors = embedder("words", vectors=toys.vectors())
    question, *answers = np.asarray(vectors.embed([QUESTION, *ANSWERS]), np.float64)
    question = question / np.linalg.norm(question)
    table = np.array([answer / np.linalg.norm(answer) for answer in answers])
    first = standardised(demur.ranker("bm25").score(QUESTION, ANSWERS))
    best = np.argsort(-first)[:2]
    weights = np.exp(first[best] / 0.5) / np.exp(first[best] / 0.5).sum()
    moved = question + 0.7 * weights @ table[best]
    expected = pairwise(np.tile(moved, (5, 1)), table)
    assert np.allclose(feedback(k=2, beta=0.7).score(QUESTION, ANSWERS), expected, atol=1e-6)


def test_without_feedback_it_is_the_cosine() -> None:
    plain = demur.ranker("average", vectors=toys.vectors(), clean="plain")
    same = feedback(beta=0, features=f'words(vectors="{toys.vectors()}", clean=plain)')
    assert np.allclose(same.score(QUESTION, ANSWERS), plain.score(QUESTION, ANSWERS), atol=1e-9)


def test_a_text_that_stands_there_twice_counts_once() -> None:
    once = feedback(k=2, first="overlap(weighted=false)").score(QUESTION, ANSWERS)
    pool = Pool.of(QUESTION, [*ANSWERS, *ANSWERS])
    twice = feedback(k=2, first="overlap(weighted=false)").score_pools([pool])[0]
    assert np.allclose(twice[:5], once, atol=1e-9) and twice[:5].tolist() == twice[5:].tolist()


@pytest.mark.parametrize("settings", [{"k": 0}, {"beta": -1.0}, {"temperature": 0.0}])
def test_wrong_settings_are_one_line(settings: dict[str, float]) -> None:
    with pytest.raises(demur.DemurError, match="feedback needs k of 1 or more"):
        feedback(**settings)


def test_its_first_ranker_is_prepared() -> None:
    pools = [Pool.of(QUESTION, ANSWERS)]
    ranker = feedback(first="bm25(stats=dataset)")
    assert ranker.needs_preparing and not ranker.prepare(pools).needs_preparing
    assert ranker.prepare(pools).fingerprint != ranker.fingerprint
