"""The passages of a base by their words: Lance's full-text index over demur's own hashed stems.

It finds the best few hundred by a BM25 of its own; these are scored again as everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from demur.kb.lance.view import TEXT
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
        if not weights:
            return []
        found = self._found(" ".join(weights), top, now, [*TEXT, "_score"]).to_pylist()
        assert self.truth is not None
        self.truth.view(now).keep(found)  # they are scored by their texts next
        return [row["id"] for row in found]

    def having(self, word: str, now: Generation) -> int:
        """How many passages have a hashed word."""
        return int(self._found(word, max(1, now.passages), now, ["_score"]).num_rows)

    def _found(self, words: str, top: int, now: Generation, columns: list[str]) -> Any:
        from lancedb.query import MatchQuery

        assert self.truth is not None
        view = self.truth.view(now)
        with view.lake.there():
            return view.passages.search(MatchQuery(words, _COLUMN)).select(columns).limit(top).to_arrow()
