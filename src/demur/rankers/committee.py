"""Several rankers that vote, above all one net at several moments of its training (Gupta and Carvalho)."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from demur.errors import UnknownName, UsageError
from demur.rankers.base import Ranker
from demur.rankers.fusion import named, standardised
from demur.rankers.match_nets import Match
from demur.rankers.voting import votes
from demur.rankers.word_numbers import VECTORS
from demur.specs import Spec, listed
from demur.types import FloatArray, Pool

HOW = ("mean", "zscore", "rank")
_NOISE = 100  # times a ranker's tolerance: what is spread less than that is hardly more than rounding


@dataclass(frozen=True)
class Committee(Ranker):
    """The weighted mean of the scores of its members, given by specs or folders: ``"member-1; member-2"``.

    `how`: ``mean`` of scores as they are, for members of one kind; of ``zscore`` or ``rank`` within each
    pool, for members of any. `weights` are ``dev``, each member's figure in `dev` (all alike, if there are
    none); ``uniform``; or numbers parted by commas. `epochs` says when the members were taken. Members are
    read when they are first asked, and those of one shape read texts together. Equal ones score as one does.
    """

    name: ClassVar[str] = "committee"
    rankers: str = ""
    how: str = "mean"
    weights: str = "dev"
    dev: str = ""
    epochs: str = ""
    folder: str = ""
    _held: tuple[Ranker, ...] = field(default=(), init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.how not in HOW:
            raise UnknownName("way to vote", self.how, HOW)
        if not listed(self.rankers):
            raise UsageError('a committee needs members, such as rankers="folder-1; folder-2"')
        _ = self.shares(), self.figures, self.taken  # or they say what is wrong

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
        specs = "; ".join(["length"] * len(members))
        made = cls(specs, how, weights, ", ".join(map(repr, dev)), ", ".join(map(str, epochs)))
        object.__setattr__(made, "rankers", "; ".join(member.spec for member in members))
        return made.holding(members)

    def holding(self, members: Sequence[Ranker]) -> Self:
        """The same committee with other members in the place of those of its specs."""
        other = copy.copy(self)
        object.__setattr__(other, "_held", tuple(members))  # a field that no caller may set
        return other

    @property
    def members(self) -> tuple[Ranker, ...]:
        """The rankers; read when first asked for."""
        if not self._held:
            found = tuple(named(spec, self.folder) for spec in listed(self.rankers))
            object.__setattr__(self, "_held", found)
        return self._held

    @property
    def figures(self) -> list[float]:
        """What each member reached on dev, if it is known."""
        return _numbers(self.dev, "dev")

    @property
    def taken(self) -> list[int]:
        """After how many epochs each member was taken, if it is known."""
        numbers = _numbers(self.epochs, "epochs")
        if not all(number.is_integer() and number >= 0 for number in numbers):
            raise UsageError(f'epochs="{self.epochs}" of a committee must be whole numbers such as "0, 3, 6"')
        return [int(number) for number in numbers]

    def shares(self) -> FloatArray:
        """What share each member has in a score."""
        count = len(listed(self.rankers))
        given = {"dev": self.figures or [1.0] * count, "uniform": [1.0] * count}
        shares = np.array(given.get(self.weights) or _numbers(self.weights, "weights"), np.float64)
        if len(shares) != count:
            what = f"a committee has {count} members but {len(shares)} weights"
            raise UsageError(f"{what}; give one for each")
        if not np.isfinite(shares).all() or (shares < 0).any():
            raise UsageError("weights of a committee must be finite numbers, none of them below 0")
        return shares / shares.sum() if shares.sum() else np.full(count, 1 / count)

    @property
    def tolerance(self) -> float:  # type: ignore[override]  # known when the members are
        """The largest of the members'; within a pool, small moves of scores may be large ones of ranks."""
        return max(Ranker.tolerance, *(member.tolerance for member in self.members))

    @property
    def alone(self) -> bool:  # type: ignore[override]  # known when the members are
        """Whether a score hangs on its own pair alone."""
        return self.how == "mean" and all(member.alone for member in self.members)

    @property
    def needs_preparing(self) -> bool:
        """Whether one of the members must see the pools first."""
        return any(member.needs_preparing for member in self.members)

    def prepare(self, pools: Iterable[Pool]) -> Self:
        """The committee with each of its members prepared."""
        if not self.needs_preparing:
            return self
        known = pools if isinstance(pools, Sequence) else list(pools)
        return self.holding([member.prepare(known) for member in self.members])

    def votes(self, pools: Sequence[Pool]) -> list[list[FloatArray]]:
        """Each member's own scores; those of nets of one shape come of one pass over the texts."""
        return votes(self.members, pools)

    def score_pools(self, pools: Sequence[Pool]) -> list[FloatArray]:
        """One array of scores per pool."""
        return self.united(self.votes(pools))

    def united(self, votes: Sequence[Sequence[FloatArray]]) -> list[FloatArray]:
        """The committee's scores, of what its members gave."""
        found = []
        for each in zip(*votes, strict=True):
            parts = [
                self._comparable(scores, member.tolerance)
                for scores, member in zip(each, self.members, strict=True)
            ]
            total = parts[0].copy()
            for part, share in zip(parts[1:], self.shares()[1:].tolist(), strict=True):
                total += share * (part - parts[0])  # so that equal parts make the same again, exactly
            found.append(total)
        return found

    def _comparable(self, scores: FloatArray, tolerance: float) -> FloatArray:
        """Scores of one member in one pool, as they can be added to another's."""
        if self.how == "zscore":
            return standardised(scores, _NOISE * tolerance)
        if self.how == "mean":
            return np.asarray(scores, np.float64)
        ordered = np.sort(scores)  # the share of the others that are beaten; an equal one counts half
        below, to = np.searchsorted(ordered, scores), np.searchsorted(ordered, scores, "right")
        return np.asarray((below + (to - below - 1) / 2) / max(len(scores) - 1, 1), np.float64)

    def save_into(self, folder: Path) -> str:
        """The spec of the committee; what its members learnt now lies in folders of this one."""
        from demur.rankers.opening import save

        specs = []
        vectors: dict[str, tuple[Path, int]] = {}  # files of words that lie there, and when they were written
        for number, member in enumerate(self.members, 1):
            if hasattr(member, "save_into"):
                place = folder / f"member-{number}"
                known = member.trained.words.fingerprint if isinstance(member, Match) else ""
                if isinstance(member, Match) and known in vectors:
                    member = member.linked(vectors[known])  # the same, with less to write
                save(member, place, {})
                if known and (place / VECTORS).is_file():
                    vectors.setdefault(known, (place / VECTORS, (place / VECTORS).stat().st_mtime_ns))
                specs.append(place.name)
            elif named(member.spec).fingerprint == member.fingerprint:
                specs.append(member.spec)
            else:
                what = f"{member.spec} was prepared for some texts, which its settings do not say"
                raise UsageError(f"{what}, so the committee cannot be saved; save it before it is prepared")
        said: dict[str, Any] = {"rankers": "; ".join(specs), "how": self.how, "weights": self.weights}
        return str(Spec(self.name, {**said, "dev": self.dev, "epochs": self.epochs}))

    @property
    def fingerprint(self) -> str:
        """A hash of the settings and of all members, wherever they lie."""
        parts = [f"{self.name} {self.how} {self.shares().tolist()}"]
        parts += [member.fingerprint for member in self.members]
        return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:16]


def _numbers(text: str, what: str) -> list[float]:
    try:
        return [float(part) for part in text.replace(";", ",").split(",") if part.strip()]
    except ValueError:
        raise UsageError(f'{what}="{text}" of a committee are not numbers such as "1, 0.5"') from None
