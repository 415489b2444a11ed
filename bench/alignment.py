"""Alignment over WikiQA test beside the loops one would write first, on the same words and vectors."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import numpy as np

import demur
from bench.common import Row, faster, ratio, seconds, told
from demur import data
from demur.embedders import Tokens
from demur.embedders.base import Vectors
from demur.rankers.alignment.alignment import Alignment
from demur.rankers.alignment.assignment import exact, maxsim
from demur.rankers.alignment.word_grids import word_grids
from demur.types import FloatArray, IntArray, Pool

PAPER = {"similarity": "dot", "normalise": "none"}
VECTORS = "google-news"


def plain(
    tokens: Tokens, sizes: IntArray, similarity: Callable[[FloatArray, FloatArray], float]
) -> list[float]:
    """A double loop over the words of each pair, and scipy for each pair."""
    from scipy.optimize import linear_sum_assignment

    scores = []
    for question, answer in _pairs(tokens, sizes):
        grid = np.zeros((len(question), len(answer)))
        for row, one in enumerate(question):
            for column, other in enumerate(answer):
                grid[row, column] = similarity(one, other)
        rows, columns = linear_sum_assignment(grid, maximize=True)
        scores.append(float(grid[rows, columns].sum()))
    return scores


def cosine(one: FloatArray, other: FloatArray) -> float:
    """The cosine of two vectors, as one writes it."""
    return float(np.dot(one, other) / (np.linalg.norm(one) * np.linalg.norm(other)))


def _pairs(tokens: Tokens, sizes: IntArray) -> Iterator[tuple[Vectors, Vectors]]:
    texts = iter(np.split(tokens.vectors, np.cumsum(tokens.counts)[:-1]))
    for size in sizes.tolist():
        question = next(texts)
        for _ in range(size):
            yield question, next(texts)


def _tokens(ranker: Alignment, pools: list[Pool]) -> tuple[Tokens, IntArray]:
    texts = [text for pool in pools for text in (pool.question, *pool.answers)]
    return ranker.embedder.tokens(texts, ranker.kept), np.array([len(pool) for pool in pools])


def run() -> list[Row]:
    """All rows."""
    if not os.environ.get("DEMUR_DATA"):
        return []
    pools = list(data.pools("wikiqa/test"))
    paper = Alignment(vectors=VECTORS, **PAPER)
    ours = Alignment(vectors=VECTORS, words="all")
    rows = []
    for ranker, similarity, what in (
        (paper, np.dot, "the paper's: dot, content words"),
        (ours, cosine, "cosine, all words"),
    ):
        tokens, sizes = _tokens(ranker, pools)
        times, mine = ratio(
            lambda r=ranker, t=tokens, s=sizes: r.pair(t, s).scores,  # type: ignore[misc]
            lambda t=tokens, s=sizes, f=similarity: plain(t, s, f),  # type: ignore[misc]
            turns=3,
        )
        rows.append(faster(f"exact, {what} ({mine / sizes.sum() * 1e6:.1f} µs a pair)", times, 20))
    whole = seconds(lambda: paper.score_pools(pools), turns=3)
    words = seconds(lambda: _tokens(paper, pools), turns=3)
    loops = seconds(lambda: plain(*_tokens(paper, pools), np.dot), turns=3)
    found = f"{loops / whole:.1f}x, {whole:.2f} s ({words:.2f} s)"
    rows.append(told("the paper's, from texts to scores (to words alone)", found))
    return rows + _relaxed(pools)


def _relaxed(pools: list[Pool]) -> list[Row]:
    """MaxSim beside exact: how long pairing takes, similarities being there, and how good the scores are."""
    tokens, sizes = _tokens(Alignment(vectors=VECTORS), pools)
    grids = word_grids(tokens, sizes, cosine=True)
    judged = [pool for pool in pools if pool.positives]
    rows = []
    for how, pair in (("exact", exact), ("maxsim", maxsim)):
        taken = seconds(lambda p=pair: p(grids))  # type: ignore[misc]
        ranker = Alignment(vectors=VECTORS, how=how)
        quality = demur.evaluate(ranker, judged, ["MAP"]).measures["MAP"].mean
        rows.append(told(f"{how}: pairing content words", f"{taken * 1e3:.1f} ms, MAP {quality:.3f}"))
    return rows
