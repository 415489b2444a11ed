from __future__ import annotations

import pytest

from demur.embedders import embedder
from demur.training.readers.added_negatives import add_negatives
from demur.types import Pool
from laws import toys

TEXTS = [f"the {word} sailed round {n}" for n, word in enumerate(["ship", "cafe", "cape", "abc"] * 3)]


def of(more: int, seed: int = 0) -> list[Pool]:
    pools = [
        Pool.of("quest ship sailed?", TEXTS[:2], [1, 0], id="a"),
        Pool.of("cafe?", TEXTS[1:2], [1], id="b"),
    ]
    return list(
        add_negatives(pools, TEXTS + TEXTS[:3], more, seed, embedder(f"encoder(model={toys.bert()})"))
    )


def test_others_join_and_what_was_there_stays() -> None:
    first, second = of(4)
    assert first.answers[:2] == TEXTS[:2] and second.answers[:1] == TEXTS[1:2]
    assert len(first) == 6 and len(second) == 5
    for pool in (first, second):
        assert len(set(pool.answers)) == len(pool), "no text stands twice"
    assert [one.label for one in first.candidates] == [1, 0, None, None, None, None]


def test_half_of_them_share_words_with_the_question() -> None:
    joined = of(4)[1].answers[1:]
    assert sum("cafe" in text for text in joined) >= 2


def test_it_hangs_on_the_seed_alone() -> None:
    assert of(4) == of(4)
    assert of(4) != of(4, seed=1)


@pytest.mark.parametrize("more", [0, 1, 50])
def test_there_are_never_more_than_asked_for(more: int) -> None:
    first, second = of(more)
    assert len(first) == min(2 + more, len(TEXTS)) and len(second) == min(1 + more, len(TEXTS))
