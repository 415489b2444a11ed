"""Methods tried on labelled pools: scored out of fold, so that no model is judged by what it learnt."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from demur.advice.methods import Method
from demur.errors import DemurError
from demur.rankers import Ranker
from demur.training.encoders.cached_encoder import with_kept_vectors
from demur.types import FloatArray, Pool

FEWEST = 8
"""Pools with a right and a wrong answer, below which labels tell too little about methods."""
_SAMPLE = 8  # pools on which a cost is estimated
_INNER = 5  # one pool in so many stops training early
_PARTED = 10  # informative pools, below which all are learnt from
_TEXTS = 64  # of them show how quickly texts are embedded
_TAUGHT = 60_000  # texts, about, that a method learns from that has data of its own
_SAFETY = 1.2  # estimates are stretched by this

Say = Callable[[str], None]
WhyNot = Callable[[Method], str]
"""Why a method need not be tried, after those that were; nothing where it may win."""


@dataclass(frozen=True, eq=False)
class Trial:
    """What became of a method: its scores of each labelled pool, or why there are none."""

    method: Method
    scores: list[FloatArray] = field(default_factory=list)
    models: list[Ranker] = field(default_factory=list)  # one that does not learn from labels, or one per fold
    train_seconds: float = 0.0  # of one model, on all but one fold
    skipped: str = ""


@dataclass(eq=False)
class Trying:
    """Labelled pools in folds, and the time that is left to try methods on them."""

    pools: Sequence[Pool]
    labelled: Sequence[Pool]
    deadline: float
    folds: int = 5
    seed: int = 0
    clock: Callable[[], float] = time.monotonic
    say: Say = lambda line: None
    trials: list[Trial] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.fold_of = folds(self.labelled, self.folds, self.seed)

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return self.deadline - self.clock()

    def run(self, methods: Sequence[Method], why_not: WhyNot = lambda method: "") -> list[Trial]:
        """A trial of each method that fits into the time and may win, in this order."""
        self.trials = []
        for method in methods:
            try:
                why = why_not(method)
                trial = Trial(method, skipped=why) if why else self._tried(method)
            except DemurError as error:
                trial = Trial(method, skipped=str(error))
            self.say(f"{method.name}: {trial.skipped or 'tried'}")
            self.trials.append(trial)
        return self.trials

    def _tried(self, method: Method) -> Trial:
        if twin := self._trained_alike(method):
            models = [method.with_beside(model, self.pools) for model in twin.models]
            return self._judged(method, models, twin.train_seconds)
        estimate = self._estimate(method)
        if estimate > self.left:
            if self.left <= 0:
                return Trial(method, skipped="no time was left")
            needed = f"{'about ' * bool(np.isfinite(estimate))}{plain(estimate)}"
            return Trial(method, skipped=f"needs {needed}, and {plain(self.left)} are left")
        started = self.clock()
        models = []
        for number in range(self.folds if method.labels else 1):
            models.append(method.learn(*self._learnt_from(method, number), self.seed))
        return self._judged(method, models, (self.clock() - started) / len(models) if method.trains else 0.0)

    def _trained_alike(self, method: Method) -> Trial | None:
        """A trial whose models need only be put beside another ranker."""
        for trial in self.trials:
            same = trial.method.spec == method.spec and trial.method.trains and not trial.method.beside
            if same and method.beside and trial.models:
                return trial
        return None

    def _judged(self, method: Method, models: list[Ranker], train_seconds: float) -> Trial:
        """The trial with the scores that the models give to pools they have not learnt from."""
        scores: list[FloatArray] = [np.empty(0)] * len(self.labelled)
        for number, model in enumerate(models):
            places = (
                np.arange(len(self.labelled)) if len(models) == 1 else np.flatnonzero(self.fold_of == number)
            )
            found = with_kept_vectors(model).score_pools([self.labelled[place] for place in places.tolist()])
            for place, each in zip(places.tolist(), found, strict=True):
                scores[place] = each
        return Trial(method, scores, models, train_seconds)

    def _learnt_from(self, method: Method, fold: int) -> tuple[Sequence[Pool], Sequence[Pool]]:
        """What a method learns from, and what stops it early: the labelled pools of all other folds.

        Where labels are not read, all pools take part, the scored ones too.
        """
        if not method.labels:
            return self.pools, ()
        others = [pool for pool, of in zip(self.labelled, self.fold_of.tolist(), strict=True) if of != fold]
        return inner(others, self.seed)

    def _estimate(self, method: Method) -> float:
        """The seconds the whole trial would take, from a few pools; the first go loads what is needed."""
        if self.left <= 0:
            return float("inf")
        if method.data:
            return self._elsewhere(method)
        few = self._few(method)
        learnt_from = self._learnt_from(method, 0)[0]
        begun = self.clock()
        method.learn(few[: max(2, len(few) // 2)], (), self.seed)
        if self.clock() - begun > self.left:
            return float("inf")
        begun = self.clock()
        model = method.learn(few, (), self.seed)
        learnt = (self.clock() - begun) / max(len(few), 1) * len(learnt_from) if method.trains else 0.0
        scorer = with_kept_vectors(model)
        scorer.score_pools(few[:1])
        begun = self.clock()
        scorer.score_pools(few)
        scored = (self.clock() - begun) * _pairs(self.labelled) / max(_pairs(few), 1)
        return _SAFETY * (learnt * (self.folds if method.labels else 1) + scored)

    def _elsewhere(self, method: Method) -> float:
        """The seconds that it takes to embed what a method learns from; learning itself takes no time then.

        Where that was done before nothing is embedded again, so this may be too much.
        """
        from demur import training
        from demur.embedders import embedder

        texts = [text for pool in self.labelled[:_SAMPLE] for text in (pool.question, *pool.answers)][:_TEXTS]
        taught_by: Any = training.trainer(method.spec)
        makes = embedder(taught_by.features)
        makes.embed(texts[:1])
        begun = self.clock()
        makes.embed(texts)
        return _SAFETY * (self.clock() - begun) / len(texts) * _TAUGHT

    def _few(self, method: Method) -> list[Pool]:
        """Other pools at each call, as those that were embedded before say nothing about the rest."""
        known = [pool for pool in self.labelled if is_informative(pool) or not method.labels]
        known.sort(key=lambda pool: random_key(pool.question, self.seed))
        start = _SAMPLE * len(self.trials) % len(known)
        return [*known[start:], *known[:start]][:_SAMPLE]


def plain(seconds: float) -> str:
    """A time as people say it."""
    if not np.isfinite(seconds):
        return "more time than there is"
    return f"{seconds / 60:.1f} minutes" if seconds >= 90 else f"{max(seconds, 0):.0f} seconds"


def is_labelled(pool: Pool) -> bool:
    """Whether somebody has judged a candidate of the pool; the others then count as wrong, as in evaluate."""
    return any(label is not None for label in pool.labels)


def is_informative(pool: Pool) -> bool:
    """Whether the pool has a right and a wrong answer, so that rankings of it can be better or worse."""
    return 0 < pool.positives < len(pool)


def folds(pools: Sequence[Pool], count: int, seed: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The fold of each pool: equal questions share one, and those that tell something are spread evenly."""
    questions: dict[str, bool] = {}
    for pool in pools:
        questions[pool.question] = questions.get(pool.question, False) or is_informative(pool)
    ordered = sorted(questions, key=lambda question: (not questions[question], random_key(question, seed)))
    fold = {question: place % count for place, question in enumerate(ordered)}
    return np.array([fold[pool.question] for pool in pools], np.int64)


def inner(pools: Sequence[Pool], seed: int) -> tuple[list[Pool], list[Pool]]:
    """Pools to learn from, and a fifth of them to stop by; none where that would leave too few."""
    if sum(map(is_informative, pools)) < _PARTED:
        return list(pools), []
    part = folds(pools, _INNER, seed + 1)
    pairs = list(zip(pools, part.tolist(), strict=True))
    return [pool for pool, of in pairs if of], [pool for pool, of in pairs if not of]


def drawn(pools: Sequence[Pool], count: int, seed: int) -> Sequence[Pool]:
    """All pools, or so many of them drawn by chance, in their order."""
    if len(pools) <= count:
        return pools
    kept = sorted(range(len(pools)), key=lambda place: random_key(pools[place].id, seed))[:count]
    return [pools[place] for place in sorted(kept)]


def random_key(text: str, seed: int) -> bytes:
    """What orders texts by chance, whatever their order was."""
    return hashlib.blake2b(f"{seed} {text}".encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _pairs(pools: Sequence[Pool]) -> int:
    return sum(len(pool) for pool in pools)
