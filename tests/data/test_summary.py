from __future__ import annotations

from demur.data import Pools, summarise
from demur.types import Candidate, Pool

POOLS = [
    Pool.of("one two three", ["a b", "", "c"], [1, 0, None], "x"),
    Pool("x", "one", (Candidate("a", "a", 3), Candidate("a", "b c d", 3))),
    Pool.of("", [], [], "y"),
]


def test_every_figure() -> None:
    found = summarise(POOLS)
    assert (found.pools, found.pairs, found.answerable, found.clean) == (3, 5, 2, 1)
    assert (found.without_candidates, found.empty_answers) == (1, 1)
    assert (found.repeated_pool_ids, found.repeated_candidate_ids) == (1, 1)
    assert found.labels == {"0": 1, "1": 1, "3": 2, "unjudged": 1}
    assert list(found.labels) == ["0", "1", "3", "unjudged"]
    assert found.pool_sizes == {"min": 0, "25%": 0, "50%": 2, "75%": 3, "95%": 3, "max": 3}
    assert found.question_words == {"min": 0, "25%": 0, "50%": 1, "75%": 3, "95%": 3, "max": 3}
    assert found.answer_words == {"min": 0, "25%": 1, "50%": 1, "75%": 2, "95%": 3, "max": 3}
    assert found.samples == tuple(POOLS)


def test_answers_are_right_from_the_label_that_pools_name() -> None:
    graded = Pools("x", (), lambda: iter(POOLS), relevant=2)
    assert [(found.answerable, found.relevant) for found in (summarise(graded), summarise(POOLS))] == [
        (1, 2),
        (2, 1),
    ]
    assert summarise(POOLS, relevant=3).answerable == 1


def test_three_samples_and_always_the_same() -> None:
    pools = [Pool.of(f"q{n}", ["a"], [0], str(n)) for n in range(50)]
    first = summarise(pools).samples
    assert len(first) == 3
    assert set(first) == set(summarise(reversed(pools)).samples)


def test_no_pools_at_all() -> None:
    found = summarise([])
    assert (found.pools, found.pairs, found.labels, found.answer_words, found.samples) == (0, 0, {}, {}, ())
