"""Questions beside entries of an FAQ, as mini learns them from a teacher: which ask the same.

An entry is another question of the data, half of them with what answers it. Nobody has labelled these, so a
teacher that compares meanings says alone which entry is near. Half of the questions have their own entry
there too, and are asked in fewer words or with typos.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from demur.data.perturbing.edits import typos
from demur.embedders.base import Embedder
from demur.reading.published import answer_of
from demur.sentences import sentences
from demur.training.readers.added_negatives import add_negatives
from demur.training.readers.mini_examples import is_reading
from demur.types import Candidate, Pool

_WITH_ANSWER, _OWN, _SLIPS = 0.5, 0.5, 0.3
_DROPPED = 0.35  # of the words at most, where a question's own entry is among the candidates


def entries(pools: Sequence[Pool], count: int, others: int, seed: int, near: Embedder) -> list[Pool]:
    """So many questions, each with `others` entries that a search would find; labels are None."""
    texts = {pool.question: pool for pool in pools}
    chosen = np.random.default_rng([seed, 5]).permutation(len(texts))[:count]
    held = list(texts.values())
    shown: dict[str, str] = {}
    for number, pool in enumerate(held):
        draws = np.random.default_rng([seed, 6, number])
        answer = _answer(pool) if draws.random() < _WITH_ANSWER else ""
        shown[pool.question] = f"{pool.question}\n{answer}" if answer else pool.question
    alone = [Pool(held[n].id, held[n].question, ()) for n in sorted(chosen.tolist())]
    found = []
    for number, pool in enumerate(add_negatives(alone, list(texts), others + 1, seed, near)):
        draws = np.random.default_rng([seed, 7, number])
        rest = [one for one in pool.candidates if one.text != pool.question][:others]
        candidates = [replace(one, text=shown[one.text]) for one in rest]
        question = pool.question
        if draws.random() < _OWN:
            candidates.append(Candidate("own", shown[pool.question]))
            question = _otherwise(question, draws)
        found.append(Pool(f"entries {pool.id}", question, tuple(candidates)))
    return [pool for pool in found if len(pool) > 1]


def _answer(pool: Pool) -> str:
    """A sentence that answers: a right candidate, or that of a passage in which the answer stands."""
    span = answer_of(pool) if is_reading(pool) else None
    if span is not None:
        text = pool.answers[0]
        held = [part for part in sentences(text) if part.start < span[1] and span[0] < part.end]
        return held[0].text if held else ""
    right = [one.text for one in pool.candidates if one.label is not None and one.label > 0]
    return right[0] if right and not is_reading(pool) else ""


def _otherwise(question: str, draws: np.random.Generator) -> str:
    """The question in fewer words, sometimes with typos."""
    words = question.split()
    kept = [word for word in words if draws.random() > draws.random() * 2 * _DROPPED]
    said = " ".join(kept) if len(kept) > 2 else question
    return typos(said, 0.1, draws) if draws.random() < _SLIPS else said
