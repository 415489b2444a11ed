"""The place of the gate: it sees the ranking and says whether the best passage may be given as the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from demur.types import Ranking


class Verdict(NamedTuple):
    """How sure the gate is of the best passage, and why it refuses; an empty refusal lets the answer pass."""

    confidence: float
    refusal: str = ""


class Gate(Protocol):
    """What `ask` expects of a gate."""

    @property
    def certificate(self) -> Mapping[str, Any]:
        """What is promised about the answers that pass, as plain values; it comes with each of them."""
        ...

    def judge(self, ranking: Ranking) -> Verdict:
        """The verdict on a ranking of at least one passage, all that the ranker scored."""
        ...
