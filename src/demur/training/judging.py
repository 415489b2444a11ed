"""What trainers ask of a dev set, and the name under which a checkpoint is found again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from demur.errors import UsageError
from demur.evaluation import evaluate, parse_measures
from demur.rankers.base import Ranker
from demur.types import FloatArray, Pool


def on_dev(of: Ranker | Sequence[FloatArray], dev: Sequence[Pool], measure: str) -> float:
    """The mean of a measure over pools: of a ranker, or of scores."""
    return next(iter(evaluate(of, dev, measure).measures.values())).mean


def sole(measures: str, setting: str = "early") -> None:
    """An error that says so, if a setting that means one measure names several."""
    if len(parse_measures(measures)) > 1:
        raise UsageError(f"{setting}={measures!r} names several measures; name the one to go by")


def judges(dev: Iterable[Pool]) -> bool:
    """Whether these pools can say how good a ranker is: one at least has a right answer."""
    return any(pool.positives for pool in dev)


def checkpoint_name(said: str, pools: Iterable[Pool]) -> str:
    """A hash of what is said and of all that is learnt from, so that no checkpoint is taken for another's."""
    digest = hashlib.sha256(said.encode())
    for pool in pools:
        digest.update(repr((pool.question, pool.answers, pool.labels)).encode())
    return digest.hexdigest()[:16]
