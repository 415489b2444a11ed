"""An order in which things with near vectors stand together, another one with each draw."""

from __future__ import annotations

import numpy as np

from demur.types import FloatArray, IntArray

_LEAF = 8  # things that are near enough


def near_together(vectors: FloatArray, order: IntArray, draws: np.random.Generator) -> IntArray:
    """The places in `order`, split in halves by directions that are drawn, again and again.

    A direction is that between two things of the part that is split.
    """
    found: list[IntArray] = []
    waiting = [np.asarray(order)]
    while waiting:
        part = waiting.pop()
        if len(part) <= _LEAF:
            found.append(part)
            continue
        one, other = part[draws.permutation(len(part))[:2]]
        along = vectors[part] @ (vectors[one] - vectors[other])
        ranked = part[np.argsort(along, kind="stable")]
        waiting += [ranked[len(part) // 2 :], ranked[: len(part) // 2]]
    return np.concatenate(found) if found else np.asarray(order)
