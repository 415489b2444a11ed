"""Probes as they are used: two vectors a layer, and the picture that they draw of a window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

States = Sequence[NDArray[np.float32]]
"""Of each layer of a reader, positions × width."""
Picture = NDArray[np.float32]
"""Positions × 2 × layers: how probable each layer holds a position to be the start, and the end."""


@dataclass(frozen=True, eq=False)
class Probes:
    """Of each layer two vectors, width × 2: for the start and for the end of an answer."""

    weights: tuple[NDArray[np.float32], ...]


def drawn(scores: States) -> Picture:
    """The picture of what probes make of a window: of each layer, positions × 2."""
    found = np.stack(scores, axis=2)  # positions × 2 × layers
    odds = np.exp(found - found.max(axis=0))
    return np.asarray(odds / odds.sum(axis=0), np.float32)
