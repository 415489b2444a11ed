"""What is done to pools, and what should not change by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from demur.data.perturbing import edits, perturb
from demur.types import Pool

SHARES = (10, 20, 30)  # % of pairs, or of questions, that have typos
WORDS = 0.1  # of a text's words


@dataclass(frozen=True)
class Condition:
    """One way to change pools, once for each seed; `family` is what it is a case of."""

    family: str
    name: str
    make: Callable[[Sequence[Pool], int], list[Pool]]
    seeds: int


def conditions(seeds: int) -> Iterator[Condition]:
    """All conditions in which a right answer stays right."""
    for where in ("answer", "question", "both"):
        place = {"answer": "answers", "question": "questions", "both": "both"}[where]
        for share in SHARES:
            yield Condition("typos", f"{share} % of {place}", _typos(share / 100, where), seeds)
    yield Condition("echo", "question echoed", _echo, seeds)
    yield Condition("same meaning", "don't for do not", _edited(edits.shortened), 1)
    yield Condition("same meaning", "do not for don't", _edited(edits.lengthened), 1)
    yield Condition("same meaning", "seven for 7", _edited(edits.numbers_in_words), 1)
    yield Condition("same meaning", "other first names", _renamed, seeds)


def numbers_changed(pools: Sequence[Pool], seed: int) -> list[Pool]:
    """The pools with other numbers in their right answers, which are then wrong."""
    return [
        replace(
            pool,
            candidates=tuple(
                replace(one, text=edits.numbers_changed(one.text, perturb.draws(seed, pool.id, one.id)))
                if one.label is not None and one.label > 0
                else one
                for one in pool.candidates
            ),
        )
        for pool in pools
    ]


def changed(before: Pool, after: Pool) -> bool:
    """Whether any text of a pool is another one."""
    return before.question != after.question or before.answers != after.answers


def _typos(share: float, where: str) -> Callable[[Sequence[Pool], int], list[Pool]]:
    return lambda pools, seed: list(perturb.typos(pools, WORDS, share, where, seed))


def _echo(pools: Sequence[Pool], seed: int) -> list[Pool]:
    return list(perturb.echo(pools, seed))


def _edited(edit: Callable[[str], str]) -> Callable[[Sequence[Pool], int], list[Pool]]:
    return lambda pools, seed: [_with(pool, edit) for pool in pools]


def _renamed(pools: Sequence[Pool], seed: int) -> list[Pool]:
    draws: Callable[[Pool], np.random.Generator] = lambda pool: perturb.draws(seed, "names", pool.id)  # noqa: E731
    return [_with(pool, edits.renaming([pool.question, *pool.answers], draws(pool))) for pool in pools]


def _with(pool: Pool, edit: Callable[[str], str]) -> Pool:
    texts = tuple(replace(one, text=edit(one.text)) for one in pool.candidates)
    return replace(pool, question=edit(pool.question), candidates=texts)
