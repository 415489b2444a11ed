"""What decides whether the first passage is the answer: a gate, or a least chance."""

from __future__ import annotations

from dataclasses import dataclass

from demur.asking.gates.gate import Gate, least_of
from demur.asking.meaning.ranker import LEAST


@dataclass(frozen=True)
class Rule:
    """What decides whether the first passage is the answer."""

    gate: Gate | None = None
    least: float = LEAST
    """The chance below which nothing is answered where no gate judges."""

    def set_aside(self) -> Rule:
        """Without its promise, but no less careful."""
        return self if self.gate is None else Rule(None, max(LEAST, least_of(self.gate)))
