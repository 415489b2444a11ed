"""Confidence in a ranker's top candidate from the small model that comes with demur, or another like it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from demur.errors import UsageError
from demur.reading.one_pass import OnePassReader
from demur.reading.opening import reader as resolve_reader
from demur.risk.qualifiers.base import Qualifier
from demur.risk.qualifiers.scored import Scored
from demur.specs import Spec
from demur.types import FloatArray, Pool


@dataclass(frozen=True)
class MiniQualifier(Qualifier):
    """The confidence of mini that the top candidate answers and its quote is right; for any ranker.

    `folder` holds another mini than the one that comes with demur.
    """

    name: ClassVar[str] = "mini"
    tolerance: ClassVar[float] = 1e-4
    """By how much a number may change with what else is looked at at the same time."""
    folder: str = ""
    of: str = ""
    """A hash of the model, which a gate keeps: when it changes, the gate must be made anew."""

    @property
    def spec(self) -> str:
        """The spelling that builds this again, with the hash of what it asks."""
        return str(
            Spec(self.name, {"folder": self.folder, "of": self.of or _opened(self.folder).fingerprint})
        )

    def confidence_of(self, pools: Sequence[Pool], scored: Scored) -> FloatArray:
        """The confidence in each top candidate; of equally good ones, the least."""
        mini = _opened(self.folder)
        if self.of not in ("", mini.fingerprint):
            what = f"the model in {self.folder}" if self.folder else "the model that comes with demur"
            raise UsageError(f"{what} has changed; calibrate the gate again")
        tops = np.flatnonzero(scored.below == 0)
        whose = np.repeat(np.arange(len(pools)), scored.sizes)[tops]
        inside = scored.order[tops] - scored.first[whose]
        pairs = [
            (pools[pool].question, pools[pool].candidates[at].text)
            for pool, at in zip(whose.tolist(), inside.tolist(), strict=True)
        ]
        found = np.full(len(scored.scores), -np.inf)
        found[scored.order[tops]] = [look.confidence for look in mini.looks(pairs)]
        return scored.of_top(found)


@lru_cache(maxsize=2)
def _opened(folder: str) -> OnePassReader:
    found = resolve_reader(folder or "mini")
    if not isinstance(found, OnePassReader):
        raise UsageError(f"{folder} holds a {found.name}, not a mini; name the folder of one")
    return found
