"""Pools that were meddled with."""

from pathlib import Path

import pytest

from demur.data import load, pools
from demur.data.perturbing import perturb
from demur.data.perturbing.roles import swapped
from demur.errors import UnknownName
from demur.types import Candidate, Pool

POOLS = [
    Pool(
        f"q{n}",
        f"which river crosses town number {n}",
        tuple(Candidate(f"a{k}", f"water flows past houses {n} {k}", int(k == 0)) for k in range(5)),
    )
    for n in range(20)
]


def texts(pools: list[Pool]) -> dict[tuple[str, str], str]:
    return {(pool.id, one.id): one.text for pool in pools for one in pool.candidates}


@pytest.mark.parametrize("share", [0.1, 0.3, 1.0])
def test_exactly_that_share_of_answers_has_slips_and_a_smaller_one_lies_within(share: float) -> None:
    before, after = texts(POOLS), texts(list(perturb.typos(POOLS, 0.1, share, "answer", 3)))
    other = {key for key in before if before[key] != after[key]}
    assert len(other) == round(share * 100)
    less = texts(list(perturb.typos(POOLS, 0.1, share / 2, "answer", 3)))
    assert {key for key in before if before[key] != less[key]} < other
    assert all(less[key] in (before[key], after[key]) for key in before)


def test_slips_hang_on_ids_and_seed_not_on_the_order_of_pools() -> None:
    one = {pool.id: pool for pool in perturb.typos(POOLS, pairs=0.5, seed=1)}
    other = {pool.id: pool for pool in perturb.typos(POOLS[::-1], pairs=0.5, seed=1)}
    assert one == other
    assert one != {pool.id: pool for pool in perturb.typos(POOLS, pairs=0.5, seed=2)}


def test_where_says_what_has_slips() -> None:
    asked = list(perturb.typos(POOLS, pairs=0.5, where="question"))
    assert texts(asked) == texts(POOLS)
    assert sum(a.question != b.question for a, b in zip(asked, POOLS, strict=True)) == 10
    told = list(perturb.typos(POOLS, pairs=0.5, where="answer"))
    assert [pool.question for pool in told] == [pool.question for pool in POOLS]


def test_noise_turns_exactly_its_share_and_by_class_keeps_the_counts() -> None:
    plain = [c.label for pool in POOLS for c in pool.candidates]
    noisy = [c.label for pool in perturb.noise(POOLS, 0.2) for c in pool.candidates]
    assert sum(a != b for a, b in zip(plain, noisy, strict=True)) == 20
    fair = [c.label for pool in perturb.noise(POOLS, 0.2, by_class=True) for c in pool.candidates]
    assert sum(fair) == sum(label or 0 for label in plain) == 20  # type: ignore[arg-type]  # all are judged
    assert sum(a != b for a, b in zip(plain, fair, strict=True)) == 8


def test_what_nobody_judged_has_no_noise() -> None:
    pool = Pool.of("q", ["a", "b"], [None, 1])
    assert [c.label for c in next(perturb.noise([pool], 1.0)).candidates] == [None, 0]


def test_one_wrong_answer_echoes() -> None:
    for before, after in zip(POOLS, perturb.echo(POOLS), strict=True):
        pairs = zip(before.candidates, after.candidates, strict=True)
        ((one, loud),) = [(a, b) for a, b in pairs if a != b]
        assert (loud.text, loud.label, loud.id) == (f"{before.question} {one.text}", 0, f"{one.id}+echo")


def test_all_right_is_left_alone() -> None:
    pool = Pool.of("q", ["a"], [1])
    assert list(perturb.echo([pool])) == [pool]


@pytest.mark.parametrize(
    "name",
    ["typos-10", "typos-10-of-30-in-answer-seed-2", "noise-20", "noise-20-by-class-seed-1", "echo-seed-4"],
)
def test_they_are_parts_of_a_file(name: str, tmp_path: Path) -> None:
    file = tmp_path / "own.jsonl"
    rows = '{"id": "1", "question": "who built it", "candidates": [%s]}\n'
    file.write_text(rows % '{"id": "a", "text": "masons built everything", "label": 0}')
    assert len(pools(f"{file}/{name}")) == 1


@pytest.mark.parametrize("name", ["typos", "typos-101", "typos-10-in-title", "noise-120", "echoes"])
def test_names_that_mean_nothing_are_refused(name: str) -> None:
    assert perturb.edited_subset(name) is None
    with pytest.raises(UnknownName, match="typos-10-of-30-in-answer"):
        load(f"wikiqa/test/{name}")


def test_roles_are_swapped_in_both_voices() -> None:
    pools = list(swapped())
    assert len(pools) == len({pool.id for pool in pools}) == 100
    for pool in pools:
        right, wrong = pool.answers
        assert sorted(right.replace(".", "").split()) == sorted(wrong.replace(".", "").split())
        assert right != wrong
        assert pool.labels == [1, 0]


def test_which_answer_echoes_does_not_hang_on_their_order() -> None:
    for pool in POOLS:
        turned = Pool(pool.id, pool.question, pool.candidates[::-1])
        one, other = (set(next(perturb.echo([each], 2)).candidates) for each in (pool, turned))
        assert one == other
