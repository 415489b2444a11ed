"""Negatives added to pools: texts of other pools join each, as a search through all of them would find them.

A network that only ever sees answers from the question's own text learns little about other texts. Half of
those that join share words with the question, half lie near it by the encoder's vectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from demur.embedders.base import Embedder, Vectors
from demur.rankers.lexical.bm25 import BM25
from demur.rankers.lexical.index import Index
from demur.types import Candidate, Pool

AMONG = 20
"""The best by each sign, of which some are drawn."""
_AT_ONCE = 256


def add_negatives(
    pools: Sequence[Pool], texts: Sequence[str], more: int, seed: int, encoder: Embedder
) -> Iterator[Pool]:
    """Each pool with at most `more` of the texts, unlabelled; none that it has already."""
    texts = list(dict.fromkeys(texts))
    index = Index(texts, BM25(stem="english"))
    near = _unit(encoder.embed(texts))
    for at in range(0, len(pools), _AT_ONCE):
        some = pools[at : at + _AT_ONCE]
        like = _unit(encoder.embed([pool.question for pool in some])) @ near.T
        for number, (pool, row) in enumerate(zip(some, like, strict=True), at):
            draws = np.random.default_rng([seed, number])
            own = set(pool.answers)
            nearest = np.argsort(-row, kind="stable")[: AMONG + len(own)]
            found: list[int] = []
            for best, size in (
                (index.search(pool.question, AMONG)[0], more // 2),
                (nearest, more - more // 2),
            ):
                found += _drawn(
                    [n for n in best.tolist() if texts[n] not in own and n not in found], size, draws
                )
            joined = tuple(Candidate(f"+{n}", texts[n]) for n in found)
            yield replace(pool, candidates=(*pool.candidates, *joined))


def _drawn(among: Sequence[int], size: int, draws: np.random.Generator) -> list[int]:
    return [among[n] for n in sorted(draws.permutation(len(among))[:size].tolist())]


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), np.float32)
