"""Pools changed on purpose: typos, wrong labels, and answers that echo the question.

They are parts of any split, as in ``wikiqa/test/clean/typos-10-of-30-in-answer-seed-2``: typos in 10 % of the
words of 30 % of the answers. What happens to a text depends on the seed and its ids alone. So all rankers see
the same, and of two shares of pairs the smaller lies within the larger.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from demur.data.perturbing import edits
from demur.types import Candidate, Pool

_TYPOS = re.compile(r"typos-(\d{1,3})(?:-of-(\d{1,3}))?(?:-in-(both|answer|question))?(?:-seed-(\d+))?")
_NOISE = re.compile(r"noise-(\d{1,3})(-by-class)?(?:-seed-(\d+))?")
_ECHO = re.compile(r"echo(?:-seed-(\d+))?")

Id = tuple[str, ...]
Subset = Callable[[Iterable[Pool]], Iterator[Pool]]

EXAMPLES = ("typos-10-of-30-in-answer", "noise-20", "noise-20-by-class", "echo")


def edited_subset(name: str) -> Subset | None:
    """What changes pools as a name such as ``typos-10`` or ``noise-20-seed-3`` asks; None for other names."""
    if found := _TYPOS.fullmatch(name):
        words, pairs = int(found[1]) / 100, int(found[2] or 100) / 100
        if words <= 1 and pairs <= 1:
            return partial(typos, words=words, pairs=pairs, where=found[3] or "both", seed=int(found[4] or 0))
    elif (found := _NOISE.fullmatch(name)) and int(found[1]) <= 100:
        return partial(noise, share=int(found[1]) / 100, by_class=bool(found[2]), seed=int(found[3] or 0))
    elif found := _ECHO.fullmatch(name):
        return partial(echo, seed=int(found[1] or 0))
    return None


def typos(
    pools: Iterable[Pool], words: float = 0.1, pairs: float = 1.0, where: str = "both", seed: int = 0
) -> Iterator[Pool]:
    """The pools with typos in a share of the `words` of a share of the `pairs`.

    A question is one for all its pairs: where questions have typos, it is such a share of them.
    """
    held = list(pools)
    if where != "answer":
        asked = chosen([(pool.id,) for pool in held], pairs, seed, "question")
        held = [
            replace(pool, question=edits.typos(pool.question, words, draws(seed, "question", pool.id)))
            if (pool.id,) in asked
            else pool
            for pool in held
        ]
    if where == "question":
        yield from held
        return
    told = chosen([(pool.id, one.id) for pool in held for one in pool.candidates], pairs, seed, "answer")
    for pool in held:
        new = tuple(
            replace(one, text=edits.typos(one.text, words, draws(seed, "answer", pool.id, one.id)))
            if (pool.id, one.id) in told
            else one
            for one in pool.candidates
        )
        yield replace(pool, candidates=new)


def noise(pools: Iterable[Pool], share: float = 0.2, by_class: bool = False, seed: int = 0) -> Iterator[Pool]:
    """The pools with exactly so large a share of all judged labels turned over.

    Where right answers are few, most of those called right are then wrong. By class, it is that share of the
    right ones, and as many of the wrong ones: there are as many right ones as before.
    """
    held = list(pools)
    judged = [(p.id, c.id, c.label > 0) for p in held for c in p.candidates if c.label is not None]
    if by_class:
        right = [(pool, one) for pool, one, is_right in judged if is_right]
        wrong = [(pool, one) for pool, one, is_right in judged if not is_right]
        turned = chosen(right, share, seed, "label")
        turned |= chosen(wrong, len(turned) / max(len(wrong), 1), seed, "label")
    else:
        turned = chosen([(pool, one) for pool, one, _ in judged], share, seed, "label")
    for pool in held:
        new = tuple(_turned(one) if (pool.id, one.id) in turned else one for one in pool.candidates)
        yield replace(pool, candidates=new)


def echo(pools: Iterable[Pool], seed: int = 0) -> Iterator[Pool]:
    """The pools with the question before one wrong answer, drawn by the seed; its id then ends in +echo."""
    for pool in pools:
        wrong = [n for n, one in enumerate(pool.candidates) if one.label is not None and one.label <= 0]
        if not wrong:
            yield pool
            continue
        draws = {n: _hash(seed, ("echo", pool.id, pool.candidates[n].id)) for n in wrong}
        place = min(wrong, key=draws.__getitem__)
        one = pool.candidates[place]
        loud = replace(one, id=f"{one.id}+echo", text=f"{pool.question} {one.text}")
        yield replace(pool, candidates=(*pool.candidates[:place], loud, *pool.candidates[place + 1 :]))


def draws(seed: int, *of: str) -> np.random.Generator:
    """Random numbers that depend on the seed and on what they are for."""
    return np.random.default_rng([seed, int.from_bytes(_hash(0, of))])


def chosen(ids: Iterable[Id], share: float, seed: int, what: str) -> set[Id]:
    """Exactly so large a share of ids, those with the lowest draws."""
    draws = sorted(ids, key=lambda id: _hash(seed, (what, *id)))
    return set(draws[: round(share * len(draws))])


def _hash(seed: int, of: Iterable[str]) -> bytes:
    said = "\0".join((str(seed), *of)).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(said, digest_size=8).digest()


def _turned(one: Candidate) -> Candidate:
    return replace(one, label=0 if one.label is not None and one.label > 0 else 1)
