"""Every registered thing passes the same checks; a new one is found here by itself."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import demur
from demur import registry
from demur.types import Candidate, Pool
from laws import toys

QUESTION = "which ship sailed round the cape, café 🎉?"
ANSWERS = [
    "The ship sailed round the cape in May.",
    "",
    "Nothing to see here.",
    "سفينة abc 船 हिन्दी cafe\u0301 🎉",
    "ship " * 5000,
    "The ship sailed round the cape in May.",
]
POOLS = [
    Pool.of(QUESTION, ANSWERS, [1, 0, 0, 0, 0, 1], id="a"),
    Pool("b", "no candidates?", ()),
    Pool("c", "", (Candidate("x", "one candidate", 1),)),
    Pool.of("?!", ANSWERS[:2], id="d"),
]


def marks(name: str) -> tuple[pytest.MarkDecorator, ...]:
    """What toys are made with, and those that are one in themselves, need torch."""
    return (pytest.mark.extras,) if name in {*toys.TOYS, "alignment"} - {"average"} else ()


@pytest.fixture(params=[pytest.param(each, marks=marks(each)) for each in registry.names("ranker")])
def ranker(request: pytest.FixtureRequest) -> demur.rankers.Ranker:
    return demur.ranker(request.param, **toys.settings(request.param)).prepare(POOLS)


def test_one_finite_score_per_answer(ranker: demur.rankers.Ranker) -> None:
    scores = ranker.score_pools(POOLS)
    assert [len(each) for each in scores] == [len(pool) for pool in POOLS]
    assert all(each.dtype == np.float64 and np.isfinite(each).all() for each in scores)
    assert ranker.score_pools([]) == []


def test_the_same_twice_and_alone(ranker: demur.rankers.Ranker) -> None:
    together, again = ranker.score_pools(POOLS), ranker.score_pools(POOLS)
    for pool, first, second in zip(POOLS, together, again, strict=True):
        assert first.tolist() == second.tolist()
        assert np.allclose(ranker.score_pools([pool])[0], first, rtol=0, atol=ranker.tolerance)
        assert np.allclose(ranker.score(pool.question, pool.answers), first, rtol=0, atol=ranker.tolerance)


def test_order_changes_nothing(ranker: demur.rankers.Ranker) -> None:
    scores = ranker.score(QUESTION, ANSWERS)
    assert np.allclose(ranker.score(QUESTION, ANSWERS[::-1])[::-1], scores, rtol=0, atol=ranker.tolerance)
    assert scores[0] == scores[-1], "equal answers, equal scores"


def test_one_that_looks_at_each_pair_alone_scores_it_the_same_in_any_pool(
    ranker: demur.rankers.Ranker,
) -> None:
    if ranker.alone:
        found = [ranker.score(QUESTION, [answer])[0] for answer in ANSWERS]
        assert np.allclose(found, ranker.score(QUESTION, ANSWERS), rtol=0, atol=ranker.tolerance)


def test_labels_and_ids_are_not_looked_at(ranker: demur.rankers.Ranker) -> None:
    bare = Pool.of(QUESTION, ANSWERS, id="other")
    assert ranker.score_pools([bare])[0].tolist() == ranker.score_pools(POOLS[:1])[0].tolist()


def test_inputs_are_left_alone(ranker: demur.rankers.Ranker) -> None:
    pools, answers = copy.deepcopy(POOLS), list(ANSWERS)
    ranker.score_pools(pools)
    ranker.rank(QUESTION, answers)
    assert pools == POOLS and answers == ANSWERS


def test_ranks_best_first(ranker: demur.rankers.Ranker) -> None:
    ranking = ranker.rank(QUESTION, ANSWERS)
    assert sorted(ranking.scores, reverse=True) == list(ranking.scores)
    assert sorted(candidate.text for candidate in ranking.candidates) == sorted(ANSWERS)
    assert len(ranker.rank(QUESTION, [])) == 0


def test_travels_between_processes(ranker: demur.rankers.Ranker) -> None:
    other = pickle.loads(pickle.dumps(ranker))
    assert other.fingerprint == ranker.fingerprint
    assert other.score(QUESTION, ANSWERS).tolist() == ranker.score(QUESTION, ANSWERS).tolist()


def test_says_what_it_is(ranker: demur.rankers.Ranker) -> None:
    assert demur.ranker(ranker.spec).spec == ranker.spec
    assert type(ranker).__doc__


@pytest.mark.parametrize("kind", registry.OURS)
def test_every_name_leads_somewhere(kind: str) -> None:
    assert registry.names(kind)
    for name in registry.names(kind):
        assert registry.find(kind, name) is not None


def test_unknown_names_are_one_helpful_line() -> None:
    with pytest.raises(demur.DemurError, match="unknown ranker 'bm52'; did you mean 'bm25'"):
        demur.ranker("bm52")


def test_toys_of_torch_are_made_only_for_tests_that_are_left_out_without_it() -> None:
    with pytest.raises(AssertionError, match="takes mini, which torch makes; mark it extras"):
        toys.mini()
