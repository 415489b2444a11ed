from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demur.data import subsets
from demur.errors import UnknownName
from demur.types import Pool

POOLS = [
    Pool.of("mixed", ["a", "b"], [1, 0], "1"),
    Pool.of("all positive", ["a"], [1], "2"),
    Pool.of("all negative", ["a", "b"], [0, 0], "3"),
    Pool.of("empty", [], [], "4"),
    Pool.of("unjudged", ["a"], [None], "5"),
    Pool.of("half judged", ["a", "b"], [2, None], "6"),
]


@pytest.mark.parametrize(
    ("name", "ids"), [("answerable", "126"), ("clean", "16"), ("nonempty", "12356"), ("sample-9", "123456")]
)
def test_general_subsets(name: str, ids: str) -> None:
    assert "".join(pool.id for pool in subsets.find_subset(name, {}, "x")(POOLS)) == ids


def many(count: int) -> list[Pool]:
    return [Pool.of(f"q{n}", ["a"], [n % 2], f"id-{n}") for n in range(count)]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 60), st.integers(0, 70), st.integers(0, 70), st.integers(0, 3))
def test_a_sample_has_its_size_keeps_the_order_and_lies_in_a_larger_one(
    size: int, small: int, large: int, seed: int
) -> None:
    pools = many(size)
    few, more = (list(subsets.sample(pools, n, seed)) for n in sorted((small, large)))
    assert len(few) == min(size, *(sorted((small, large))[:1]))
    assert [pool for pool in pools if pool in few] == few
    assert [pool for pool in more if pool in few] == few


def test_a_sample_depends_on_the_seed_and_on_nothing_else() -> None:
    pools = many(200)
    first = {pool.id for pool in subsets.sample(pools, 20)}
    assert first == {pool.id for pool in subsets.sample(reversed(pools), 20)}
    assert first == {pool.id for pool in subsets.find_subset("sample-20", {}, "x")(pools)}
    other = {pool.id for pool in subsets.find_subset("sample-20-seed-1", {}, "x")(pools)}
    assert len(first & other) < 10


def test_every_pool_is_drawn_equally_often() -> None:
    pools = many(20)
    drawn = [int(pool.id[3:]) for seed in range(600) for pool in subsets.sample(pools, 5, seed)]
    counts = [drawn.count(n) for n in range(20)]
    assert sum(counts) == 3000
    assert max(counts) < 200 and min(counts) > 100  # 150 expected, with a deviation of 11


LONG = "The ferry to the island leaves at nine every morning"


def test_apart_leaves_out_what_others_ask_or_say_at_length() -> None:
    others = [Pool.of("Who rowed?", [LONG, "by boat"], [0, 1], "t")]
    some = [
        Pool.of("who  ROWED", ["Ada."], [1], "1"),
        Pool.of("when?", [f"{LONG.upper()}!", "By boat.", "Never."], [1, 0, 0], "2"),
        Pool.of("how?", [LONG], [1], "3"),
        Pool.of("why?", [], [], "4"),
    ]
    assert [(pool.id, pool.answers) for pool in subsets.apart(some, others)] == [
        ("2", ["By boat.", "Never."]),
        ("4", []),
    ]
    assert [pool.labels for pool in subsets.apart(some[1:2], others)] == [[0, 0]]


def test_an_unknown_subset_names_the_known_ones() -> None:
    with pytest.raises(
        UnknownName, match=r"answerable, apart-wikiqa-test, clean,.* mine,.* nonempty, rest-100, sample-100"
    ):
        subsets.find_subset("sample-", {"mine": subsets.clean}, "x/test")
