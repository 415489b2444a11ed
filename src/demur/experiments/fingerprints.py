"""Hashes of pools."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from demur.types import Pool


def fingerprint(pools: Sequence[Pool]) -> str:
    """A hash of everything in some pools that a ranker or a measure can see."""
    digest = hashlib.sha256()
    for pool in pools:
        row = [pool.id, pool.question, [[c.id, c.text, c.label] for c in pool.candidates]]
        digest.update(json.dumps(row).encode())
    return digest.hexdigest()[:16]
