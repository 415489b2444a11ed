"""The passages of a base by their words: Lance's full-text index over demur's own hashed stems.

It finds the best few hundred by a BM25 of its own; these are scored again as everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from demur.kb.store.truth import Generation

if TYPE_CHECKING:
    from demur.kb.lance.truth import PublishedTruth

_COLUMN = "words"


class LakeWords:
    """The index of words."""

    def __init__(self) -> None:
        self.truth: PublishedTruth | None = None

    def search(self, weights: Mapping[str, float], top: int, now: Generation) -> list[int]:
        """The places of passages that have one of these hashed words, about the best first."""
        found = self._found(" ".join(weights), top, now) if weights else None
        return [] if found is None else found["id"].to_pylist()

    def having(self, word: str, now: Generation) -> int:
        """How many passages have a hashed word."""
        return int(self._found(word, max(1, now.passages), now).num_rows)

    def _found(self, words: str, top: int, now: Generation) -> Any:
        from lancedb.query import MatchQuery

        assert self.truth is not None
        view = self.truth.view(now)
        with view.lake.there():
            query = view.passages.search(MatchQuery(words, _COLUMN))
            return query.select(["id", "_score"]).limit(top).to_arrow()
