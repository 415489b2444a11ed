"""The place of the gate: it sees the ranking and says whether the best passage may be given as the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from demur.rankers import Ranker
from demur.types import Ranking, Verdict

__all__ = ["Gate", "Verdict"]


class Gate(Protocol):
    """What `ask` expects of a gate."""

    @property
    def certificate(self) -> Mapping[str, Any]:
        """What is promised about the answers that pass, as plain values; it comes with each of them."""
        ...

    def check_ranker(self, ranker: Ranker) -> None:
        """Nothing, if the gate was calibrated for this ranker; else a refusal that says why."""
        ...

    def judge(self, ranking: Ranking) -> Verdict:
        """The verdict on a ranking of at least one passage, all that the ranker scored."""
        ...
