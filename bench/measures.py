"""Measures and intervals over a million pairs in 50,000 pools, beside ir_measures on the same run."""

from __future__ import annotations

import ir_measures
import numpy as np

from bench.common import Row, below, faster, ratio, seconds
from demur.evaluation import Judged, convention, estimates, evaluate, measured, parse_measures
from demur.types import Candidate, Pool

POOLS, SIZE, LEVELS = 50_000, 20, 8
MEASURES = parse_measures("MAP,RR,P@1,nDCG@10")
THEIRS = [ir_measures.parse_measure(name) for name in ("AP", "RR", "P@1", "nDCG@10")]


def run() -> list[Row]:
    """All rows: the same scores on eight levels, so that most are tied, as arrays, pools, and a run."""
    rng = np.random.default_rng(0)
    scores = rng.integers(0, LEVELS, (POOLS, SIZE)).astype(float)
    labels = (rng.random((POOLS, SIZE)) < 0.15) * rng.integers(1, 4, (POOLS, SIZE))
    names = [str(document) for document in range(SIZE)]
    pools = [
        Pool(str(p), "", tuple(Candidate(name, "", label) for name, label in zip(names, row, strict=True)))
        for p, row in enumerate(labels.tolist())
    ]
    found = {str(p): dict(zip(names, row, strict=True)) for p, row in enumerate(scores.tolist())}
    qrels = {str(p): dict(zip(names, row, strict=True)) for p, row in enumerate(labels.tolist())}
    fixed, trec = convention("fixed"), convention("trec")
    table = np.column_stack(list(measured(_judged(scores, labels), MEASURES, fixed).values()))
    table = table[~np.isnan(table).any(axis=1)]
    arrays = seconds(lambda: measured(_judged(scores, labels), MEASURES, fixed))
    intervals = seconds(lambda: estimates(table))
    whole = seconds(lambda: evaluate(scores, pools))
    times, ours = ratio(
        lambda: measured(Judged.of_run(found, qrels), MEASURES, trec),
        lambda: list(ir_measures.iter_calc(THEIRS, qrels, found)),
        turns=3,
    )
    return [
        below("MAP, RR, P@1, nDCG@10 of a million pairs, 50,000 pools", arrays, 3),
        below("their four bootstrap intervals", intervals, 3),
        below("the whole report, from pools and scores", whole, 6),
        faster(f"run and qrels as trec_eval, against ir_measures ({ours:.2f} s)", times, 1),
    ]


def _judged(scores: np.ndarray[tuple[int, int]], labels: np.ndarray[tuple[int, int]]) -> Judged:
    """The arrays as they are, and nothing computed yet."""
    return Judged(
        ids=("",) * POOLS,
        bounds=np.arange(POOLS + 1) * SIZE,
        scores=scores.ravel(),
        labels=labels.ravel(),
        documents=[],
        unranked_pool=np.empty(0, np.int64),
        unranked_label=np.empty(0, np.int64),
        absent=np.zeros(POOLS, np.bool_),
    )


if __name__ == "__main__":
    for row in run():
        print(row)
