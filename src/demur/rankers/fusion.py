"""Several rankers as one: their scores are made comparable within each pool, weighed and averaged.

- ``zscore``: how many standard deviations a score lies above the mean of its pool.
- ``rrf``: reciprocal ranks, 1 / (k + rank) (Cormack et al. 2009); equal scores share what their ranks get.
- ``rank``: the share of the other candidates that are beaten; an equal one counts half.

Where all candidates of a pool score alike, or there is only one, ``zscore`` gives 0. Nothing depends on the
order of candidates.
"""

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
from demur.specs import listed
from demur.store import is_model
from demur.types import FloatArray, Pool

RANKERS, WEIGHTS = "bm25(stem=english); encoder", "1, 4"
"""What is fused if nothing is said; the weights were the best of 1:1, 1:2, 1:3 and 1:4 on three dev sets."""
HOW = ("zscore", "rrf", "rank")
_NOISE = 100  # times a ranker's tolerance: what is spread less than that is hardly more than rounding


@dataclass(frozen=True)
class Fusion(Ranker):
    """The weighted mean of several rankers, given by specs or folders of models: ``"bm25; encoder"``.

    `weights` are numbers parted by commas, one for each ranker; without them all count alike. Bare, it is
    bm25 and the encoder, which counts four times. Folders are looked for in `folder`, where there is one.
    """

    name: ClassVar[str] = "fusion"
    unsaid: ClassVar[dict[str, str]] = {"rankers": RANKERS}  # what results of a bare one hang on, too
    rankers: str = ""
    how: str = "zscore"
    weights: str = ""
    k: int = 60
    folder: str = ""
    members: tuple[Ranker, ...] = field(default=(), init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.how not in HOW:
            raise UnknownName("way to fuse", self.how, HOW)
        if self.k < 0:
            raise UsageError(f"k={self.k} of fusion must be 0 or more; 60 is usual")
        if not self.rankers:
            object.__setattr__(self, "rankers", RANKERS)  # said in full, so that the spec says it
            object.__setattr__(self, "weights", self.weights or WEIGHTS)
        specs = listed(self.rankers)
        if not specs:
            raise UsageError(f'fusion needs rankers, such as rankers="{RANKERS}"')
        self._hold(tuple(named(spec, self.folder) for spec in specs))
        self._shares(len(specs))

    @classmethod
    def of(cls, members: Sequence[Ranker], how: str = "zscore", weights: str = "", k: int = 60) -> Self:
        """The fusion of rankers that are there already, such as some that were just trained."""
        made = cls("; ".join(["length"] * len(members)), how, weights, k)
        object.__setattr__(made, "rankers", "; ".join(member.spec for member in members))
        return made.holding(tuple(members))

    def holding(self, members: tuple[Ranker, ...]) -> Self:
        """The same fusion of other rankers: of prepared ones, say, in the place of those of its specs."""
        other = copy.copy(self)
        other._hold(members)
        return other

    def _hold(self, members: tuple[Ranker, ...]) -> None:
        object.__setattr__(self, "members", members)  # fields that no caller may set
        object.__setattr__(self, "tolerance", max([Ranker.tolerance, *(each.tolerance for each in members)]))

    def _shares(self, count: int) -> FloatArray:
        """What share each ranker has in a score."""
        if not self.weights.strip():
            return np.full(count, 1 / count)
        try:
            given = np.array([float(part) for part in self.weights.replace(";", ",").split(",")])
        except ValueError:
            raise UsageError(f'weights="{self.weights}" of fusion are not numbers such as "1, 0.5"') from None
        if len(given) != count:
            raise UsageError(f"fusion has {count} rankers but {len(given)} weights; give one for each")
        if not np.isfinite(given).all() or not np.abs(given).sum() > 0:
            raise UsageError(f'weights="{self.weights}" of fusion must be finite numbers, and not all be 0')
        return np.asarray(given / np.abs(given).sum())

    @property
    def needs_preparing(self) -> bool:
        """Whether one of the rankers must see the pools first."""
        return any(member.needs_preparing for member in self.members)

    def prepare(self, pools: Iterable[Pool]) -> Self:
        """The fusion with each of its rankers prepared."""
        if not self.needs_preparing:
            return self
        known = pools if isinstance(pools, Sequence) else list(pools)
        return self.holding(tuple(member.prepare(known) for member in self.members))

    def score_pools(self, pools: Sequence[Pool]) -> list[FloatArray]:
        """One array of scores per pool."""
        fused = [np.zeros(len(pool)) for pool in pools]
        for member, share in zip(self.members, self._shares(len(self.members)).tolist(), strict=True):
            for total, scores in zip(fused, member.score_pools(pools), strict=True):
                total += share * self._comparable(scores, member.tolerance)
        return fused

    def _comparable(self, scores: FloatArray, tolerance: float) -> FloatArray:
        """Scores of one ranker in one pool, as they can be added to another's."""
        if self.how == "zscore":
            return standardised(scores, _NOISE * tolerance)
        _, place, equal = np.unique(-scores, return_inverse=True, return_counts=True)
        through = np.cumsum(equal)  # of each distinct score, best first: the last rank that has it
        if self.how == "rank":
            beaten = len(scores) - through + (equal - 1) / 2
            return np.asarray((beaten / max(len(scores) - 1, 1))[place], np.float64)
        sums = np.concatenate([[0.0], np.cumsum(1 / (self.k + 1 + np.arange(len(scores))))])
        return np.asarray(((sums[through] - sums[through - equal]) / equal)[place], np.float64)

    def save_into(self, folder: Path) -> str:
        """The spec of the fusion; what its rankers learnt, if anything, now lies in folders of this one."""
        from demur.rankers.opening import save

        specs = []
        for number, member in enumerate(self.members, 1):
            if hasattr(member, "save_into"):
                save(member, folder / f"ranker-{number}", {})
                specs.append(f"ranker-{number}")
            elif named(member.spec).fingerprint == member.fingerprint:
                specs.append(member.spec)
            else:
                what = f"{member.spec} was prepared for some texts, which its settings do not say"
                raise UsageError(f"{what}, so the fusion cannot be saved; save it before it is prepared")
        settings: dict[str, Any] = {"rankers": "; ".join(specs), "how": self.how, "k": self.k}
        return _spelled({**settings, "weights": self.weights})

    @property
    def fingerprint(self) -> str:
        """A hash of the settings and of all rankers, wherever they lie."""
        own = f"{self.name} {self.how} {self.weights} {self.k}"
        parts = [own, *(member.fingerprint for member in self.members)]
        return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:16]


def named(spec: str, folder: str = "") -> Ranker:
    """The ranker that a spec or folder names; relative folders of models are looked for in `folder` first."""
    from demur.rankers import opening

    if folder and is_model(Path(folder) / spec):
        return opening.open_model(Path(folder) / spec)
    return opening.ranker(spec)


def standardised(scores: FloatArray, least: float = 0.0) -> FloatArray:
    """How many standard deviations each score is above the mean; a spread far below `least` is none."""
    if len(scores) == 0 or scores.min() == scores.max():
        return np.zeros(len(scores))
    centred = scores - np.sort(scores).mean()  # sorted: sums in another order differ in their last digits
    spread = np.sqrt(np.sort(centred**2).mean())
    return np.asarray(centred / np.hypot(spread, least), np.float64)


def _spelled(settings: dict[str, Any]) -> str:
    from demur.specs import Spec

    return str(Spec(Fusion.name, settings))
