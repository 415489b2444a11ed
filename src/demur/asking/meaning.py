"""What `ask` does by words and by meaning: found, the likeliest read by mini, ranked by their chance."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from demur.asking import chance, packaged
from demur.asking.finding import find, maker
from demur.asking.reading import Look, looks
from demur.asking.searching import DEPTH, Search, candidate, with_look
from demur.rankers import Ranker
from demur.rankers import ranker as named
from demur.specs import Setting, Spec
from demur.types import FloatArray, Ranking

if TYPE_CHECKING:
    from demur.asking.gate import Gate
    from demur.kb.base import Passages

MEANING = "meaning"
"""In place of a ranker: passages are found by words and by meaning, and ranked by their chance."""
READ = 12
"""Passages that the network reads: the likeliest of those that were found."""
LEAST = 0.5
"""Without a gate, nothing less likely than not is an answer."""


@dataclass(frozen=True)
class ByMeaning(Search):
    """Passages that are found by words or by meaning, ranked by the chance that each is right."""

    name: ClassVar[str] = Search.name
    read: int = READ

    def find(self, question: str, depth: int = DEPTH) -> Ranking:
        """The likeliest passages; a score is a chance, and `chance` in a candidate's extra says of what."""
        found = find(self.library, question, depth)
        if not len(found.places):
            return Ranking(question, (), ())
        candidates = [candidate(self.library, place) for place in found.places.tolist()]
        chances = found.chances.copy()
        signals = [dict(zip(chance.FOUND, row, strict=True)) for row in found.signals.tolist()]
        count = min(self.read, len(candidates)) if self.ranker is not None else 0
        if count:
            texts = [self.library.passage(place).searched for place in found.places[:count].tolist()]
            seen: Sequence[Look] = looks(self.ranker, question, texts)
            table = chance.read(
                found.signals[:count],
                np.array([look.score for look in seen]),
                np.array([look.confidence for look in seen]),
            )
            chances[:count] = chance.load().read.of(table)
            signals[:count] = [dict(zip(chance.READ, row, strict=True)) for row in table.tolist()]
            candidates[:count] = map(with_look, candidates[:count], seen)
        told = [
            replace(one, extra={**one.extra, "chance": float(value), "signals": known})
            for one, value, known in zip(candidates, chances, signals, strict=True)
        ]
        order = np.argsort(-chances, kind="stable").tolist()
        return Ranking(question, tuple(told[at] for at in order), tuple(float(chances[at]) for at in order))

    def known_to(self, gate: Gate) -> Ranker:
        """The search itself: a gate for given candidates says nothing of such a chance."""
        return self

    @property
    def spec(self) -> str:
        """A description; a library cannot be built again from its spelling."""
        settings: dict[str, Setting] = {"passages": len(self.library), "stem": self.library.stem}
        return str(Spec(self.name, {**settings, "ranker": MEANING}))

    @property
    def fingerprint(self) -> str:
        """A hash of the passages and of all that decides how they are ranked."""
        reader = "" if self.ranker is None else self.ranker.fingerprint
        told = f"{DEPTH} {self.read} {self.library.fingerprint} {reader} {maker().fingerprint}"
        return hashlib.sha256(f"{told} {chance.load().fingerprint}".encode()).hexdigest()[:16]


def by_meaning(library: Passages, read: int = READ) -> ByMeaning:
    """What is asked of passages by words and by meaning, read by the model that comes with demur."""
    return ByMeaning(library, named(packaged.NAME), reading=True, read=read)


def contributions(known: dict[str, float]) -> dict[str, float]:
    """What each signal of a passage adds to the logarithm of its odds."""
    weights = chance.load().read if "score" in known else chance.load().found
    values: FloatArray = weights.parts(np.array(list(known.values())))
    return dict(zip(known, values.tolist(), strict=True))
