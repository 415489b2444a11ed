"""A reader that looks again: what it says of a passage, and of the one sentence that its quote is from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from demur.errors import UsageError
from demur.rankers import opening
from demur.rankers.base import HasFiles
from demur.reading.base import Pair, Reader, portions
from demur.reading.opening import reader as resolve_reader
from demur.reading.spans import Through, View
from demur.sentences import sentences
from demur.specs import Spec
from demur.store import is_model
from demur.types import FloatArray

_TOGETHER, _WITH_STATES = 1024, 16  # pairs whose views are held until their second look
_INSIDE = "reader"
_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class Twice(Reader):
    """Another `reader`, which reads the sentence of its best quote once more, alone.

    The shares of each start, of each end and of no answer are the means of both looks: right quotes stand
    out when there is less to choose from, and wrong ones seldom do. It takes less than half as long again. A
    passage of one sentence is read once. `reader` is a spec or a folder, looked up in `folder` first.
    """

    name: ClassVar[str] = "twice"
    reader: str = "mini"
    folder: str = ""
    _held: tuple[Reader, ...] = field(default=(), init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if isinstance(self.within, Twice):
            raise UsageError("twice cannot read by another twice; name a reader such as mini")

    @property
    def within(self) -> Reader:
        """The reader that looks; opened when first asked for."""
        if not self._held:
            inside = Path(self.folder) / self.reader
            found = resolve_reader(inside if self.folder and is_model(inside) else self.reader)
            object.__setattr__(self, "_held", (found,))
        return self._held[0]

    @property
    def longest(self) -> int:  # type: ignore[override]  # the other reader's
        """The most tokens of an answer."""
        return self.within.longest

    @property
    def n_best(self) -> int:  # type: ignore[override]
        """How many quotes are given."""
        return self.within.n_best

    @property
    def threshold(self) -> float:  # type: ignore[override]
        """By how much no answer must be better."""
        return self.within.threshold

    @property
    def tolerance(self) -> float:  # type: ignore[override]
        """How far a score may move."""
        return self.within.tolerance

    @property
    def shows_states(self) -> bool:  # type: ignore[override]
        """Whether the other reader does."""
        return self.within.shows_states

    @property
    def layers(self) -> tuple[str, ...]:  # type: ignore[override]
        """What the other reader's states are called."""
        return self.within.layers

    @property
    def fingerprint(self) -> str:
        """A hash of the reader, wherever it lies."""
        return hashlib.sha256(f"{self.name} {self.within.fingerprint}".encode()).hexdigest()[:16]

    def views(self, pairs: Sequence[Pair], states: bool = False, through: Through = ()) -> Iterator[View]:
        """What the two looks come to, window by window; states are of the first."""
        at = 0
        for some in portions(pairs, _WITH_STATES if states or through else _TOGETHER):
            found: list[list[View]] = [[] for _ in some]
            for view in self.within.views(some, states, through):
                found[view.pair].append(view)
            for views in self._again(some, found):
                yield from (replace(view, pair=at + view.pair) for view in views)
            at += len(some)

    def _again(self, pairs: Sequence[Pair], found: Sequence[list[View]]) -> Iterator[list[View]]:
        """The windows of each pair, that with the best quote as both looks have it."""
        closer: dict[int, tuple[int, int]] = {}  # by pair, the window that is looked at again, and from where
        wanted: list[Pair] = []
        for place, ((question, passage), views) in enumerate(zip(pairs, found, strict=True)):
            views.sort(key=lambda view: view.number)
            number, first, last = self.best_of(passage, views)
            if first:
                start, end = views[number].places[[first, last], [0, 1]].tolist()
                begin, text = _around(passage, start, end)
                if len(text) < len(passage.strip()):
                    closer[place] = number, begin
                    wanted.append((question, text))
        seen: list[list[View]] = [[] for _ in wanted]
        for view in self.within.views(wanted):
            seen[view.pair].append(view)
        for (place, (number, begin)), again in zip(closer.items(), seen, strict=True):
            if len(again) == 1:  # a sentence that fills more than a window is no closer look
                found[place][number] = _mean(found[place][number], again[0], begin)
        yield from found

    def save_into(self, folder: Path) -> str:
        """The spec of the reader whose files, if it has some, now lie in a folder of this one."""
        if not isinstance(self.within, HasFiles):
            return self.spec
        opening.save(self.within, folder / _INSIDE, {})
        return str(Spec(self.name, {"reader": _INSIDE}))


def _around(passage: str, start: int, end: int) -> tuple[int, str]:
    """Where the sentences that a stretch has something of begin, and their text."""
    touched = [each for each in sentences(passage) if each.start < end and each.end > start]
    if not touched:
        return 0, passage
    return touched[0].start, passage[touched[0].start : touched[-1].end]


def _mean(view: View, again: View, begin: int) -> View:
    """A window with the mean of its shares and those of another, whose text begins there in the passage."""
    places = again.places[1:] + begin
    at = 1 + np.searchsorted(view.places[1:, 0], places[:, 0])
    known = at < len(view.places)
    known[known] = (view.places[at[known]] == places[known]).all(axis=1)
    at, there = np.append(0, at[known]), np.append(0, 1 + np.flatnonzero(known))

    def mixed(one: FloatArray, log: FloatArray, other: FloatArray) -> FloatArray:
        shares = np.exp(log) / 2
        shares[at] += np.exp(other[there]) / 2
        return np.asarray(np.log(shares.clip(_TINY)) + (one - log)[0], np.float64)  # on the scale that it had

    starts = mixed(view.starts, view.log_starts, again.log_starts)
    ends = mixed(view.ends, view.log_ends, again.log_ends)
    return replace(view, starts=starts, ends=ends)
