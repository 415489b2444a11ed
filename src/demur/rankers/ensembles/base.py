"""What rankers made of others share: members by specs or folders, scores made comparable, weights.

- ``mean``: scores as they are.
- ``zscore``: how many standard deviations a score lies above the mean of its pool.
- ``rank``: the share of the other candidates that are beaten; an equal one counts half.
- ``rrf``: reciprocal ranks, 1 / (k + rank) (Cormack et al. 2009); equal scores share what their ranks get.

Where all candidates of a pool score alike, or there is only one, ``zscore`` gives 0. Nothing depends on the
order of candidates.
"""

from __future__ import annotations

import copy
import hashlib
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from demur.errors import UnknownName, UsageError
from demur.rankers import opening
from demur.rankers.base import HasFiles, Ranker
from demur.rankers.match_nets.match_nets import Match
from demur.rankers.match_nets.word_numbers import VECTORS
from demur.specs import Setting, Spec, listed, members_of
from demur.store import is_model
from demur.types import FloatArray, Pool

_NOISE = 100  # times a ranker's tolerance: what is spread less than that is hardly more than rounding


class Ensemble(Ranker):
    """Several rankers as one. Subclasses are frozen dataclasses with the fields that are named here."""

    ways: ClassVar[tuple[str, ...]]
    """How scores may be made comparable."""
    called: ClassVar[str]
    """What a member is called, as in the names of folders."""
    rankers: str
    how: str
    weights: str
    k: int
    folder: str
    _held: tuple[Ranker, ...]

    def __post_init__(self) -> None:
        if self.how not in self.ways:
            raise UnknownName("way to combine", self.how, self.ways)
        if not members_of(self.rankers):
            raise UsageError(f'{self.name} needs {self.called}s, such as rankers="folder-1; bm25"')
        self.shares()  # or it says what is wrong

    @classmethod
    def _made_of(cls, members: Sequence[Ranker], **settings: Setting) -> Self:
        """The ensemble of rankers that are there already, such as some that were just trained."""
        made = cls(**{"rankers": "; ".join(["length"] * len(members)), **settings})
        object.__setattr__(made, "rankers", "; ".join(member.spec for member in members))
        return made.holding(members)

    def holding(self, members: Sequence[Ranker]) -> Self:
        """The same with other members, such as prepared ones, in place of those of its specs."""
        other = copy.copy(self)
        object.__setattr__(other, "_held", tuple(members))  # a field that no caller may set
        return other

    @property
    def parts(self) -> Sequence[Ranker]:
        """Its members."""
        return self.members

    @property
    def members(self) -> tuple[Ranker, ...]:
        """The rankers; read when first asked for."""
        if not self._held:
            found = tuple(resolve_member(spec, self.folder) for spec in listed(self.rankers))
            object.__setattr__(self, "_held", found)
        return self._held

    def _given(self, count: int) -> list[float]:
        """The weights as they are given, one for each of so many members."""
        return self._numbers("weights", self.weights) or [1.0] * count

    def shares(self) -> FloatArray:
        """What share each member has in a score."""
        count = len(listed(self.rankers))
        given = np.array(self._given(count), np.float64)
        if len(given) != count:
            what = f"{self.name} has {count} {self.called}s but {len(given)} weights"
            raise UsageError(f"{what}; give one for each")
        if not np.isfinite(given).all():
            raise UsageError(f'weights="{self.weights}" of {self.name} must be finite numbers')
        total = float(np.abs(given).sum())
        return given / total if total else np.full(count, 1 / count)

    def _numbers(self, setting: str, text: str) -> list[float]:
        """The numbers that a setting lists."""
        try:
            return [float(part) for part in text.replace(";", ",").split(",") if part.strip()]
        except ValueError:
            what = f'{setting}="{text}" of {self.name} must be numbers such as "1, 0.5"'
            raise UsageError(what) from None

    @property
    def tolerance(self) -> float:  # type: ignore[override]  # known when the members are
        """The largest of the members'; within a pool, small moves of scores may be large ones of ranks."""
        return max(Ranker.tolerance, *(member.tolerance for member in self.members))

    @property
    def alone(self) -> bool:  # type: ignore[override]  # known when the members are
        """Whether a score depends on its own pair alone."""
        return self.how == "mean" and all(member.alone for member in self.members)

    @property
    def needs_preparing(self) -> bool:
        """Whether one of the members must see the pools first."""
        return any(member.needs_preparing for member in self.members)

    def prepare(self, pools: Iterable[Pool]) -> Self:
        """The same with each of its members prepared."""
        if not self.needs_preparing:
            return self
        known = pools if isinstance(pools, Sequence) else list(pools)
        return self.holding([member.prepare(known) for member in self.members])

    @abstractmethod
    def score_pools(self, pools: Sequence[Pool]) -> list[FloatArray]:
        """One array of scores per pool."""

    def comparable(self, scores: FloatArray, member: Ranker) -> FloatArray:
        """Scores of a member in one pool, as they can be added to another's."""
        if self.how == "mean":
            return np.asarray(scores, np.float64)
        if self.how == "zscore":
            return standardised(scores, _NOISE * member.tolerance)
        _, place, equal = np.unique(-scores, return_inverse=True, return_counts=True)
        through = np.cumsum(equal)  # of each distinct score, best first: the last rank that has it
        if self.how == "rank":
            beaten = len(scores) - through + (equal - 1) / 2
            return np.asarray((beaten / max(len(scores) - 1, 1))[place], np.float64)
        sums = np.concatenate([[0.0], np.cumsum(1 / (self.k + 1 + np.arange(len(scores))))])
        return np.asarray(((sums[through] - sums[through - equal]) / equal)[place], np.float64)

    def save_into(self, folder: Path) -> str:
        """The spec of the ensemble; what its members learnt, if anything, now lies in folders of this one."""
        specs = []
        vectors: dict[str, tuple[Path, int]] = {}  # files of words that lie there, and when they were written
        for number, member in enumerate(self.members, 1):
            place, words = folder / f"{self.called}-{number}", ""
            if isinstance(member, Match):
                words = member.trained.words.fingerprint
                if words in vectors:
                    member = member.linked(vectors[words])  # the same, with less to write
            if isinstance(member, HasFiles):
                opening.save(member, place, {})
                if words and (place / VECTORS).is_file():
                    vectors.setdefault(words, (place / VECTORS, (place / VECTORS).stat().st_mtime_ns))
                specs.append(place.name)
            elif resolve_member(member.spec).fingerprint == member.fingerprint:
                specs.append(member.spec)
            else:
                what = f"{member.spec} was prepared for some texts, which its settings do not say"
                raise UsageError(f"{what}, so the {self.name} cannot be saved; save it before it is prepared")
        return str(Spec(self.name, {"rankers": "; ".join(specs), **self._kept}))

    @property
    def _kept(self) -> dict[str, Setting]:
        """The settings that are saved, but for the members."""
        return {"how": self.how, "weights": self.weights}

    def _hashed(self, own: str) -> str:
        """A hash of some settings and of all members, wherever they lie."""
        parts = [own, *(member.fingerprint for member in self.members)]
        return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:16]


def resolve_member(spec: str, folder: str = "") -> Ranker:
    """The ranker that a spec or folder names; relative folders of models are looked for in `folder` first."""
    if folder and is_model(Path(folder) / spec):
        return opening.open_model(Path(folder) / spec)
    return opening.ranker(spec)


def standardised(scores: FloatArray, minimum_spread: float = 0.0) -> FloatArray:
    """How many standard deviations each score is above the mean; a spread far below the minimum is none."""
    if len(scores) == 0 or scores.min() == scores.max():
        return np.zeros(len(scores))
    centred = scores - np.sort(scores).mean()  # sorted: sums in another order differ in their last digits
    spread = np.sqrt(np.sort(centred**2).mean())
    return np.asarray(centred / np.hypot(spread, minimum_spread), np.float64)
