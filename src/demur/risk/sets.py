"""Answer sets: as many of the best candidates as it takes to hold a correct one at a chosen rate.

Conformal risk control (Angelopoulos et al., 2024) with the loss "no correct candidate in the set". What is
promised is an average: over calibration sets and new questions drawn alike, at most 1 - level of the
questions that have a correct candidate get a set without one. Unlike a gate's promise it does not hold with
95 % confidence for this very calibration set, and it says nothing of questions without a correct candidate.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from demur.data import binary
from demur.errors import DataError, UsageError, refuse_newer
from demur.files import read_json, replacing
from demur.rankers import Ranker
from demur.rankers import ranker as resolve_ranker
from demur.risk.gates.certificate import percent
from demur.risk.gates.pool_hashes import ids_sha256
from demur.types import Candidate, FloatArray, Pool, Ranking

_FORMAT = "demur answer sets 1"


def depths(scores: Sequence[float] | FloatArray) -> FloatArray:
    """How deep each candidate lies: how many score higher, plus its gap to the best as a share of the range.

    Neither the scale of the scores nor their order matters, and equal scores lie equally deep.
    """
    given = np.asarray(scores, np.float64)
    if not len(given):
        return given
    higher = len(given) - np.searchsorted(np.sort(given), given, side="right")
    gaps, widest = given.max() - given, np.ptp(given)
    deep: FloatArray = higher + np.divide(gaps, widest, out=np.zeros_like(gaps), where=widest > 0)
    return deep


def threshold(needed: FloatArray, level: float) -> float:
    """The least depth at which enough sets hold a correct answer; infinite where no depth is proven enough.

    `needed` is, for each calibration question, the depth at which its set first holds one. The least λ is
    taken with n/(n+1) · share of misses + 1/(n+1) <= 1 - level, in exact arithmetic.
    """
    if not 0 < level < 1:
        raise UsageError(f"level={level} is not a share between 0 and 1; write 0.9 for nine sets in ten")
    allowed = math.floor((1 - Fraction(str(level))) * (len(needed) + 1)) - 1
    return float(np.sort(needed)[len(needed) - 1 - allowed]) if allowed >= 0 else math.inf


@dataclass(frozen=True)
class AnswerSets:
    """A rule that makes sets of candidates, and what it was calibrated on."""

    level: float
    threshold: float  # how deep a candidate of the set may lie; infinite: the whole pool
    ranker: str
    fingerprint: str  # of the ranker
    n: int  # calibration questions with a correct candidate
    left_out: int  # those without
    mean_size: float  # of the sets of the calibration questions
    mean_pool: float
    pools_sha256: str

    def of(self, ranking: Ranking) -> tuple[Candidate, ...]:
        """The candidates of the set, best first; those with equal scores are in together, or out together."""
        inside = depths(ranking.scores) <= self.threshold
        return tuple(c for c, wanted in zip(ranking.candidates, inside.tolist(), strict=True) if wanted)

    @property
    def promise(self) -> str:
        """What is promised, in one plain sentence."""
        if math.isinf(self.threshold):
            least = math.ceil(1 / (1 - Fraction(str(self.level)))) - 1
            return (
                f"{self.n:,} labelled questions are too few for {percent(self.level)}, so the set is all "
                f"candidates, always; calibrate with {least:,} or more."
            )
        return (
            f"On average, sets made this way hold a correct answer for at least {percent(self.level)} of "
            f"the questions that have one, if they are like the {self.n:,} labelled questions calibrated on."
        )

    @property
    def scope(self) -> tuple[str, ...]:
        """How far the promise goes, a sentence each."""
        return (
            "It is an average over many calibrations and questions; this one calibration may miss it.",
            "It is for questions drawn like those calibrated on; nothing is promised when questions, answers "
            "or their labelling change.",
            f"It is for questions that have a correct answer among their candidates; {self.left_out:,} "
            "labelled questions without one were left out.",
        )

    def check_ranker(self, ranker: Ranker) -> None:
        """Raise an error that says why if the sets were calibrated with another ranker."""
        if ranker.fingerprint == self.fingerprint:
            return
        what = f"these sets were calibrated with {self.ranker}, not with {ranker.spec}"
        if ranker.spec == self.ranker:
            what = f"these sets were calibrated with {self.ranker}, but what it learnt or counted has changed"
        raise UsageError(f"{what}; use that ranker, or calibrate again")

    def to_json(self) -> dict[str, Any]:
        """The rule as plain values; the threshold is null where the set is the whole pool."""
        threshold = None if math.isinf(self.threshold) else self.threshold
        return {"format": _FORMAT, **asdict(self), "threshold": threshold, "promise": self.promise}

    def save(self, path: str | Path) -> None:
        """Write the rule as JSON."""
        with replacing(path) as file:
            json.dump(self.to_json(), file, ensure_ascii=False, indent=2, allow_nan=False)
            file.write("\n")

    @classmethod
    def load(cls, path: str | Path) -> AnswerSets:
        """The rule that `save` wrote."""
        fix = "name a file that demur wrote for answer sets"
        told = read_json(path, fix)
        said = told.pop("format", None) if isinstance(told, dict) else None
        refuse_newer(said, _FORMAT, path)
        if said != _FORMAT:
            raise DataError(f"no {_FORMAT!r}", path=path, fix=fix)
        kinds = {field.name: field.type for field in fields(cls)}
        for name, kind in kinds.items():
            if name == "threshold" and name in told and told[name] is None:
                told[name] = math.inf
            if not isinstance(told.get(name), _KINDS[str(kind)]) or isinstance(told[name], bool):
                raise DataError(f"{name!r} is missing or no {kind}", path=path, fix=fix)
        return cls(**{name: told[name] for name in kinds})


_KINDS: dict[str, type | tuple[type, ...]] = {"str": str, "int": int, "float": (int, float)}


def answer_sets(ranker: str | Ranker, pools: Iterable[Pool], level: float = 0.9) -> AnswerSets:
    """A rule for sets that hold a correct answer at this rate, calibrated on the answerable of the pools."""
    everything = list(binary(pools))
    answerable = [pool for pool in everything if pool.positives]
    if not answerable:
        raise UsageError("no pool has a correct candidate; answer sets are calibrated on labelled questions")
    built = resolve_ranker(ranker).prepare(everything)
    deep = [depths(scores) for scores in built.score_pools(answerable)]
    right = [np.array([(label or 0) > 0 for label in pool.labels]) for pool in answerable]
    needed = np.array([each[correct].min() for each, correct in zip(deep, right, strict=True)])
    chosen = threshold(needed, level)
    return AnswerSets(
        level=level,
        threshold=chosen,
        ranker=built.spec,
        fingerprint=built.fingerprint,
        n=len(answerable),
        left_out=len(everything) - len(answerable),
        mean_size=float(np.mean([(each <= chosen).sum() for each in deep])),
        mean_pool=float(np.mean([len(pool) for pool in answerable])),
        pools_sha256=ids_sha256(answerable),
    )
