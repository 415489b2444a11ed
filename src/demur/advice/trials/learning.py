"""The learning curve of a trained method on a user's own labels, measured within the time that is left."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from demur.advice.methods import Method
from demur.advice.trials.curves import Curve, nested
from demur.advice.trials.trying import FEWEST, Trying, folds, inner, is_informative
from demur.errors import DemurError
from demur.evaluation import Judged, convention, measured, parse_measures
from demur.training.encoders.cached_encoder import with_kept_vectors
from demur.types import FloatArray, Pool

REPEATS = 5
_HELD_OUT = 4  # one pool in so many is only judged


def curve(trying: Trying, method: Method, without: Sequence[FloatArray], seconds: float) -> Curve | None:
    """The gains of a method over scores made without labels; None where there is no time or too few pools.

    In each repeat a quarter of the pools is held out, and the method learns from nested parts of the others.
    The first repeat shows how long one takes; there are as many as then fit.
    """
    pools = [pool for pool in trying.labelled if is_informative(pool)]
    if len(pools) < 3 * FEWEST:
        return None
    baseline = dict(zip((pool.id for pool in trying.labelled), without, strict=True))
    sizes = nested(len(pools) - -(-len(pools) // _HELD_OUT))
    until = min(trying.clock() + seconds, trying.deadline)
    rows: list[FloatArray] = []
    for repeat in range(REPEATS):
        begun = trying.clock()
        part = folds(pools, _HELD_OUT, trying.seed + 100 + repeat)
        test = [pool for pool, of in zip(pools, part.tolist(), strict=True) if of == 0]
        rest = [pool for pool, of in zip(pools, part.tolist(), strict=True) if of != 0]
        order = np.random.default_rng([trying.seed, repeat]).permutation(len(rest))
        before = _values([baseline[pool.id] for pool in test], test)
        columns = []
        for size in sizes:
            if trying.clock() > until:
                return _curve(sizes, rows)
            chosen = [rest[place] for place in order[:size].tolist()]
            try:
                taught = method.learn(*inner(chosen, trying.seed), trying.seed + repeat)
            except DemurError:  # so few that nothing can be learnt
                return _curve(sizes, rows)
            columns.append(_values(with_kept_vectors(taught).score_pools(test), test) - before)
        rows.append(np.stack(columns, axis=1))
        trying.say(f"learning curve of {method.name}: repeat {repeat + 1} of {REPEATS}")
        if trying.clock() + (trying.clock() - begun) > until:
            break
    return _curve(sizes, rows)


def _curve(sizes: Sequence[int], rows: Sequence[FloatArray]) -> Curve | None:
    return Curve(tuple(sizes), np.concatenate(rows)) if rows else None


def _values(scores: Sequence[FloatArray], pools: Sequence[Pool]) -> FloatArray:
    judged = Judged.of_pools(pools, scores)
    return measured(judged, parse_measures("MAP"), convention("fixed"))["MAP"]
