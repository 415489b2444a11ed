"""What `ask` does by words and by meaning: found, the likeliest read by mini, ranked by their chance."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from demur.asking import packaged
from demur.asking.gates.gate import is_for_any_files
from demur.asking.meaning import chance
from demur.asking.meaning.budget import fitting
from demur.asking.meaning.finding import find, maker
from demur.asking.packaged import MEANING
from demur.asking.quoting import same
from demur.asking.reading import Look, looks
from demur.asking.searching import DEPTH, Search, candidate, with_look
from demur.rankers import Ranker
from demur.rankers import ranker as named
from demur.specs import Setting, Spec
from demur.types import FloatArray, IntArray, Ranking

if TYPE_CHECKING:
    from demur.asking.gates.gate import Gate
    from demur.kb.base import Passages

READ = 12
"""Passages that the network reads: the likeliest of those that were found."""
LEAST = 0.5
"""Without a gate, nothing less likely than not is an answer."""
UNLIKELY = 0.1
"""Where nothing is likelier, no gate that comes with demur answers, and what is nearest comes first."""


@dataclass(frozen=True)
class ByMeaning(Search):
    """Passages that are found by words or by meaning, ranked by the chance that each is right."""

    name: ClassVar[str] = Search.name
    read: int = READ
    wanted: int = READ
    """How many would be read without a budget."""

    def find(self, question: str, depth: int = DEPTH) -> Ranking:
        """The likeliest passages; a score is a chance, and `chance` in a candidate's extra says of what."""
        found = find(self.library, question, depth)
        if not len(found.places):
            return Ranking(question, (), ())
        candidates = [candidate(self.library, place) for place in found.places.tolist()]
        chances = found.chances.copy()
        told = _told(chance.FOUND, chance.load().found, found.signals)
        of_own = chance.own_signals(found.signals, found.lacks)
        faq = _told(chance.OWN, chance.load().own, of_own, found.alike)
        told = [faq[at] if own else told[at] for at, own in enumerate(found.own.tolist())]
        others = np.flatnonzero(~found.own)
        reading = others[: self.read if self.ranker is not None else 0]
        very = next((at for at, one in enumerate(candidates) if same(question, one.extra["heading"])), None)
        if very is not None:  # it has been answered by whoever wrote that: what is read cannot change it
            reading, chances[very] = reading[:0], chances.max()
        cut = 0 if very is not None else len(others[len(reading) : self.wanted])
        if len(reading):
            texts = [self.library.passage(place).searched for place in found.places[reading].tolist()]
            seen: Sequence[Look] = looks(self.ranker, question, texts)
            said = np.array([(look.score, look.confidence) for look in seen])
            table = chance.read_signals(found.signals[reading], *said.T)
            chances[reading] = chance.load().read.of(table)
            chances[others] = np.minimum(chances[others], _lowest(chances, reading, others))
            reasons = _told(chance.READ, chance.load().read, table)
            for at, why, look in zip(reading.tolist(), reasons, seen, strict=True):
                told[at], candidates[at] = why, with_look(candidates[at], look)
        chances = found.with_the_named_first(chances)
        order = np.lexsort((-chances, ~found.named))
        if very is None and chances.max() < UNLIKELY:
            order = np.lexsort((-np.where(found.own, found.near, chances), ~found.named))
            chances[order] = np.minimum.accumulate(chances[order])
        counts = {"cut": cut, "reads": len(reading), "ranked": len(candidates)}
        candidates = [
            replace(one, extra={**one.extra, **why, "chance": value, **counts})
            for one, why, value in zip(candidates, told, chances.tolist(), strict=True)
        ]
        places = order.tolist()
        if very is not None:
            places = [very, *(at for at in places if at != very)]
        ranked = tuple(candidates[at] for at in places)
        return Ranking(question, ranked, tuple(float(chances[at]) for at in places))

    def known_to(self, gate: Gate) -> Ranker:
        """The search itself, or over any files; a gate for given candidates says nothing of such a chance."""
        return self.anywhere if is_for_any_files(gate) else self

    @property
    def spec(self) -> str:
        """A description; a library cannot be built again from its spelling."""
        settings: dict[str, Setting] = self.about
        if self.read != READ:
            settings["read"] = self.read
        return str(Spec(self.name, {**settings, "ranker": MEANING}))

    @property
    def fingerprint(self) -> str:
        """A hash of the passages and of all that decides how they are ranked."""
        reader = "" if self.ranker is None else self.ranker.fingerprint
        told = f"4 {DEPTH} {self.read} {self.library.fingerprint} {reader} {maker().fingerprint}"
        return hashlib.sha256(f"{told} {chance.load().fingerprint}".encode()).hexdigest()[:16]


def by_meaning(library: Passages, read: int = READ, budget: str | None = None) -> ByMeaning:
    """What is asked of passages by words and by meaning, read by the model that comes with demur.

    With a budget, such as ``300ms``, fewer passages are read where more would take longer here. Those with a
    question of their own, as in an FAQ, are never read.
    """
    fit = read if budget is None else fitting(budget, read)
    if fit < read and fit >= library.without_question:  # nothing is left unread
        fit = read
    return ByMeaning(library, named(packaged.NAME), reading=True, read=fit, wanted=read)


def _lowest(chances: FloatArray, reading: IntArray, others: IntArray) -> FloatArray:
    """How high each chance may be: what was not read stays below what was."""
    return np.where(np.isin(others, reading), 1.0, chances[reading].min())


def _told(
    names: tuple[str, ...], weights: chance.Weights, signals: FloatArray, alike: IntArray | None = None
) -> list[dict[str, Any]]:
    """For each passage its signals, and what adds up to the log of its odds."""
    counts = np.append(True, weights.level > 0)  # what only ranks adds nothing by itself
    heads = "constant", "lead", *(f"first's {name}" for name in np.array(names)[counts[1:]].tolist())
    return [
        {
            "signals": dict(zip(names, row, strict=True)),
            "adds": dict(zip(heads, [weights.constant, *parts], strict=True)),
        }
        for row, parts in zip(
            signals.tolist(), weights.parts(signals, alike)[:, counts].tolist(), strict=True
        )
    ]
