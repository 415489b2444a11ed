"""What a base on an object store holds: generations that were published, and what a writer is about to."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import RLock
from typing import Any

from demur.errors import LostBase
from demur.kb.lance.lake import Lake, rows, rows_of
from demur.kb.lance.lines import NoTable, busy, gone
from demur.kb.lance.small import Noted, opened
from demur.kb.lance.view import View
from demur.kb.lance.work import Work
from demur.kb.passages import Passage, searched
from demur.kb.store.truth import Generation, Row, Statements, Truth

BASE, NOTES = "base", "notes"


class PublishedTruth(Truth):
    """The tables of a base; who changes passages does so in a copy of what they need, and publishes it."""

    def __init__(self, lake: Lake) -> None:
        self.lake, self.place, self.lock = lake, str(lake.address), RLock()
        self.work: Work | None = None
        """The copy, while passages are changed."""
        self.wait = 60.0
        self._kept: Work | None = None
        self._views: dict[int, View] = {}
        self._seen = 0
        record = lake.records()[BASE]
        self.base = record.base
        self._look()
        self.stem = self._last.facts["stem"]

    def check(self) -> None:
        """Look for a new generation; an error if the base is gone, or is another one."""
        with self.lock:
            try:
                record = self.lake.records().get(BASE)
            except NoTable:
                record = None
            if record is None:
                raise gone(str(self.place))
            if record.base != self.base:
                fix = "open it again; a server must be started again"
                raise LostBase("was replaced by another since it was opened", path=self.place, fix=fix)
            if record.turn != self._last.turn:
                self._look()

    def _look(self) -> None:
        record = self.lake.records()[BASE]
        view = View(self.lake, record.turn, record.content)
        seen = self._views.get(self._seen)
        self._views = {self._seen: seen} if seen is not None else {}
        self._views[view.generation.number] = self._last = view

    def pin(self) -> Generation:
        """The last generation, which is kept open until another is pinned."""
        self._seen = self._last.generation.number
        return self._last.generation

    @property
    def shown(self) -> View:
        """The generation that was pinned, or else the last one."""
        return self._views.get(self._seen, self._last)

    def view(self, now: Generation) -> View:
        """A generation that is kept open."""
        found = self._views.get(now.number)
        if found is None:
            raise gone(str(self.place))
        return found

    def begin(self) -> None:
        """Change passages from now on, in a copy."""
        self.check()
        if self._kept is None or self._kept.turn != self._last.turn or not self._kept.as_left():
            self._kept = Work(self._last)
        self.work = self._kept

    def end(self) -> None:
        """Change no more; what was not published is forgotten."""
        if self.work is not None and self.work.changed:
            self._kept = None
        self.work = None

    def publish(self) -> list[int]:
        """Let others see what was changed; the places of passages that are no more."""
        if self.work is None or not self.work.changed:
            return []
        record = self.lake.records()[BASE]
        removed = self.work.publish(self, record)
        self.check()
        self.work.turn = self._last.turn
        return removed

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        """All rows of a statement: about all tables while passages are changed, else about small ones."""
        return self.work.rows(statement, values) if self.work else self._last.rows(statement, values)

    def batches(self, statement: str, values: Sequence[Any], many: int) -> Iterator[list[Row]]:
        """The rows of a statement, so many at a time."""
        found = self.rows(statement, values)
        for start in range(0, len(found), many):
            yield found[start : start + many]

    def transaction(self) -> AbstractContextManager[Statements]:
        """A block that changes the copy: all of it is kept, or nothing if the block fails."""
        assert self.work is not None, "only who holds the lease changes passages"
        return self.work.transaction()

    def turn(self) -> AbstractContextManager[None]:
        """A block between whose statements nobody else changes the base, as who writes holds a lease."""
        return nullcontext()

    def index(self, before: Generation, number: int) -> None:
        """Do nothing: words are indexed when a generation is published."""

    @contextmanager
    def noting(self) -> Iterator[Statements]:
        """A block that changes labels and questions; it is said again where another was faster."""
        self.check()
        record = self.lake.records()[NOTES]
        noted = Noted(record.content)
        yield noted
        until = time.monotonic() + self.wait
        while not self.lake.change(NOTES, record, noted.database.serialize()):
            if time.monotonic() > until:
                raise busy(self.place)
            self.check()
            record = self.lake.records()[NOTES]
            noted = noted.again(record.content)

    def noted(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        """All rows of a statement about labels or questions."""
        self.check()
        return opened(self.lake.records()[NOTES].content).execute(statement, values).fetchall()

    def close(self) -> None:
        """Forget what was read."""
        self._kept = self.work = None

    def hash(self, place: int) -> bytes:
        """The hash of a passage."""
        with self.lake.there():
            return bytes(rows(self.shown.passages, ["hash"], f"id = {int(place)}")[0]["hash"])

    def hashed(self, hashes: Sequence[bytes]) -> dict[bytes, int]:
        """The places of passages that are there now, by their hashes."""
        with self.lake.there():
            found = rows_of(self._last.passages, ["hash", "id"], "hash", hashes)
            return {bytes(row["hash"]): row["id"] for row in found}

    def sources(self, generation: Generation) -> list[tuple[str, str, int]]:
        """Name, kind and number of passages of each source."""
        view = self.view(generation)
        sizes = view.sizes()
        named = view.rows("SELECT id, name, kind FROM sources WHERE died IS NULL ORDER BY name")
        return [(name, kind, sizes.get(id, 0)) for id, name, kind in named]

    def texts(self, after: int, generation: Generation, many: int = 4096) -> Iterator[list[Row]]:
        """Place, heading, text and question of the passages of a generation above a place."""
        return self.view(generation).texts(after, many)

    def searched(self, places: Sequence[int]) -> dict[int, str]:
        """What is searched of some passages."""
        found = self.shown.of(places)
        return {place: searched(row["heading"], row["text"]) for place, row in found.items()}

    def passages(self, places: Sequence[int], generation: Generation) -> dict[int, tuple[Passage, int]]:
        """For each place that there is, its passage, and how many others are alike."""
        view = self.view(generation)
        stands, texts = view.stands(places), view.of(places)
        return {
            place: (view.passage(each[0][2], texts[place]), len(each) - 1)
            for place, each in stands.items()
            if place in texts
        }

    def places(self, name: str, generation: Generation) -> list[int]:
        """The places of the passages that have this name."""
        return self.view(generation).called(name)

    def near(self, place: int, around: int, generation: Generation) -> list[Passage]:
        """The passages about a place, where it stands first by the names of its sources."""
        standing = self.standings([place], generation)
        if not standing:
            return []
        name, number = standing[place]
        return self.view(generation).around(name, number - around, number + around)

    def standings(self, places: Sequence[int], generation: Generation) -> dict[int, tuple[str, int]]:
        """For each place the name of the first source and the passage's number there."""
        stands = self.view(generation).stands(list(map(int, places)))
        return {place: each[0][:2] for place, each in stands.items()}

    def share_changed_since(self, number: int) -> float:
        """The share of passages that are others than at a generation, or were put in anew: 0 to 1."""
        view, then = self._last, self.generation(number)
        removed = view.rows(
            "SELECT coalesce(sum(passages), 0) FROM gone WHERE born <= ? AND died > ?", (number, number)
        )[0][0]
        added = view.generation.passages - (then.passages - removed)
        changed = max(added, removed)
        return float(changed / max(then.passages, view.generation.passages)) if changed else 0.0
