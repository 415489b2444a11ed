"""A gate for questions asked of a library: each labelled question is asked, and what is found is judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.asking.library import AS_FOUND, Library
from demur.asking.packaged import MEANING
from demur.asking.searching import Search, candidate
from demur.data import binary
from demur.kb.read import ReadBase
from demur.rankers import Ranker
from demur.text import bare, content, tokenize
from demur.types import Candidate, FloatArray, Pool, Ranking

if TYPE_CHECKING:
    from demur.kb.base import Passages
    from demur.kb.folder import KnowledgeBase
    from demur.risk.gates.gate import Gate


_LOOKED_AT = 1_000
"""Passages that are compared with a labelled one: those that share the most words with it."""


def calibrate(
    library: Library | KnowledgeBase,
    questions: Iterable[Pool],
    risk: float = 0.10,
    confidence: float = 0.95,
    *,
    ranker: str | Ranker | None = None,
    grid: Iterable[Pool] | FloatArray | None = None,
    **settings: Any,
) -> Gate:
    """A gate for this library and ranker, or `NoThreshold` if there are too few labels or too many errors.

    Each question is asked as `ask` does; `judged_pools` says which passages are right. The settings are those
    of `demur.calibrate`.
    """
    from demur.asking.session import searching
    from demur.risk.gates.gate import calibrate as gate_of

    search = searching(library, AS_FOUND[0] if ranker is None else ranker)
    if ranker == MEANING:
        settings = {"qualifier": "top", **settings}  # its scores are chances
    others = grid if grid is None or isinstance(grid, np.ndarray) else judged_pools(search, grid)
    return gate_of(search, judged_pools(search, questions), risk, confidence, grid=others, **settings)


def judged_pools(search: Search, questions: Iterable[Pool]) -> list[Pool]:
    """For each labelled question what the search finds, labelled 1 where it is one of the right answers.

    A passage is right if it has the words of a positive candidate in it, in their order, and stands under its
    `heading` where that is told; or if it has its id, and the positive has no words or has the passage's in
    it. Words that say too little alone, such as “No.”, must be the whole passage. A question without a
    positive has no answer, so whatever is found is wrong. If nobody has judged a question's candidates, nor
    is what is found judged.
    """
    return [judged_pool(search.find(pool.question), pool) for pool in binary(questions)]


def judged_pool(ranking: Ranking, pool: Pool) -> Pool:
    """What was found for a labelled question, labelled as `judged_pools` does."""
    unknown = len(pool) > 0 and all(label is None for label in pool.labels)
    positives = _positives(pool)
    candidates = [
        replace(one, label=None if unknown else _right(one, positives), extra={**one.extra, "score": score})
        for one, score in ranking
    ]
    return Pool(pool.id, pool.question, tuple(candidates))


def not_in(library: Passages, questions: Iterable[Pool]) -> list[Pool]:
    """The labelled questions of which no right passage is in a library, whatever a search finds."""
    return [each for each in binary(questions) if each.positives and not any(_stands_in(library, each))]


def _stands_in(library: Passages, pool: Pool) -> Iterator[bool]:
    """For each right answer whether a passage is one; one whose words are all too common is taken to be."""
    for positive in _positives(pool):
        if not _bare(positive.text).strip():
            yield bool(_with_id(library, positive.id))
        elif content(tokenize(positive.text)):
            places = library.by_words(positive.text, _LOOKED_AT)[0].tolist()
            yield any(_right(candidate(library, place), [positive]) for place in places)
        else:
            yield True


def _with_id(library: Passages, id: str) -> list[int]:
    if isinstance(library, ReadBase):
        return library.places(id)
    return [place for place in range(len(library)) if library.passage(place).id == id]


def _positives(pool: Pool) -> list[Candidate]:
    return [candidate for candidate in pool.candidates if (candidate.label or 0) > 0]


def _right(passage: Candidate, positives: Sequence[Candidate]) -> int:
    text = _bare(passage.text)
    for positive in positives:
        wanted, heading = _bare(positive.text), positive.extra.get("heading")
        if heading is not None and bare(str(heading)) != bare(passage.extra["heading"]):
            continue
        if wanted.strip() and (wanted in text if content(wanted.split()) else wanted == text):
            return 1
        if passage.id == positive.id and (not wanted.strip() or text in wanted):
            return 1
    return 0


def _bare(text: str) -> str:
    """The words of a text, with a space around each: so no word is found inside another."""
    return "".join(f" {word}" for word in tokenize(text)) + " "
