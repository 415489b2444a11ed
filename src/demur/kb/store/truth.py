"""What a knowledge base holds, as of any generation: sources, passages, and where each passage stands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from demur.errors import DataError
from demur.kb.passages import Passage, searched

_IN = 500  # values that one statement names
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Generation:
    """One state of a base: what it was after a change."""

    number: int = 0
    mark: str = ""
    made: float = 0.0
    what: str = ""
    sources: int = 0
    passages: int = 0
    words: int = 0
    newest: int = 0
    """The largest place so far: a passage of this generation or an earlier one has no larger."""
    digest: str = ""
    """A hash of the passages, in whatever order they came."""


class Statements(Protocol):
    """What carries out statements, with a question mark for each value."""

    def execute(self, statement: str, values: Sequence[Any] = ..., /) -> Any:
        """The rows of a statement, to be fetched."""

    def executemany(self, statement: str, values: Iterable[Sequence[Any]], /) -> Any:
        """A statement for each of several rows of values."""


class Truth(ABC):
    """The tables of a base, in a file or on a server; threads may share it."""

    place: str | Path
    """Where the base is, as errors tell it."""
    base: str
    """What no other base has."""
    stem: str

    @abstractmethod
    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        """All rows of a statement."""

    @abstractmethod
    def batches(self, statement: str, values: Sequence[Any], many: int) -> Iterator[list[Row]]:
        """The rows of a statement, so many at a time."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[Statements]:
        """A block that changes the base: all of it is kept, or nothing if the block fails."""

    @abstractmethod
    def turn(self) -> AbstractContextManager[None]:
        """A block between whose statements nobody else changes passages."""

    @contextmanager
    def noting(self) -> Iterator[Statements]:
        """A block that changes labels and questions, whoever changes passages meanwhile."""
        with self.transaction() as said:
            yield said

    def noted(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        """All rows of a statement about labels or questions."""
        return self.rows(statement, values)

    @abstractmethod
    def index(self, before: Generation, number: int) -> None:
        """Inside a change, make what is new found by its words, unless an index follows later."""

    @abstractmethod
    def check(self) -> None:
        """Refuse to go on if the base is gone or another one: what it takes in would be lost."""

    @abstractmethod
    def close(self) -> None:
        """Close it."""

    def facts(self) -> dict[str, str]:
        """What is said of the base as a whole, but for its gate."""
        found: dict[str, str] = dict(self.rows("SELECT name, value FROM facts WHERE name <> 'gate'"))
        return found

    def generation(self, number: int | None = None) -> Generation:
        """A generation: the last one, or the one with this number; before the first, that of nothing."""
        if number is None:
            found = self.rows("SELECT * FROM generations ORDER BY number DESC LIMIT 1")
        else:
            found = self.rows("SELECT * FROM generations WHERE number = ?", (number,))
        if not found and number:
            last = self.generation().number
            raise DataError(f"has no generation {number}; its last is {last}", path=self.place)
        return Generation(*found[0]) if found else Generation()

    def knows(self, number: int, mark: str) -> bool:
        """Whether a generation is one of this file; that of a copy that went another way is not."""
        found = self.rows("SELECT mark FROM generations WHERE number = ?", (number,))
        return (found[0][0] if found else "") == mark

    @property
    def purged(self) -> int:
        """Up to which generation dead passages are deleted: no older one can be read any more."""
        return int(self.facts()["purged"])

    def texts(self, after: int, generation: Generation, many: int = 4096) -> Iterator[list[tuple[Any, ...]]]:
        """Place, heading, text and question of the passages of a generation above a place, some at a time."""
        while True:
            found = self.rows(
                "SELECT id, heading, text, question FROM passages WHERE id > ? AND id <= ? "
                "AND (died IS NULL OR died > ?) ORDER BY id LIMIT ?",
                (after, generation.newest, generation.number, many),
            )
            if not found:
                return
            yield found
            after = found[-1][0]

    def without_question(self, generation: Generation) -> int:
        """How many passages of a generation have no question of their own."""
        found = self.rows(
            "SELECT count(*) FROM passages WHERE question = '' AND id <= ? AND (died IS NULL OR died > ?)",
            (generation.newest, generation.number),
        )
        return int(found[0][0])

    def searched(self, places: Sequence[int]) -> dict[int, str]:
        """What is searched of some passages; those that are deleted are left out."""
        found: dict[int, str] = {}
        for start in range(0, len(places), _IN):
            some = list(map(int, places[start : start + _IN]))
            marks = ",".join("?" * len(some))
            rows = self.rows(f"SELECT id, heading, text FROM passages WHERE id IN ({marks})", some)
            found |= {place: searched(heading, text) for place, heading, text in rows}
        return found

    def dead(self, generation: Generation, since: int = -1) -> list[int]:
        """The places of passages that were taken out after a generation, up to another."""
        rows = self.rows("SELECT id FROM passages WHERE died > ? AND died <= ?", (since, generation.number))
        return [place for (place,) in rows]

    def hash(self, place: int) -> bytes:
        """The hash of a passage, which those that are alike have wherever they are."""
        return bytes(self.rows("SELECT hash FROM passages WHERE id = ?", (int(place),))[0][0])

    def hashed(self, hashes: Sequence[bytes]) -> dict[bytes, int]:
        """The places of passages that are there now, by their hashes."""
        found: dict[bytes, int] = {}
        for start in range(0, len(hashes), _IN):
            some = list(hashes[start : start + _IN])
            marks = ",".join("?" * len(some))
            named = f"SELECT hash, id FROM passages WHERE hash IN ({marks}) AND died IS NULL"
            found |= {bytes(hash): place for hash, place in self.rows(named, some)}
        return found

    def sources(self, generation: Generation) -> list[tuple[str, str, int]]:
        """Name, kind and number of passages of each source."""
        return [
            (name, kind, count)
            for name, kind, count in self.rows(
                "SELECT name, kind, (SELECT count(*) FROM occurrences WHERE source = id) FROM sources "
                "WHERE born <= ? AND (died IS NULL OR died > ?) ORDER BY name",
                (generation.number, generation.number),
            )
        ]

    def passage(self, place: int, generation: Generation) -> Passage:
        """The passage at a place, where it stands first by the names of its sources."""
        found = self.passages([place], generation)
        if not found:
            what = f"has no passage {place} in generation {generation.number}"
            raise DataError(what, path=self.place, fix="ask again: it may just have been taken out")
        return found[int(place)][0]

    def passages(self, places: Sequence[int], generation: Generation) -> dict[int, tuple[Passage, int]]:
        """For each place that there is, its passage, and how many others are alike."""
        found: dict[int, tuple[Passage, int]] = {}
        for start in range(0, len(places), _IN):
            some = list(map(int, places[start : start + _IN]))
            marks = ",".join("?" * len(some))
            rows = self.rows(
                "SELECT id, copies, name, text, source, line, heading, question FROM (SELECT p.id, o.name, "
                "p.text, s.name || o.part AS source, o.line, p.heading, p.question, "
                "row_number() OVER (PARTITION BY p.id ORDER BY s.name, o.number) AS turn, "
                "count(*) OVER (PARTITION BY p.id) AS copies FROM passages p "
                "JOIN occurrences o ON o.passage = p.id JOIN sources s ON s.id = o.source "
                f"WHERE p.id IN ({marks}) AND s.born <= ? AND (s.died IS NULL OR s.died > ?)) AS standing "
                "WHERE turn = 1",
                [*some, generation.number, generation.number],
            )
            found |= {place: (Passage(*row), copies - 1) for place, copies, *row in rows}
        return found

    def places(self, name: str, generation: Generation) -> list[int]:
        """The places of the passages that have this name."""
        rows = self.rows(
            "SELECT DISTINCT o.passage FROM sources s JOIN occurrences o ON o.source = s.id "
            "WHERE o.name = ? AND s.born <= ? AND (s.died IS NULL OR s.died > ?)",
            (name, generation.number, generation.number),
        )
        return [place for (place,) in rows]

    def near(self, place: int, around: int, generation: Generation) -> list[Passage]:
        """The passages about a place, where it stands first by the names of its sources."""
        standing = self.standings([place], generation)
        if not standing:
            return []
        name, number = standing[place]
        rows = self.rows(
            "SELECT o.name, p.text, s.name || o.part, o.line, p.heading, p.question FROM occurrences o "
            "JOIN passages p ON p.id = o.passage JOIN sources s ON s.id = o.source WHERE s.name = ? "
            "AND s.born <= ? AND (s.died IS NULL OR s.died > ?) AND o.number BETWEEN ? AND ? "
            "ORDER BY o.number",
            (name, generation.number, generation.number, number - around, number + around),
        )
        return [Passage(*row) for row in rows]

    def standings(self, places: Sequence[int], generation: Generation) -> dict[int, tuple[str, int]]:
        """For each place the name of the first source and the passage's number there: an order for all."""
        found: dict[int, tuple[str, int]] = {}
        for start in range(0, len(places), _IN):
            some = list(map(int, places[start : start + _IN]))
            marks = ",".join("?" * len(some))
            rows = self.rows(
                f"SELECT o.passage, s.name, o.number FROM occurrences o JOIN sources s ON s.id = o.source "
                f"WHERE o.passage IN ({marks}) AND s.born <= ? AND (s.died IS NULL OR s.died > ?)",
                [*some, generation.number, generation.number],
            )
            for place, name, number in rows:
                found[place] = min(found.get(place, (name, number)), (name, number))
        return found

    def share_changed_since(self, number: int) -> float:
        """The share of passages that are others than at a generation: 0 for none, 1 for all."""
        then, now = self.generation(number), self.generation()
        added = self.rows("SELECT count(*) FROM passages WHERE born > ? AND died IS NULL", (number,))[0][0]
        removed = self.rows("SELECT count(*) FROM passages WHERE born <= ? AND died > ?", (number, number))
        gone = self.rows(
            "SELECT coalesce(sum(passages), 0) FROM gone WHERE born <= ? AND died > ?", (number, number)
        )
        back = self.rows(  # what was taken out and put in again is no other passage
            "SELECT count(*) FROM (SELECT DISTINCT hash FROM passages WHERE born <= ? AND died > ?) d "
            "JOIN passages p ON p.hash = d.hash AND p.died IS NULL AND p.born > ?",
            (number, number, number),
        )
        changed = max(added, removed[0][0] + gone[0][0]) - back[0][0]
        return float(changed / max(then.passages, now.passages)) if changed else 0.0
