"""What a scorer is made of, by name: plain enough to be sent to a worker, which makes the same one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from demur.errors import UsageError
from demur.rankers import Ranker
from demur.rankers.opening import folder_of
from demur.scale.opening import open_scorer
from demur.scoring import Scorer


@dataclass(frozen=True)
class Recipe:
    """The names of a ranker and perhaps a reader and a gate."""

    ranker: str
    reader: str | None = None
    gate: str | None = None
    facts: dict[str, str] = field(default_factory=dict)
    """The hashes that the scorer must have, if any are said."""
    prepared: Ranker | None = None
    """The ranker itself, where it has counted the words of all that is to be scored."""

    def made(self) -> Scorer:
        """The scorer, if it is the one that is meant."""
        ranker = self.prepared or self.ranker
        scorer = open_scorer(ranker, reader=self.reader, gate=self.gate)
        other = [name for name, hashed in self.facts.items() if scorer.facts.get(name) != hashed]
        if other:
            named = f"{other[0]} {getattr(self, other[0])}"
            what = f"on a worker the {named} is another one than where the job was started"
            raise UsageError(f"{what}; put the same files and the same demur on every machine")
        return scorer

    def of(self, scorer: Scorer) -> Recipe:
        """The recipe for exactly this scorer, wherever the worker has its working folder."""
        prepared = scorer.ranker if open_scorer(self.ranker).ranker.needs_preparing else None
        named = (each and _absolute(each) for each in (self.ranker, self.reader))
        ranker, reader = named
        gate = self.gate and str(Path(self.gate).absolute())
        return replace(
            self,
            ranker=ranker or self.ranker,
            reader=reader,
            gate=gate,
            facts=scorer.facts,
            prepared=prepared,
        )


def _absolute(spec: str) -> str:
    folder = folder_of(spec)
    return spec if folder is None else str(folder.absolute())
