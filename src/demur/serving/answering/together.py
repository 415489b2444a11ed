"""Small requests that wait are scored together: a network is quicker with more texts at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from demur.rankers import Ranker
from demur.serving.messages.bodies import pairs
from demur.types import FloatArray, Pool

_MOST = 256  # pairs that are scored at once


@dataclass(eq=False)
class Waiting:
    """A question and texts that wait to be ranked."""

    pool: Pool
    others: Together
    pairs: int
    scores: FloatArray | None = None

    def scored(self, ranker: Ranker) -> FloatArray:
        """The scores of its texts, which may have been found with those of a request before."""
        if self.scores is None:
            some = self.others.beside(self)
            for each, found in zip(some, ranker.score_pools([each.pool for each in some]), strict=True):
                each.scores = found
        assert self.scores is not None
        return self.scores


@dataclass
class Together:
    """The requests that wait, in the order they came; one worker at a time scores them."""

    _waiting: list[Waiting] = field(default_factory=list)

    @contextmanager
    def waiting(self, question: str, texts: Sequence[str]) -> Iterator[Waiting]:
        """A block in which a request waits, or is answered."""
        mine = Waiting(Pool.of(question, texts), self, pairs(texts))
        self._waiting.append(mine)
        try:
            yield mine
        finally:
            self._waiting.remove(mine)

    def beside(self, mine: Waiting) -> list[Waiting]:
        """The request, and those after it that have no scores yet, as far as they are few pairs together."""
        found, many = [mine], mine.pairs
        for each in list(self._waiting):
            if each is mine or each.scores is not None or not len(each.pool):
                continue
            many += each.pairs
            if many > _MOST:
                break
            found.append(each)
        return found
