"""How good answers to SQuAD's questions are, as its two official scripts have it.

They differ in one thing: of golds that say nothing once they are normalised, such as "The", the script of
1.1 has EM 1 and F1 0 for an answer that says nothing too; that of 2.0 leaves such golds out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demur.errors import UsageError
from demur.reading.normalise import normalise, overlap
from demur.reading.published import golds
from demur.types import FloatArray, Pool

VERSIONS = ("1.1", "2.0")


@dataclass(frozen=True, eq=False)
class Scores:
    """Per question: exact match, F1 of words, whether there is an answer, and whether one was given."""

    exact: FloatArray
    f1: FloatArray
    answerable: NDArray[np.bool_]
    answered: NDArray[np.bool_]


@dataclass(frozen=True)
class Best:
    """The highest mean that a threshold on how likely no answer is comes to, and the lowest such threshold.

    Answers at or below it stand; -inf lets none stand. It is chosen on the questions that it is measured on,
    so new ones go worse.
    """

    mean: float
    threshold: float


def version_of(pools: Sequence[Pool]) -> str:
    """2.0 where some question has no answer, else 1.1."""
    return "1.1" if all(golds(pool) for pool in pools) else "2.0"


def score(pools: Sequence[Pool], answers: Sequence[str], version: str = "2.0") -> Scores:
    """The scores of one answer to each question; an empty one says that there is none."""
    if version not in VERSIONS:
        raise UsageError(f"version {version!r} of SQuAD's script is not known; use 1.1 or 2.0")
    if len(pools) != len(answers):
        raise UsageError(f"{len(answers):,} answers to {len(pools):,} questions; give one to each")
    right = [golds(pool) for pool in pools]
    marks = [_marks(said, listed, version) for said, listed in zip(answers, right, strict=True)]
    table = np.array(marks, np.float64).reshape(-1, 2)
    return Scores(
        table[:, 0],
        table[:, 1],
        np.array(list(map(bool, right)), bool),
        np.array([*map(bool, answers)], bool),
    )


def _marks(said: str, listed: Sequence[str], version: str) -> tuple[float, float]:
    """EM and F1 with the gold that is best for each."""
    if version == "2.0":
        listed = [gold for gold in listed if normalise(gold)] or [""]
        return float(normalise(said) in map(normalise, listed)), max(overlap(said, gold) for gold in listed)
    exact = normalise(said) in map(normalise, listed)
    shared = (overlap(said, gold) for gold in listed if normalise(gold))
    return float(exact), max(shared, default=0.0)


def best(values: FloatArray, found: Scores, null_odds: ArrayLike) -> Best:
    """The threshold on `null_odds` with the highest mean of some values, `exact` or `f1`.

    The answers are those given if none is withheld. Questions with equal odds are withheld together, which
    the official script does not see to: it may choose a threshold that gives another mean than it says.
    """
    odds = np.asarray(null_odds, np.float64)
    if odds.shape != values.shape:
        raise UsageError(f"{len(odds):,} odds for {len(values):,} questions; give one for each")
    withheld = (~found.answerable).astype(np.float64)
    order = np.argsort(odds, kind="stable")
    ends = np.flatnonzero(np.diff(odds[order], append=np.inf) > 0)  # where another value begins
    sums = withheld.sum() + np.cumsum((np.where(found.answered, values, withheld) - withheld)[order])[ends]
    means = np.concatenate([[withheld.sum()], sums]) / max(len(odds), 1)
    place = int(np.argmax(means > means.max() - 1e-12))  # of equal ones the first
    return Best(float(means[place]), float(odds[order][ends[place - 1]]) if place else float("-inf"))
