"""What trainers ask of labels and of a dev set, and the name under which a checkpoint is found again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from demur.data import binary
from demur.errors import UsageError
from demur.evaluation import evaluate, parse_measures
from demur.rankers.base import Ranker
from demur.types import FloatArray, Pool


def on_dev(of: Ranker | Sequence[FloatArray], dev: Sequence[Pool], measure: str) -> float:
    """The mean of a measure over pools: of a ranker, or of scores."""
    return next(iter(evaluate(of, dev, measure).measures.values())).mean


NEVER = "", "none"
"""What `early` says where nothing is looked at."""
FALLING = {"AUGRC", "AURC", "E-AURC", "Risk"}
"""Measures of what goes wrong: less of them is better."""


def sole(measures: str, setting: str = "early") -> None:
    """Raise an error if what a setting names cannot say what is best: the highest of one measure."""
    found = parse_measures(measures)
    if len(found) != 1:
        raise UsageError(f"{setting}={measures!r} must be one measure to go by, such as MAP")
    if found[0].name in FALLING:
        what = f"{setting}={measures} is the less the better, and the most is taken for the best"
        raise UsageError(f"{what}; go by MAP, P@1 or AUROC")


def judges(dev: Iterable[Pool]) -> bool:
    """Whether these pools can say how good a ranker is: one at least has a right answer."""
    return any(pool.positives for pool in binary(dev))


def right_or_wrong(pools: Sequence[Pool]) -> Sequence[Pool]:
    """The pools with the labels 0 and 1; the same if they are."""
    found = binary(pools)
    return found if isinstance(found, Sequence) else list(found)


def has_both(pools: Iterable[Pool]) -> bool:
    """Whether one at least has both a right answer and one that was judged wrong."""
    labels = (pool.labels for pool in pools if pool.positives)
    return any(each is not None and each <= 0 for some in labels for each in some)


def checkpoint_name(said: str, pools: Iterable[Pool]) -> str:
    """A hash of what is said and of all that is learnt from, so that no checkpoint is taken for another's."""
    digest = hashlib.sha256(said.encode())
    for pool in pools:
        digest.update(repr((pool.question, pool.answers, pool.labels)).encode())
    return digest.hexdigest()[:16]
