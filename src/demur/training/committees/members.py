"""Committees out of what a net was at several moments of its training, and what else can be made of these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from demur.errors import UnknownName, UsageError
from demur.rankers.base import Ranker
from demur.rankers.ensembles.committee import HOW, Committee
from demur.rankers.match_nets.match_nets import Match
from demur.training import innermost
from demur.training.base import Reporter, Trainer, silent
from demur.training.dev_set import judges, on_dev, sole
from demur.types import FloatArray, Pool

TAKES = ("committee", "best", "last", "greedy", "average", "all")
_NO_COMMITTEE = "members are taken of a committee; start from what adversarial(take=all) makes"


@dataclass(frozen=True)
class Members(Trainer):
    """A choice among the members of a committee, such as ``adversarial(take=all)`` makes, without training.

    `take` says which are kept: ``committee``, those of every `every`-th epoch, the first and the last among
    them; ``best``, only the one that is best on dev; ``last``, only that of the last epoch; ``greedy``, in
    `rounds` turns the one that then helps the committee most on dev, perhaps several times; ``average``, one
    net whose weights are the mean of the committee's; ``all`` of them. `how` and `weights` are those of the
    ranker ``committee``. Members are compared by `measure` on a dev set, or without one by the log of their
    training.
    """

    name: ClassVar[str] = "members"
    take: str = "committee"
    every: int = 3
    how: str = "mean"
    weights: str = "dev"
    measure: str = "MAP"
    rounds: int = 15

    def __post_init__(self) -> None:
        if self.take not in TAKES:
            raise UnknownName("way to take members", self.take, TAKES)
        if self.how not in HOW:
            raise UnknownName("way to vote", self.how, HOW)
        if min(self.every, self.rounds) < 1:
            raise UsageError("every and rounds must be 1 or more")
        sole(self.measure, "measure")
        given = [part for part in self.weights.replace(";", ",").split(",") if part.strip()]
        Committee("; ".join(["length"] * max(len(given), 1)), self.how, self.weights)  # or it says why

    def counted(self, members: int) -> None:
        """Raise an error if weights are given for another number of members; 0 is an unknown number."""
        if members and self.take in ("committee", "average") and self.weights not in ("dev", "uniform"):
            Committee("; ".join(["length"] * members), self.how, self.weights)  # or it says why

    @property
    def votes(self) -> bool:
        """Whether what is taken votes; else it is one member, or the mean of their weights."""
        return self.take in ("committee", "greedy", "all")

    @property
    def one_of_votes(self) -> bool:
        """Whether it makes one net out of a committee."""
        return not self.votes

    def follows(self, before: Trainer | None) -> None:
        """Raise an error unless that trainer makes a committee."""
        made = innermost(before)
        if made is None or not made.votes:
            raise UsageError(f"{_NO_COMMITTEE}; {before.spec if before else 'the first stage'} makes none")
        if made.kept:
            self._fits(sorted(made.kept))

    def check(self, pools: Sequence[Pool], dev: Sequence[Pool] = ()) -> None:
        """Raise an error if members cannot be told apart by dev where they must be."""
        if self.take == "greedy":
            self.possible(dev, True)

    def possible(self, dev: Sequence[Pool], figures: bool) -> None:
        """Raise an error if nothing says what to take; `figures`: whether members have a figure on dev."""
        if self.take == "best" and not figures:
            what = "nobody knows which member is best: there is no dev set with right answers, or no early"
            raise UsageError(f"{what}; give them, or take another than best")
        if self.take == "greedy" and not judges(dev):
            raise UsageError("take=greedy needs a dev set with right answers")

    def train(
        self,
        pools: Sequence[Pool],
        dev: Sequence[Pool] = (),
        *,
        start: Ranker | None = None,
        checkpoints: Path | None = None,
        report: Reporter = silent,
    ) -> Ranker:
        """What is taken of the committee to start from; of the pools only dev is looked at."""
        if not isinstance(start, Committee):
            raise UsageError(_NO_COMMITTEE)
        taken = self.taken(self._judged(start, dev), dev)
        if isinstance(taken, Committee) and self.take == "committee" and report is not silent:
            for facts in grown(taken, dev, self.measure):
                report(facts)
        return taken

    def _fits(self, epochs: Sequence[int]) -> set[int]:
        """The epochs that members are wanted of, all of which must be among these."""
        wanted = sampled(max(epochs), self.every, min(epochs))
        missing = sorted(wanted - set(epochs))
        if missing and self.take in ("committee", "average"):
            what = f"the committee has members of epochs {_row(epochs)}, so none of {_row(missing)}"
            raise UsageError(f"{what}; say every={_spacing(epochs)}, or take=all")
        return wanted

    def _judged(self, of: Committee, dev: Sequence[Pool]) -> Committee:
        """The committee with what dev says of its members, if it says anything that is asked for."""
        _whole(of)
        if self.take in ("last", "greedy") or not judges(dev):
            return of
        figures = [on_dev(vote, dev, self.measure) for vote in of.votes(dev)]
        return Committee.of(of.members, of.how, of.weights, figures, of.taken)

    def taken(self, of: Committee, dev: Sequence[Pool]) -> Ranker:
        """What is taken of a committee, whose figures are known."""
        self.possible(dev, bool(of.figures))
        _whole(of)
        epochs = of.taken or list(range(len(of.members)))
        if self.take == "last":
            return of.members[int(np.argmax(epochs))]
        if self.take == "best":
            return of.members[int(np.argmax(of.figures))]
        if self.take in ("all", "greedy"):
            chosen = list(range(len(epochs)))
        else:
            wanted = self._fits(epochs)
            chosen = [place for place, epoch in enumerate(epochs) if epoch in wanted]
        weights = ", ".join(map(repr, self._greedy(of, dev))) if self.take == "greedy" else self.weights
        if self.take == "greedy":
            chosen = [place for place, weight in enumerate(weights.split(", ")) if float(weight)]
            weights = ", ".join(weight for weight in weights.split(", ") if float(weight))
        figures = [of.figures[place] for place in chosen] if of.figures else []
        members = [of.members[place] for place in chosen]
        made = Committee.of(members, self.how, weights, figures, [epochs[place] for place in chosen])
        return averaged(made) if self.take == "average" else made

    def _greedy(self, of: Committee, dev: Sequence[Pool]) -> list[float]:
        """How often each member is taken, if always the one that helps most is (Caruana et al. 2004)."""
        alike = Committee.of(of.members, self.how, "uniform")
        votes = [alike.united([vote] * len(of.members)) for vote in of.votes(dev)]  # each comparable
        counts, best = np.zeros(len(votes)), -np.inf
        sums: list[FloatArray] = [np.zeros(len(pool)) for pool in dev]
        for _ in range(self.rounds):
            tried = [
                on_dev([total + more for total, more in zip(sums, vote, strict=True)], dev, self.measure)
                for vote in votes
            ]
            place = int(np.argmax(tried))
            if tried[place] < best:
                break
            best = tried[place]
            counts[place] += 1
            sums = [total + more for total, more in zip(sums, votes[place], strict=True)]
        shares: list[float] = (counts / counts.sum()).tolist()
        return shares


def _whole(of: Committee) -> None:
    """Raise an error if what is known of a committee's members is not known of each."""
    count = len(of.members)
    for what, known in (("epochs", of.taken), ("figures on dev", of.figures)):
        if known and len(known) != count:
            fix = "give one for each, or none"
            raise UsageError(f"a committee has {count} members but {len(known)} {what}; {fix}")


