"""Committees of what one trainer makes: from several seeds, or at several moments of going on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from demur.errors import UnknownName, UsageError
from demur.rankers.base import Ranker
from demur.rankers.ensembles.committee import Committee
from demur.training import seeded
from demur.training.base import Reporter, Trainer, silent
from demur.training.committees.members import Members, averaged
from demur.training.dev_set import judges, on_dev, sole
from demur.types import Pool

OF = ("seeds", "snapshots")
APART = 1000  # from the seed of a member to that of the next: no two of them share one


@dataclass(frozen=True)
class Ensemble(Trainer):
    """Rankers that vote, all by one trainer, `by`: `count` of them.

    `of`: ``seeds``, each is trained from scratch with another seed; ``snapshots``, each continues from the
    one before, its learning rate high again at first (Huang et al. 2017), so that 3 snapshots of one epoch
    cost what one ranker of 3 epochs does. `take`, `how` and `weights` are those of the trainer ``members``,
    and each member's figure on dev is by `measure`.
    """

    name: ClassVar[str] = "ensemble"
    by: str = "cross-encoder"
    of: str = "seeds"
    count: int = 3
    take: str = "committee"
    how: str = "mean"
    weights: str = "dev"
    measure: str = "MAP"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.of not in OF:
            raise UnknownName("way to make members", self.of, OF)
        if self.count < 1 or self.seed < 0:
            raise UsageError("count must be 1 or more, and seed 0 or more")
        sole(self.measure, "measure")
        self._members()
        if seeded(self.by, self.seed).reads:
            what = f"{self.by} makes readers, and those do not vote on candidates"
            raise UsageError(f"{what}; a reader's doubt may ask several: averaged")
        if self.take in ("committee", "all", "average"):  # of all members, so the weights can be counted now
            figures = ", ".join(["1"] * self.count)
            Committee("; ".join(["length"] * self.count), self.how, self.weights, figures)

    @property
    def inner(self) -> str:
        """The spec of the trainer that does the work."""
        return self.by

    @property
    def votes(self) -> bool:
        """Whether it makes a committee; else one ranker."""
        return self._members().votes

    def follows(self, before: Trainer | None) -> None:
        """Raise an error unless the members' trainer can go on from what that one makes."""
        by = seeded(self.by, self.seed)
        by.follows(before)
        if self.of == "snapshots" and self.count > 1:
            by.follows(by)

    @property
    def depends(self) -> str:
        """What the trainer of the members depends on."""
        by = seeded(self.by, self.seed)
        return f"{by.edition} {by.depends}"

    def sees(self, pool: Pool) -> list[Any]:
        """What of a pool the members depend on."""
        return seeded(self.by, self.seed).sees(pool)

    def check(self, pools: Sequence[Pool], dev: Sequence[Pool] = ()) -> None:
        """Raise an error if nobody could say what is to be taken in the end, or no member could be made."""
        self._members().possible(dev, judges(dev))
        seeded(self.by, self.seed).check(pools, dev)

    def train(
        self,
        pools: Sequence[Pool],
        dev: Sequence[Pool] = (),
        *,
        start: Ranker | None = None,
        checkpoints: Path | None = None,
        report: Reporter = silent,
    ) -> Ranker:
        """What `take` says of the members, each of which these pools teach."""
        self.check(pools, dev)  # known before hours are spent
        members: list[Ranker] = []
        figures: list[float] = []
        for number in range(1, self.count + 1):

            def told(facts: dict[str, Any], number: int = number) -> None:
                report({**facts, "member": number})

            by = seeded(self.by, self.seed + APART * (number - 1))
            begun = members[-1] if members and self.of == "snapshots" else start
            members.append(by.train(pools, dev, start=begun, checkpoints=checkpoints, report=told))
            if self.take == "average":
                averaged(Committee.of(members[:1]))  # or it says why, before the others are made
            facts: dict[str, Any] = {"epoch": number, "epochs": self.count}
            if judges(dev):
                figures.append(on_dev(members[-1], dev, self.measure))
                facts["dev"] = figures[-1]
            report(facts)
        every = Committee.of(members, self.how, "uniform", figures, range(1, self.count + 1))
        return self._members().taken(every, dev)

    def _members(self) -> Members:
        return Members(self.take, 1, self.how, self.weights, self.measure)
