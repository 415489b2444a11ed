"""What mini learns from: pairs of labelled pools, and parts of passages with an answer or without one.

Of a passage some sentences are shown, from one to all, so that it learns to read both and costs less. Some
parts leave the answer out, and some questions stand with a passage of another one: there is none.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from demur.reading.published import answer_of
from demur.sentences import sentences
from demur.types import IntArray, Pool, Span

_WHOLE = 0.2  # of the passages are shown whole
_WITHOUT = 0.15  # of the parts are without the answer, where that can be
_STRANGERS = 0.25  # of the questions stand with another passage too
_NEAR = 0.5  # of these passages are of the same article, where it has another


@dataclass(frozen=True)
class Part:
    """A question with a part of a passage; where the answer stands in it, or None."""

    question: str
    passage: str
    answer: tuple[int, int] | None


def is_reading(pool: Pool) -> bool:
    """Whether a pool is a question of SQuAD with its one passage."""
    return len(pool) == 1 and isinstance(pool.extra.get("answers"), list)


def ranking(pools: Sequence[Pool], negatives: int, seed: int) -> list[Pool]:
    """The pools with right and wrong answers: all right ones of each, and at most so many others."""
    found = []
    for pool in pools:
        right = [c for c in pool.candidates if c.label is not None and c.label > 0]
        wrong = [c for c in pool.candidates if c.label is not None and c.label <= 0]
        if is_reading(pool) or not right or not wrong:
            continue
        draws = _draws(pool, seed)
        right, wrong = (
            [some[n] for n in sorted(draws.permutation(len(some))[:most].tolist())]
            for some, most in ((right, max(negatives, 1)), (wrong, negatives))
        )
        found.append(Pool(pool.id, pool.question, (*right, *wrong)))
    return found


def alone(pools: Sequence[Pool]) -> list[Pool]:
    """Questions of SQuAD as pools of the one passage, which is right if it holds an answer."""
    return [
        Pool(pool.id, pool.question, (replace(pool.candidates[0], label=int(answer_of(pool) is not None)),))
        for pool in pools
        if is_reading(pool)
    ]


class Parts:
    """Questions of SQuAD, of which each epoch shows other parts."""

    def __init__(self, pools: Sequence[Pool], seed: int) -> None:
        self.pools = [pool for pool in pools if is_reading(pool)]
        self.seed = seed
        self._sentences = {text: sentences(text) for text in dict.fromkeys(p.answers[0] for p in self.pools)}
        self._of: dict[object, list[str]] = {}
        for pool in self.pools:
            near = self._of.setdefault(pool.extra.get("title"), [])
            if not near or near[-1] != pool.answers[0]:
                near.append(pool.answers[0])
        self._texts = list(self._sentences)

    def epoch(self, number: int) -> Iterator[Part]:
        """The parts of an epoch."""
        for pool in self.pools:
            draws = _draws(pool, self.seed, number)
            yield self._part(pool, answer_of(pool), draws)
            if draws.random() < _STRANGERS:
                yield from self._stranger(pool, draws)

    def _part(self, pool: Pool, answer: tuple[int, int] | None, draws: np.random.Generator) -> Part:
        text = pool.answers[0]
        parts = self._sentences[text]
        if len(parts) < 2 or draws.random() < _WHOLE:
            return Part(pool.question, text, answer)
        if answer is None:
            return Part(pool.question, _some(text, parts, draws), None)
        held = [n for n, part in enumerate(parts) if part.start < answer[1] and answer[0] < part.end]
        first, last = (held[0], held[-1]) if held else (0, len(parts) - 1)
        sides = [side for side in (parts[:first], parts[last + 1 :]) if side]
        if sides and draws.random() < _WITHOUT:
            return Part(pool.question, _some(text, sides[draws.integers(len(sides))], draws), None)
        begin, end = int(draws.integers(first + 1)), int(draws.integers(last, len(parts)))
        start, stop = min(parts[begin].start, answer[0]), max(parts[end].end, answer[1])
        return Part(pool.question, text[start:stop], (answer[0] - start, answer[1] - start))

    def _stranger(self, pool: Pool, draws: np.random.Generator) -> Iterator[Part]:
        """The question with a part of a passage that is another's, if there is one."""
        near, far = draws.random() < _NEAR, draws.random(2)
        among = self._of[pool.extra.get("title")]
        among = among if near and len(among) > 1 else self._texts
        text = among[int(far[0] * len(among))]
        if text != pool.answers[0]:
            yield Part(pool.question, _some(text, self._sentences[text], draws), None)


def _some(text: str, parts: Sequence[Span], draws: np.random.Generator) -> str:
    """A run of sentences, from one to all."""
    if not parts:
        return text
    begin, end = sorted(int(place) for place in draws.integers(len(parts), size=2))
    return text[parts[begin].start : parts[end].end]


def _draws(pool: Pool, *seeds: int) -> np.random.Generator:
    """Random numbers of a pool's own, which depend on no other."""
    digest = hashlib.sha256(f"{pool.id}\0{pool.question}".encode("utf-8", "surrogatepass")).digest()
    return np.random.default_rng([*seeds, *digest[:8]])


def longest_of(lengths: Sequence[int], sizes: Sequence[int]) -> IntArray:
    """The greatest length of each group of so many."""
    ends = np.cumsum([0, *sizes])
    return np.array([max(lengths[a:b]) for a, b in itertools.pairwise(ends)], np.int64)
