"""What `ask` does with a library, seen as one ranker: so a gate can be calibrated for just that."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from demur.asking.gates.gate import is_for_candidates
from demur.asking.reading import Look, looks
from demur.errors import UsageError
from demur.rankers import Ranker
from demur.rankers.base import sound
from demur.specs import Setting, Spec
from demur.types import Candidate, FloatArray, Pool, Ranking

if TYPE_CHECKING:
    from demur.asking.gates.gate import Gate
    from demur.kb.base import Passages

DEPTH = 50
"""Passages that BM25 finds, that a ranker scores again, and that a gate looks at."""


@dataclass(frozen=True)
class AnyPassages:
    """In the place of passages: for a hash of how they are searched, whatever they are."""

    stem: str = "english"

    @property
    def fingerprint(self) -> str:
        """A hash of the stem."""
        return hashlib.sha256(self.stem.encode()).hexdigest()[:16]

    def __len__(self) -> int:
        return 0


@dataclass(frozen=True)
class Search(Ranker):
    """BM25 over the passages of a library and, if there is one, a ranker over the best 50."""

    name: ClassVar[str] = "library"
    library: Passages
    ranker: Ranker | None = None
    reading: bool = False
    """Whether what the ranker sees as a reader is kept, as the candidates' `look`; it changes no score."""

    def find(self, question: str, depth: int = DEPTH) -> Ranking:
        """The passages that share a word with the question, in the order of BM25 or of the ranker."""
        places, scores = self.library.by_words(question, depth)
        found = tuple(candidate(self.library, place) for place in places.tolist())
        if self.ranker is None or not found:
            return Ranking(question, found, tuple(scores.tolist()))
        texts = [self.library.passage(place).searched for place in places]
        if self.reading:
            seen = looks(self.ranker, question, texts)
            scores = np.array([look.score for look in seen], np.float64)
            found = tuple(map(with_look, found, seen))
        else:
            scores = sound(self.ranker, self.ranker.score(question, texts), len(texts))
        order = np.argsort(-scores, kind="stable").tolist()
        return Ranking(question, tuple(found[at] for at in order), tuple(float(scores[at]) for at in order))

    def known_to(self, gate: Gate) -> Ranker:
        """Whom a gate must know: this search, or its ranker if the gate was made for given candidates."""
        return self.ranker if self.ranker is not None and is_for_candidates(gate) else self

    def score_pools(self, pools: Sequence[Pool]) -> list[FloatArray]:
        """The scores of pools that this search found itself; other candidates have no score in a library."""
        if any("score" not in candidate.extra for pool in pools for candidate in pool.candidates):
            raise UsageError("a library ranks its own passages, not given candidates; use asking.calibrate")
        return [
            np.array([candidate.extra["score"] for candidate in pool.candidates], np.float64)
            for pool in pools
        ]

    @property
    def anywhere(self) -> Self:
        """The same over any passages: it finds nothing, but says how they would be ranked."""
        return replace(self, library=AnyPassages(self.library.stem))  # type: ignore[arg-type]

    @property
    def about(self) -> dict[str, Setting]:
        """What a spec says of the passages: how many, if they are known, and whose endings do not count."""
        stem: dict[str, Setting] = {"stem": self.library.stem}
        return stem if isinstance(self.library, AnyPassages) else {"passages": len(self.library), **stem}

    @property
    def spec(self) -> str:
        """A description; a library cannot be built again from its spelling."""
        settings: dict[str, Setting] = self.about
        if self.ranker is not None:
            settings["ranker"] = self.ranker.spec
        return str(Spec(self.name, settings))

    @property
    def fingerprint(self) -> str:
        """A hash of the passages and of all that decides how they are ranked."""
        ranker = "" if self.ranker is None else self.ranker.fingerprint
        told = f"{DEPTH} {self.library.fingerprint} {ranker}"
        return hashlib.sha256(told.encode()).hexdigest()[:16]


def candidate(library: Passages, place: int) -> Candidate:
    """A passage with its source, line, heading, and how many copies of it stand elsewhere."""
    passage = library.passage(place)
    extra = {"source": passage.source, "line": passage.line, "heading": passage.heading}
    extra |= {"question": passage.question, "copies": library.copies(place), "place": place}
    return Candidate(passage.id, passage.text, None, extra)


def with_look(candidate: Candidate, look: Look) -> Candidate:
    """The candidate with what was seen in it."""
    return replace(candidate, extra={**candidate.extra, "look": look})


def without_look(candidate: Candidate) -> Candidate:
    """The candidate without what was seen in it by who ranked it, so that nobody quotes that."""
    return replace(candidate, extra={name: each for name, each in candidate.extra.items() if name != "look"})
