"""Training without labels: a student learns what a teacher thinks, or which answers belong to which question.

No label of the pools is ever read. Two signals can stand in for them:

- ``teacher``: in each pool the candidates that a ranker puts first are taken as right, those it puts last as
  wrong, and those between are left out.
- ``membership``: the candidates of a pool are right for its question, and those of other pools are wrong. It
  teaches what questions and answers of this collection have to do with each other, but not which of a pool's
  candidates is best, so the student only adds to the teacher.

On the dev set of SemEval 2016 membership took the fusion of encoder and forum-prior from MAP .744 to .756
(the mean of three seeds), and learning from that teacher to .748; on WikiQA's neither gained anything.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from demur.errors import DataError, UnknownName, UsageError, count_of
from demur.rankers import Ranker, ranker
from demur.rankers.ensembles.base import standardised
from demur.rankers.ensembles.fusion import Fusion
from demur.rankers.vectors.recipe_encoder import in_floats
from demur.training import refuse_readers, seeded
from demur.training.base import Reporter, Trainer, silent
from demur.training.encoders.cached_encoder import with_kept_vectors
from demur.types import Candidate, FloatArray, Pool

SIGNALS = ("teacher", "membership", "both")


@dataclass(frozen=True)
class SelfTraining(Trainer):
    """A trainer without labels: it makes them, trains a `student` on them, and blends it with the `teacher`.

    Of each pool the share `top` is labelled right, at least one, and the share `bottom` wrong; only the share
    `confident` of pools takes part, those where the two are furthest apart. In each further round the blend
    is the teacher. By `membership` each candidate is compared with `negatives` of other pools. `blend` is the
    student's share in the resulting ranker; with 1 it is the student alone.
    """

    name: ClassVar[str] = "self"
    teacher: str = "fusion"
    student: str = "siamese(loss=pairwise, margin=0.1, early=none, epochs=1, batch=256, negatives=3)"
    signal: str = "membership"
    top: float = 0.3
    bottom: float = 0.5
    confident: float = 1.0
    negatives: int = 1
    rounds: int = 1
    blend: float = 0.25
    seed: int = 0

    def __post_init__(self) -> None:
        if self.signal not in SIGNALS:
            raise UnknownName("signal", self.signal, SIGNALS)
        shares = (self.top, self.bottom, self.confident)
        if not all(0 < share <= 1 for share in shares) or self.top + self.bottom > 1:
            raise UsageError(
                "top, bottom and confident must be shares above 0, and top and bottom at most 1 in all"
            )
        if not 0 < self.blend <= 1:
            raise UsageError(
                f"blend={self.blend} must be above 0, and at most 1, where only the student is left"
            )
        if min(self.rounds, self.negatives) < 1 or self.seed < 0:
            raise UsageError("rounds and negatives must be 1 or more, and seed 0 or more")
        refuse_readers(self.student, self.name)

    @property
    def inner(self) -> str:
        """The spec of the trainer that does the work."""
        return self.student

    @property
    def depends(self) -> str:
        """A hash of the teacher, and what the student depends on."""
        by = seeded(self.student, self.seed)
        return f"{ranker(in_floats(self.teacher)).fingerprint} {by.edition} {by.depends}"

    def follows(self, before: Trainer | None) -> None:
        """Raise an error unless the student can go on from what that trainer makes."""
        seeded(self.student, self.seed).follows(before)

    def train(
        self,
        pools: Sequence[Pool],
        dev: Sequence[Pool] = (),
        *,
        start: Ranker | None = None,
        checkpoints: Path | None = None,
        report: Reporter = silent,
    ) -> Ranker:
        """The blend of teacher and student, or the student. The labels of `dev` are not read either."""
        pools, dev = list(map(unlabelled, pools)), list(map(unlabelled, dev))
        teacher = ranker(in_floats(self.teacher)).prepare(pools)
        best, student = teacher, start
        for number in range(1, self.rounds + 1):
            made = self._labelled(best, pools), self._labelled(best, dev)
            if not made[0]:
                raise self._no_labels(len(pools))
            place = None if checkpoints is None else checkpoints / f"round-{number}"
            by = seeded(self.student, self.seed)
            student = by.train(*made, start=start, checkpoints=place, report=report)
            best = self._blended(teacher, student)
        return best

    def _blended(self, teacher: Ranker, student: Ranker) -> Ranker:
        if self.blend == 1:
            return student
        return Fusion.of([teacher, student], weights=f"{1 - self.blend:.6g}, {self.blend:.6g}")

    def _labelled(self, teacher: Ranker, pools: Sequence[Pool]) -> list[Pool]:
        """The pools with made labels, by the signal."""
        taught = [] if self.signal == "membership" else self._by_teacher(teacher, pools)
        return taught if self.signal == "teacher" else taught + self._by_membership(pools)

    def _no_labels(self, pools: int) -> DataError:
        """What to say where no label could be made."""
        if self.signal == "teacher":
            what = "no pool has candidates that the teacher tells apart, so nothing can be learnt from it"
            return DataError(what, fix="use another teacher, or signal=membership")
        what = f"of {count_of(pools, 'question')} none has candidates that another one lacks"
        return DataError(f"{what}, so nothing can be learnt from whose they are", fix="give more questions")

    def _by_teacher(self, teacher: Ranker, pools: Sequence[Pool]) -> list[Pool]:
        """The pools where the teacher tells candidates apart best, labelled by it."""
        made = []
        for pool, scores in zip(pools, with_kept_vectors(teacher).score_pools(pools), strict=True):
            labels = marked(scores, self.top, self.bottom)
            if 1 in labels and 0 in labels:
                standard = standardised(scores)
                sides = [standard[[label == side for label in labels]].mean() for side in (1, 0)]
                made.append((float(sides[0] - sides[1]), _with(pool, labels)))
        count = math.ceil(self.confident * len(made))
        least = sorted((gap for gap, _ in made), reverse=True)[:count][-1:]
        return [pool for gap, pool in made if least and gap >= least[0]]

    def _by_membership(self, pools: Sequence[Pool]) -> list[Pool]:
        """Each pool with its candidates as right, and `negatives` times as many of other pools as wrong."""
        texts = [(candidate, pool.question) for pool in pools for candidate in pool.candidates]
        made = []
        for place, pool in enumerate(pools):
            draws = np.random.default_rng([self.seed, place])
            own = set(pool.answers)
            drawn = draws.integers(0, max(len(texts), 1), self.negatives * len(pool))
            others = [texts[n][0] for n in drawn.tolist() if texts[n][1] != pool.question]
            wrong = [
                Candidate(f"other-{n}", one.text, 0) for n, one in enumerate(others) if one.text not in own
            ]
            if wrong:
                right = tuple(dataclasses.replace(candidate, label=1) for candidate in pool.candidates)
                made.append(
                    dataclasses.replace(pool, id=f"{pool.id} and others", candidates=(*right, *wrong))
                )
        return made


def unlabelled(pool: Pool) -> Pool:
    """The pool without its labels, and without anything else that could tell them."""
    bare = tuple(Candidate(candidate.id, candidate.text) for candidate in pool.candidates)
    return Pool(pool.id, pool.question, bare)


def marked(scores: FloatArray, top: float, bottom: float) -> list[int | None]:
    """1 for the share of candidates that score highest, 0 for those that score lowest, None between.

    Candidates that score alike are marked alike; where that leaves right and wrong no gap, none is.
    """
    if len(scores) < 2:
        return [None] * len(scores)
    ordered = np.sort(scores)
    right = ordered[-max(1, round(top * len(scores)))]
    wrong = ordered[max(1, round(bottom * len(scores))) - 1]
    if not wrong < right:
        return [None] * len(scores)
    return [1 if score >= right else 0 if score <= wrong else None for score in scores.tolist()]


def _with(pool: Pool, labels: Sequence[int | None]) -> Pool:
    pairs = zip(pool.candidates, labels, strict=True)
    return dataclasses.replace(
        pool, candidates=tuple(dataclasses.replace(candidate, label=label) for candidate, label in pairs)
    )
