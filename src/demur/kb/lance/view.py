"""One generation of a base on an object store: its small tables in memory, its passages in LanceDB."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from threading import RLock
from typing import Any, TypeVar

import numpy as np

from demur.kb.lance.lake import Lake, any_of, arrow, rows, rows_of
from demur.kb.lance.small import opened
from demur.kb.passages import Passage
from demur.kb.store.truth import Generation, Row

PASSAGES, OCCURRENCES = "passages", "occurrences"
TEXT = "id", "heading", "text", "question"
_KEPT = 2000  # passages in memory
_STANDS = "source", "number", "passage", "name", "part", "line"
Stand = tuple[str, int, dict[str, Any]]
_Kept = TypeVar("_Kept")


class View:
    """A generation that was published; what other processes change is not seen in it."""

    def __init__(self, lake: Lake, turn: int, content: bytes) -> None:
        self.lake, self.turn, self.content = lake, turn, content
        self.lock, self.small = RLock(), opened(content)
        self.facts: dict[str, str] = dict(self.rows("SELECT name, value FROM facts"))
        last = self.rows("SELECT * FROM generations ORDER BY number DESC LIMIT 1")
        self.generation = Generation(*last[0]) if last else Generation()
        self._texts: dict[int, dict[str, Any]] = {}
        self._stands: dict[int, list[Stand]] = {}

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        """All rows of a statement about small tables."""
        with self.lock:
            return self.small.execute(statement, values).fetchall()

    @cached_property
    def passages(self) -> Any:
        """The table of passages of this generation."""
        return self._table(PASSAGES)

    @cached_property
    def occurrences(self) -> Any:
        """The table that tells where they stand."""
        return self._table(OCCURRENCES)

    def _table(self, name: str) -> Any:
        with self.lake.there():
            return self.lake.table(name, int(self.facts[name]))

    @cached_property
    def names(self) -> dict[int, str]:
        """The names of the sources."""
        return dict(self.rows("SELECT id, name FROM sources WHERE died IS NULL"))

    def texts(self, after: int, many: int) -> Iterator[list[Row]]:
        """Place, heading, text and question of all passages above a place, some at a time."""
        with self.lake.there():
            ids = np.sort(arrow(self.passages, ["id"], f"id > {after}")["id"].to_numpy())
        for start in range(0, len(ids), many):
            some = ids[start : start + many]
            with self.lake.there():
                found = rows(self.passages, TEXT, f"id >= {some[0]} AND id <= {some[-1]}")
            yield sorted(tuple(row[name] for name in TEXT) for row in found)

    def of(self, places: Sequence[int]) -> dict[int, dict[str, Any]]:
        """The texts of passages, by their places."""
        known = self._texts
        with self.lake.there():
            found = list(rows_of(self.passages, TEXT, "id", [each for each in places if each not in known]))
        self.keep(found)
        every = known | {row["id"]: row for row in found}
        return {place: every[place] for place in places if place in every}

    def keep(self, texts: Sequence[dict[str, Any]]) -> None:
        """Remember the texts of some passages, which are the same as long as this is kept open."""
        self._texts = _with(self._texts, {row["id"]: row for row in texts})

    def stands(self, places: Sequence[int]) -> dict[int, list[Stand]]:
        """Where passages stand, the first by its source's name and the number there first."""
        known, found = self._stands, defaultdict(list)
        lacking = [each for each in places if each not in known]
        with self.lake.there():
            for row in rows_of(self.occurrences, _STANDS, "passage", lacking):
                found[row["passage"]].append((self.names[row["source"]], row["number"], row))
        ordered = {place: sorted(each, key=lambda one: one[:2]) for place, each in found.items()}
        self._stands = _with(known, ordered)
        every = known | ordered
        return {place: every[place] for place in places if place in every}

    def around(self, name: str, first: int, last: int) -> list[Passage]:
        """The passages of a source from one number to another."""
        source = next(id for id, called in self.names.items() if called == name)
        where = f"source = {source} AND number >= {first} AND number <= {last}"
        with self.lake.there():
            stand = sorted(rows(self.occurrences, _STANDS, where), key=lambda row: int(row["number"]))
        texts = self.of([row["passage"] for row in stand])
        return [self.passage(row, texts[row["passage"]]) for row in stand]

    def passage(self, stand: dict[str, Any], text: dict[str, Any]) -> Passage:
        """A passage as it stands somewhere."""
        source = f"{self.names[stand['source']]}{stand['part']}"
        return Passage(stand["name"], text["text"], source, stand["line"], text["heading"], text["question"])

    def called(self, name: str) -> list[int]:
        """The places of passages that have a name."""
        with self.lake.there():
            return sorted(
                {row["passage"] for row in rows(self.occurrences, ["passage"], any_of("name", [name]))}
            )

    def sizes(self) -> dict[int, int]:
        """How many passages each source has."""
        with self.lake.there():
            sources = arrow(self.occurrences, ["source"])["source"].to_numpy()
        ids, counts = np.unique(sources, return_counts=True)
        return dict(zip(ids.tolist(), counts.tolist(), strict=True))


def _with(known: dict[int, _Kept], more: dict[int, _Kept]) -> dict[int, _Kept]:
    """What is known of some passages and of more; where that is too much, less."""
    for each in (known | more, more):
        if len(each) <= _KEPT:
            return each
    return {}
