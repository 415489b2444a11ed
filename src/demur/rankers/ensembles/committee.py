"""Several rankers that vote, above all one net at several moments of its training (Gupta and Carvalho)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Self

from demur.errors import UsageError
from demur.rankers.base import Ranker
from demur.rankers.ensembles.base import Ensemble
from demur.rankers.match_nets import onnx_match
from demur.rankers.match_nets.match_nets import Match, score_together
from demur.rankers.match_nets.onnx_match import OnnxMatch
from demur.specs import Setting
from demur.types import FloatArray, Pool

HOW = ("mean", "zscore", "rank")


@dataclass(frozen=True)
class Committee(Ensemble):
    """The weighted mean of the scores of its members, given by specs or folders: ``"member-1; member-2"``.

    `how`: ``mean`` of scores as they are, for members of one kind; of ``zscore`` or ``rank`` within each
    pool, for members of any. `weights` are ``dev`` (each member's figure in `dev`, or all alike if there are
    none), ``uniform``, or numbers separated by commas. `epochs` says after which epochs of training the
    members were saved. They are loaded at first use, and those of one shape read texts together. Members
    that are equal score as one of them does.
    """

    name: ClassVar[str] = "committee"
    ways: ClassVar[tuple[str, ...]] = HOW
    called: ClassVar[str] = "member"
    rankers: str = ""
    how: str = "mean"
    weights: str = "dev"
    dev: str = ""
    epochs: str = ""
    folder: str = ""
    _held: tuple[Ranker, ...] = field(default=(), init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.figures, self.taken  # or they say what is wrong

    @classmethod
    def of(
        cls,
        members: Sequence[Ranker],
        how: str = "mean",
        weights: str = "dev",
        dev: Sequence[float] = (),
        epochs: Sequence[int] = (),
    ) -> Self:
        """The committee of rankers that are there already."""
        said = {"dev": ", ".join(map(repr, dev)), "epochs": ", ".join(map(str, epochs))}
        return cls._made_of(members, how=how, weights=weights, **said)

    @property
    def _kept(self) -> dict[str, Setting]:
        return {**super()._kept, "dev": self.dev, "epochs": self.epochs}

    @property
    def figures(self) -> list[float]:
        """What each member reached on dev, if it is known."""
        return self._numbers("dev", self.dev)

    @property
    def taken(self) -> list[int]:
        """After how many epochs each member was taken, if it is known."""
        numbers = self._numbers("epochs", self.epochs)
        if not all(number.is_integer() and number >= 0 for number in numbers):
            raise UsageError(f'epochs="{self.epochs}" of a committee must be whole numbers such as "0, 3, 6"')
        return [int(number) for number in numbers]

    def _given(self, count: int) -> list[float]:
        if self.weights == "uniform":
            return [1.0] * count
        given = (self.figures or [1.0] * count) if self.weights == "dev" else super()._given(count)
        if any(weight < 0 for weight in given):
            raise UsageError(f'weights="{self.weights}" of a committee must not be below 0')
        return given

    def votes(self, pools: Sequence[Pool]) -> list[list[FloatArray]]:
        """Each member's own scores; those of nets of one shape come of one pass over the texts."""
        found: dict[int, list[FloatArray]] = {}
        for number, member in enumerate(self.members):
            if number in found:
                continue
            places = [place for place, other in enumerate(self.members) if _alike(member, other)]
            if not places:
                found[number] = member.score_pools(pools)
                continue
            together = _together([self.members[place] for place in places], pools)
            found |= dict(zip(places, together, strict=True))
        return [found[number] for number in range(len(self.members))]

    def score_pools(self, pools: Sequence[Pool]) -> list[FloatArray]:
        """One array of scores per pool."""
        return self.united(self.votes(pools))

    def united(self, votes: Sequence[Sequence[FloatArray]]) -> list[FloatArray]:
        """The committee's scores, of what its members gave."""
        shares, found = self.shares().tolist(), []
        for each in zip(*votes, strict=True):
            parts = [self.comparable(*pair) for pair in zip(each, self.members, strict=True)]
            total = parts[0].copy()
            for part, share in zip(parts[1:], shares[1:], strict=True):
                total += share * (part - parts[0])  # so that equal parts make the same again, exactly
            found.append(total)
        return found

    @property
    def fingerprint(self) -> str:
        """A hash of the settings and of all members, wherever they lie."""
        return self._hashed(f"{self.name} {self.how} {self.shares().tolist()}")


def _alike(one: Ranker, other: Ranker) -> bool:
    """Whether the two are nets that can read texts together."""
    if isinstance(one, Match) and isinstance(other, Match):
        return one.trained.shape == other.trained.shape
    return isinstance(one, OnnxMatch) and isinstance(other, OnnxMatch) and one.shape == other.shape


def _together(members: Sequence[Ranker], pools: Sequence[Pool]) -> list[list[FloatArray]]:
    exported = [member for member in members if isinstance(member, OnnxMatch)]
    if exported:
        return onnx_match.score_together(exported, pools)
    return score_together([member for member in members if isinstance(member, Match)], pools)
