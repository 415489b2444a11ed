"""BM25 over pools against rank_bm25, pool by pool, tokenising included; and against bm25s, score by score."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

import numpy as np

import demur
from bench.common import Row, faster, ratio, sentences
from demur import data
from demur.text import tokenize
from demur.types import Pool

WORD = re.compile(r"[^\W_]+")  # how people tokenise in front of rank_bm25


def rank_bm25(pools: Sequence[Pool]) -> None:
    """Score each pool as rank_bm25's own README does."""
    from rank_bm25 import BM25Okapi

    for pool in pools:
        index = BM25Okapi([WORD.findall(answer.lower()) for answer in pool.answers])
        index.get_scores(WORD.findall(pool.question.lower()))


def made(number: int, size: int) -> list[Pool]:
    """Pools of made-up sentences of 25 words."""
    texts = sentences(number * size, 25)
    return [
        Pool.of(" ".join(texts[n * size].split()[:8]), texts[n * size : (n + 1) * size], id=str(n))
        for n in range(number)
    ]


def run() -> list[Row]:
    """All rows."""
    ranker = demur.ranker("bm25")
    rows = []
    for size, number in ((10, 2000), (100, 200), (1000, 20)):
        pools = made(number, size)
        times, ours = ratio(lambda p=pools: ranker.score_pools(p), lambda p=pools: rank_bm25(p))  # type: ignore[misc]
        what = f"pools of {size} against rank_bm25 ({ours / number * 1e6:.0f} µs a pool)"
        rows.append(faster(what, times, 5))
    if os.environ.get("DEMUR_DATA"):
        real = [pool for pool in data.pools("wikiqa/train") if len(pool) > 1]
        times, ours = ratio(lambda: ranker.score_pools(real), lambda: rank_bm25(real))
        what = f"wikiqa/train against rank_bm25 ({ours / len(real) * 1e6:.0f} µs a pool)"
        rows.append(faster(what, times, 5))
    rows.append(same_as_bm25s(made(1, 1000)[0]))
    return rows


def same_as_bm25s(pool: Pool) -> Row:
    """The largest difference from bm25s (Lucene's variant) on one corpus."""
    import bm25s

    theirs = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    theirs.index([tokenize(answer) for answer in pool.answers], show_progress=False)
    scores = theirs.get_scores(tokenize(pool.question))
    difference = float(np.abs(scores - demur.ranker("bm25").score_pools([pool])[0]).max())
    what = "largest difference from bm25s's scores"
    return Row(what=what, found=f"{difference:.1e}", goal="< 1e-5", met=difference < 1e-5)
