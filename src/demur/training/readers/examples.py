"""What a reader learns from: windows of passages, and where the answer is in each; and how good it is."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.errors import UsageError
from demur.evaluation.readers import readings_of
from demur.rankers.base import Ranker
from demur.reading import squad
from demur.reading.base import Reader
from demur.reading.one_pass import OnePassReader
from demur.reading.published import answer_of
from demur.reading.readers.network import NetworkReader, Window
from demur.reading.spans import covering
from demur.types import FloatArray, IntArray, Pool

if TYPE_CHECKING:
    import torch

_TOGETHER = 1024  # pools whose windows are made in one go
_NO_PLACES = np.zeros((0, 2), np.int64)
_NOT_FAIR = np.zeros(0, np.bool_)


@dataclass(frozen=True)
class Lesson:
    """What a reader learns from: all windows, and which of them count together."""

    windows: Sequence[Any]
    targets: IntArray
    units: Sequence[Sequence[int]]
    """The places of windows that have a loss together: those of a passage, or each by itself."""
    counts: FloatArray | None = None
    """How much each unit counts; None where all count alike."""
    read: Sequence[Any] = ()
    """Each window as a reader takes it that teaches, if one does."""

    @classmethod
    def of(cls, windows: Sequence[Window], targets: IntArray, together: bool) -> Lesson:
        """Windows, those of a passage together or each by itself."""
        if not together:
            return cls(windows, targets, [[place] for place in range(len(windows))])
        places = itertools.groupby(range(len(windows)), key=lambda place: windows[place].pair)
        return cls(windows, targets, [list(some) for _, some in places])

    def counting(self, pools: Sequence[Pool], sure: float) -> Lesson:
        """The same, where questions without an answer count by how surely they are their passage's."""
        each = [trust(pools[self.windows[unit[0]].pair], sure) for unit in self.units]
        return dataclasses.replace(self, counts=np.array(each))


def trust(pool: Pool, sure: float) -> float:
    """How much a question counts: in full, or less if its margin is below `sure`; nothing at 0."""
    margin = margin_of(pool)
    return 1.0 if margin is None else min(max(margin / sure, 0.0), 1.0)


def margin_of(pool: Pool) -> float | None:
    """By how much a question without an answer is its passage's more than others', where its data say so."""
    found = pool.extra.get("align_margin")
    if found is None or answer_of(pool) is not None:
        return None
    if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
        raise UsageError(
            f"question {pool.id!r} has an align_margin of {found!r}; make it a number, or leave out sure=…"
        )
    return float(found)


def examples_of(
    reader: NetworkReader, network: torch.nn.Module, tokenizer: Any, pools: Sequence[Pool]
) -> tuple[list[Window], IntArray]:
    """All windows of some pools, without what training does not need, and the positions they should say.

    The pair of each is the number of its pool.
    """
    windows: list[Window] = []
    targets: list[tuple[int, int]] = []
    for at in range(0, len(pools), _TOGETHER):
        some = pools[at : at + _TOGETHER]
        answers = [answer_of(pool) for pool in some]
        pairs = [(pool.question, pool.answers[0]) for pool in some]
        for window in reader.windows(network, tokenizer, pairs):
            targets.append(target(window, answers[window.pair]))
            windows.append(
                dataclasses.replace(window, pair=at + window.pair, places=_NO_PLACES, fair=_NOT_FAIR)
            )
    return windows, np.array(targets, np.int64)


def target(window: Window, answer: tuple[int, int] | None) -> tuple[int, int]:
    """The first and last position of the answer; 0 and 0 if it is not, or not wholly, in the window."""
    places = window.places[1:]
    if answer is None or not len(places):
        return 0, 0
    start, end = answer
    found = covering(places, start, end)
    if found is None or places[0, 0] > start or places[-1, 1] < end:
        return 0, 0
    return 1 + found[0], 1 + found[1]


QUOTING = "EM", "F1"
"""What readers are measured by."""


def quoted(ranker: Ranker, dev: Sequence[Pool]) -> bool:
    """Whether a dev set tells how well a ranker quotes; a mini is told by other pools how well it ranks."""
    if isinstance(ranker, OnePassReader):
        return all(len(pool) == 1 and "answers" in pool.extra for pool in dev)
    return isinstance(ranker, Reader)


def measured(reader: Reader, dev: Sequence[Pool], measure: str) -> float:
    """The mean EM or F1 of a reader on a dev set."""
    if measure not in QUOTING:
        raise UsageError(f"a reader is not measured by {measure}; name EM or F1")
    answers = [reading.span.text if reading.span else "" for reading in readings_of(reader, dev)]
    found = squad.score(dev, answers, squad.version_of(dev))
    return float((found.exact if measure == "EM" else found.f1).mean())


def best_threshold(reader: Reader, dev: Sequence[Pool], measure: str) -> float:
    """How much likelier no answer may be than the best one for it to stand: the best for EM or F1 on dev.

    Where it would be best to give no answer at all, the likeliest of all stands.
    """
    readings = readings_of(reader, dev)
    found = squad.score(dev, [each.quotes[0].span.text if each.quotes else "" for each in readings])
    odds = [each.null_odds for each in readings]
    chosen = squad.best(found.exact if measure == "EM" else found.f1, found, odds).threshold
    return max(chosen, min(odds))
