"""Pools scored by a ranker, with a confidence for each, and what must be right with their labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from demur.errors import UsageError, count_of
from demur.rankers import Ranker
from demur.rankers import ranker as resolve_ranker
from demur.risk.predictions import BoolArray, Predictions
from demur.risk.qualifiers.base import Qualifier
from demur.scoring import shards
from demur.types import FloatArray, Pool, check_label


def settled(ranker: Ranker | str, pools: Sequence[Pool]) -> Ranker:
    """The ranker, ready to score; one that would change with the pools it scores is refused."""
    found = resolve_ranker(ranker)
    if not found.needs_preparing:
        return found
    ready = found.prepare(())
    if ready.fingerprint != found.prepare(pools[:1]).fingerprint:
        raise UsageError(
            f"{found.spec} takes its statistics from the pools it scores, so on other pools it is another "
            "ranker and a gate cannot speak for it; take them from a file, or prepare the ranker beforehand"
        )
    return ready


def scored(ranker: Ranker, pools: Sequence[Pool], on_batch: Callable[[int], None]) -> list[FloatArray]:
    """One array of scores per pool, reported on as they come."""
    scores: list[FloatArray] = []
    for shard in shards(pools):
        scores += ranker.score_pools(shard)
        on_batch(sum(len(pool) for pool in shard))
    return scores


def judge_answers(
    ranker: Ranker,
    pools: Sequence[Pool],
    how: Qualifier,
    on_batch: Callable[[int], None] = lambda pairs: None,
) -> tuple[Predictions, BoolArray]:
    """The ranker's answers with their confidence, and which of them somebody has judged; others are wrong."""
    scores = scored(ranker, pools, on_batch)
    seen = [
        len(pool) == 0 or pool.candidates[int(np.argmax(each))].label is not None
        for pool, each in zip(pools, scores, strict=True)
    ]
    return Predictions.of_pools(pools, scores, how.confidence(pools, scores)), np.array(seen, np.bool_)


def check_labels(pools: Sequence[Pool]) -> None:
    """Raise an error that says the one thing that is most wrong with these pools and their labels, if any."""
    if not pools:
        raise UsageError("there are no pools to calibrate on; a gate is made from labelled questions")
    name, times = Counter(pool.id for pool in pools).most_common(1)[0]
    if times > 1:
        raise UsageError(
            f"{times} pools have the id {name!r}; a question counts once, so give each pool its own id"
        )
    if not any(len(pool) for pool in pools):
        raise UsageError(
            "none of these pools has a candidate, so there is nothing to answer with; "
            "give each question its candidates"
        )
    for pool in pools:
        for each in pool.labels:
            check_label(each)
    these = count_of(len(pools), "pool")
    if all(label is None for pool in pools for label in pool.labels):
        raise UsageError(f"no candidate of {these} has a label; a gate needs labels for candidates")
    if not any(pool.positives for pool in pools):
        raise UsageError(
            f"no candidate of {these} is labelled as right, so every answer is wrong; "
            "check the labels: 1 is right, 0 is wrong"
        )


def check_seen(pools: Sequence[Pool], seen: BoolArray) -> None:
    """Raise an error if a top candidate has no label; the others' labels do not matter."""
    if not seen.all():
        raise UsageError(
            f"in {int((~seen).sum()):,} of {count_of(len(pools), 'pool')} the candidate that comes first has "
            f"no label, such as in {pools[int(np.argmin(seen))].id!r}; label it 1 or 0, or leave the pool out"
        )


def finite(values: FloatArray) -> FloatArray:
    """The values with infinity as the largest number, which JSON can hold; their order stays."""
    largest = np.finfo(np.float64).max
    return np.asarray(values, np.float64).clip(-largest, largest)
