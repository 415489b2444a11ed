"""Which questions to label next: those that stand for many, and whose labels rankers cannot foresee.

A question's weight is how unsure the rankers are of it (they disagree about which candidate is best, or
the best two are close) times how likely it has an answer at all (how well its best candidate scores beside
those of other questions): a question without one teaches little. The questions are taken one by one, each
the one that most raises how well the weighted questions are covered by the most similar of those taken
or labelled before (facility location, taken greedily).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from demur.advice.methods import installed
from demur.advice.trials.trying import is_labelled, random_key
from demur.rankers import Ranker, ranker
from demur.rankers.ensembles.base import standardised
from demur.rankers.ensembles.fusion import Fusion
from demur.text import content, tokenize
from demur.types import FloatArray, Pool

_MOST = 4_000  # questions to choose from: each is compared with each
_FLOOR = 0.1  # of a question's weight: no question is worth nothing
_WIDTH = 512  # of a question's vector, where there is no encoder


@dataclass(frozen=True)
class Suggestion:
    """A question to label; how unsure the rankers are, and how likely it has an answer, from 0 to 1."""

    id: str
    question: str
    unsure: float
    likely: float


def suggest(pools: Sequence[Pool], count: int, seed: int = 0) -> list[Suggestion]:
    """So many of the unlabelled questions, those whose labels would help most first.

    Pools with fewer than two candidates, and questions that stand there twice, are asked about once at most.
    """
    done = {pool.question: pool for pool in reversed(pools) if is_labelled(pool)}
    open_ = {p.question: p for p in reversed(pools) if len(p) > 1 and p.question not in done}
    known, labelled = (
        sorted(some.values(), key=lambda pool: random_key(pool.question, seed))[:_MOST]
        for some in (open_, done)
    )
    if not known or count < 1:
        return []
    doubts, chances = weights(known)
    found = vectors([*known, *labelled])
    order = covering(
        found[: len(known)], _FLOOR + (1 - _FLOOR) * doubts * chances, count, found[len(known) :]
    )
    return [
        Suggestion(known[n].id, known[n].question, round(float(doubts[n]), 4), round(float(chances[n]), 4))
        for n in order
    ]


def weights(pools: Sequence[Pool]) -> tuple[FloatArray, FloatArray]:
    """How unsure the rankers are of each pool, and how likely it has an answer beside the others: 0 to 1."""
    members = [each.prepare(pools) for each in _rankers()]
    scored = [member.score_pools(pools) for member in members]
    fused = Fusion.of(members).score_pools(pools)
    close = 1 - _ranks([np.diff(np.sort(standardised(each))[-2:])[0] for each in fused])
    apart = np.array([_disagreement([each[place] for each in scored]) for place in range(len(pools))])
    return np.asarray((close + apart) / 2), _ranks([each.max() for each in scored[-1]])


def best_of(
    questions: Sequence[str],
    scores: Sequence[FloatArray],
    done: Sequence[str] = (),
    embed: Callable[[Sequence[str]], Any] | None = None,
) -> int:
    """The place of the question to label first, where one search alone has scored what it found for each.

    It is the rule of `suggest`; the search is unsure where its best two are close. `done` are labelled.
    """
    leads = [float(np.diff(np.sort(each)[-2:])[0]) if len(each) > 1 else 0.0 for each in scores]
    likely = _ranks([float(each.max()) if len(each) else 0.0 for each in scores])
    found = _of_length_1(np.asarray((embed or _of_words)([*questions, *done]), np.float64))
    heavy = _FLOOR + (1 - _FLOOR) * (1 - _ranks(leads)) * likely
    return covering(found[: len(questions)], heavy, 1, found[len(questions) :])[0]


def _ranks(values: Sequence[float]) -> FloatArray:
    """The share of the others that each value is above of; equal ones count half."""
    found = np.array(values, np.float64)
    ordered = np.sort(found)
    below, through = (np.searchsorted(ordered, found, side) for side in ("left", "right"))
    return np.asarray((below + through - 1) / 2 / max(len(found) - 1, 1), np.float64)


def _rankers() -> list[Ranker]:
    """Two rankers that see different things; the last says how likely an answer is."""
    lexical = ranker("bm25(stem=english)")
    return [lexical, ranker("encoder")] if installed("encoder") else [lexical, ranker("overlap")]


def _disagreement(scores: Sequence[FloatArray]) -> float:
    """From 0, where all put the same candidate first, to 1, where what one puts first others put last."""
    opinions = [each for each in scores if np.ptp(each) > 0]
    lost = [
        float((other.max() - other[one == one.max()]).mean() / np.ptp(other))
        for one in opinions
        for other in opinions
        if other is not one
    ]
    return float(np.mean(lost)) if lost else 0.0


def vectors(pools: Sequence[Pool]) -> FloatArray:
    """One vector of length 1 for each question: an encoder's, or of its words where none is installed."""
    questions = [pool.question for pool in pools]
    if installed("encoder"):
        from demur.embedders import embedder

        found = np.asarray(embedder("encoder").embed(questions), np.float64)
    else:
        found = _of_words(questions)
    return _of_length_1(found)


def _of_length_1(found: FloatArray) -> FloatArray:
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    return np.asarray(np.divide(found, lengths, out=np.zeros_like(found), where=lengths > 0))


def _of_words(texts: Sequence[str]) -> FloatArray:
    """Counts of content words, rare ones the heavier, folded into few columns by a hash."""
    words = [sorted(set(content(tokenize(text)))) for text in texts]
    having: dict[str, int] = {}
    for each in words:
        for word in each:
            having[word] = having.get(word, 0) + 1
    found = np.zeros((len(texts), _WIDTH))
    for row, each in enumerate(words):
        for word in each:
            number = int.from_bytes(random_key(word, 0), "big")
            found[row, number % _WIDTH] += (1 if number >> 63 else -1) * np.log(len(texts) / having[word] + 1)
    return found


def covering(
    found: FloatArray, weights: FloatArray, count: int, before: FloatArray | None = None
) -> list[int]:
    """The rows that cover the weighted rows best, taken greedily: each adds the most to what others cover.

    The rows `before` have been taken already, elsewhere.
    """
    alike = np.maximum(found @ found.T, 0).astype(np.float32)
    np.fill_diagonal(alike, 1)  # a row of zeros still stands for itself
    heavy = weights.astype(np.float32)
    covered = np.zeros(len(found), np.float32)
    if before is not None and len(before):
        covered = np.maximum(found @ before.T, 0).max(axis=1).astype(np.float32)
    taken: list[int] = []
    free = np.ones(len(found), np.bool_)
    for _ in range(min(count, len(found))):
        gains = (np.maximum(alike - covered[None, :], 0) @ heavy) if len(found) else np.zeros(0)
        gains[~free] = -1
        best = int(np.argmax(gains))
        taken.append(best)
        free[best] = False
        covered = np.maximum(covered, alike[best])
    return taken