def sampled(last: int, every: int, first: int = 0) -> set[int]:
    """The epochs whose nets are members: the first, every `every`-th from there, and the last."""
    return {*range(first, last + 1, every), last}


def _row(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


def _spacing(epochs: Sequence[int]) -> int:
    """The least `every` by which members of all these epochs but the best are taken."""
    first, last = min(epochs), max(epochs)
    fitting = (n for n in range(1, last - first + 1) if sampled(last, n, first) <= set(epochs))
    return next(fitting, 1)


def grown(committee: Committee, dev: Sequence[Pool], measure: str) -> Iterator[dict[str, Any]]:
    """What dev says of a committee as it was after each of the epochs that its members are from."""
    epochs = committee.taken
    if not epochs or committee.weights not in ("dev", "uniform") or not judges(dev):
        return
    votes = committee.votes(dev)
    for count, epoch in enumerate(epochs, 1):
        members, figures = committee.members[:count], committee.figures[:count]
        part = Committee.of(members, committee.how, committee.weights, figures, epochs[:count])
        yield {"epoch": epoch, "dev": on_dev(part.united(votes[:count]), dev, measure), "members": count}


def averaged(committee: Committee) -> Match:
    """One net whose weights are the weighted mean of the members'; it costs what one of them does."""
    members = committee.members
    first = members[0]
    if not isinstance(first, Match) or not all(
        isinstance(member, Match) and member.trained.shape == first.trained.shape for member in members
    ):
        raise UsageError(
            "only nets of one shape, with the same words, have weights with a mean; "
            "choose another take than average"
        )
    nets = [member.trained.network.net.state_dict() for member in members if isinstance(member, Match)]
    has = first.fresh()
    shares = committee.shares().tolist()
    mean = {
        name: tensor + sum(share * (net[name] - tensor) for net, share in zip(nets, shares, strict=True))
        for name, tensor in nets[0].items()
    }
    has.network.net.load_state_dict(mean)
    return type(first).of(has)
