"""What every ranker is: write `score` or `score_pools`, and ranking comes free."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from demur.errors import UsageError, count_of
from demur.specs import Spelled
from demur.types import Candidate, FloatArray, Pool, Ranking, texts_of


@runtime_checkable
class HasFiles(Protocol):
    """A ranker that is more than its spec: saved, it writes files; of others only the spec is written."""

    def save_into(self, folder: Path) -> str:
        """The spec that builds it from the files that now lie in the folder."""
        ...


@runtime_checkable
class InFolder(Protocol):
    """A ranker whose model lies in a folder of ours; empty if it lies in none yet."""

    @property
    def folder(self) -> str:
        """The path."""
        ...


def checked(ranker: Ranker, scores: object, answers: int) -> FloatArray:
    """The scores that a ranker gave as an array, or an error if they are not one number for each answer."""
    try:
        found = np.asarray(scores, np.float64)
    except (TypeError, ValueError):
        found = np.full((), np.nan)
    if found.shape != (answers,):
        what = f"{type(ranker).__name__} gave {_shown(scores, found)} for {count_of(answers, 'answer')}"
        raise UsageError(f"{what}; its score must return one number for each")
    return found


def sound(ranker: Ranker, scores: object, answers: int) -> FloatArray:
    """The same where nobody looks at the scores after: an error too if one is not a number."""
    found = checked(ranker, scores, answers)
    if np.isnan(found).any():
        raise UsageError(f"{type(ranker).__name__} gave a score that is not a number; look at its score")
    return found


def _shown(scores: object, found: FloatArray) -> str:
    if found.ndim == 1:
        return count_of(len(found), "score")
    return f"an array of the shape {found.shape}" if found.ndim else f"{type(scores).__name__}, no scores"


class Ranker(Spelled, ABC):
    """A frozen dataclass whose fields are its settings. Higher is better; inputs are never changed."""

    tolerance: ClassVar[float] = 1e-9
    """How far a score may move when its pool is scored together with others: networks round by batch."""

    alone: ClassVar[bool] = False
    """Whether a score depends on its question and answer alone, not on the others of the pool."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.score is Ranker.score and cls.score_pools is Ranker.score_pools:
            raise TypeError(f"{cls.__name__} must define score or score_pools")

    def score(self, question: str, answers: Sequence[str]) -> FloatArray:
        """One score per answer."""
        return self.score_pools([Pool.of(question, answers)])[0]

    def score_pools(self, pools: Sequence[Pool]) -> list[FloatArray]:
        """One array of scores per pool; override it where pools are cheaper together."""
        return [checked(self, self.score(pool.question, pool.answers), len(pool)) for pool in pools]

    def prepare(self, pools: Iterable[Pool]) -> Self:
        """The ranker as it will score these pools: itself, unless it needs their statistics first."""
        return self

    @property
    def needs_preparing(self) -> bool:
        """Whether `prepare` must see the pools before they are scored."""
        return False

    def save(self, folder: str | Path, made: Mapping[str, Any] | None = None) -> None:
        """Write the ranker as a folder, which `demur.open` reads; `made` tells how it came about."""
        from demur.rankers.opening import save

        save(self, folder, made)

    def rank(self, question: str, answers: Iterable[str | Candidate]) -> Ranking:
        """The answers, best first; equal scores keep their order."""
        candidates = [
            answer if isinstance(answer, Candidate) else Candidate(str(number), answer)
            for number, answer in enumerate(texts_of(answers, (str, Candidate)))
        ]
        if not isinstance(question, str):
            raise UsageError(f"the question is {type(question).__name__}, not a text; write a string")
        scores = self.score_pools([Pool("q", question, tuple(candidates))])[0]
        scores = sound(self, scores, len(candidates))
        order = np.argsort(-scores, kind="stable")
        return Ranking(question, tuple(candidates[i] for i in order), tuple(float(scores[i]) for i in order))
