"""Spans found from what a network says of each token as a start and as an end, and where they stand."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from demur.types import FloatArray, IntArray, Span

_JOINER = "\u200d"
_TONES = range(0x1F3FB, 0x1F400)  # skin tones of emoji
_TAGS = range(0xE0020, 0xE0080)  # of the flags of England, Scotland and Wales
_FLAGS = range(0x1F1E6, 0x1F200)
_FIRST_JAMO, _JAMO = range(0x1100, 0x1160), range(0x1160, 0x1200)


Through = Sequence[NDArray[np.float32]]
"""Of each layer, width × k: what its states are multiplied by."""


@dataclass(frozen=True)
class View:
    """What a network says of one window of a passage, position by position; the first stands for no answer.

    There are 1 + n positions where the window shows n tokens of the passage. `states` has an array of
    positions × width for each layer, where they were asked for; or × k, times what was asked for.
    """

    pair: int
    """Which of the pairs that were read."""
    number: int
    """Which window of the pair."""
    starts: FloatArray
    ends: FloatArray
    places: IntArray
    """1 + n rows: where each token starts and ends in the passage."""
    fair: NDArray[np.bool_]
    """Whether a position's start is for this window to say: no other one shows more around the token."""
    states: tuple[NDArray[np.float32], ...] = ()

    @property
    def log_starts(self) -> FloatArray:
        """The logarithm of each position's probability as the start."""
        return _log_softmax(self.starts)

    @property
    def log_ends(self) -> FloatArray:
        """The logarithm of each position's probability as the end."""
        return _log_softmax(self.ends)

    @property
    def null(self) -> float:
        """The score of no answer."""
        return float(self.starts[0] + self.ends[0])

    @cached_property
    def scale(self) -> float:
        """What is taken off a span's score to make it the logarithm of a probability."""
        return _log_sum(self.starts) + _log_sum(self.ends)

    def share(self, score: float) -> float:
        """The probability of a span, or of no answer, with this score."""
        return min(float(np.exp(score - self.scale)), 1.0)


def best(view: View, longest: int, count: int) -> list[tuple[float, int, int]]:
    """The best spans of a window: score, first and last position; of equal ones the earlier and shorter.

    Each start is tried with the `longest` ends from it on: no more than n × longest sums.
    """
    tokens = len(view.starts) - 1
    ahead = min(longest, tokens)
    if ahead < 1:
        return []
    behind = np.concatenate([view.ends[1:], np.full(ahead - 1, -np.inf)])
    starts = np.where(view.fair[1:], view.starts[1:], -np.inf)
    sums = starts[:, None] + np.lib.stride_tricks.sliding_window_view(behind, ahead)  # tokens × ahead
    flat = sums.ravel()
    if len(flat) > 4 * count:
        least = np.partition(flat, len(flat) - count)[len(flat) - count]
        chosen = np.flatnonzero(flat >= least)
    else:
        chosen = np.arange(len(flat))
    chosen = chosen[np.argsort(-flat[chosen], kind="stable")][:count]
    found = [(float(flat[at]), at // ahead, at % ahead) for at in chosen.tolist() if flat[at] > -np.inf]
    return [(score, 1 + first, 1 + first + further) for score, first, further in found]


def span(passage: str, start: int, end: int) -> Span:
    """The stretch of a passage, without space around it, and with whole characters as people see them."""
    while start < end and passage[start].isspace():
        start += 1
    while end > start and passage[end - 1].isspace():
        end -= 1
    while 0 < start < end and _hangs_on(passage, start):
        start -= 1
    while 0 < end < len(passage) and _hangs_on(passage, end):
        end += 1
    return Span(start, end, passage[start:end])


def _hangs_on(passage: str, at: int) -> bool:
    """Whether a character is one with that before it.

    So is an accent, a sign on an emoji, a joined emoji, the second letter of a flag, or what follows the
    first letter of a Korean syllable.
    """
    before, char = passage[at - 1], passage[at]
    if before.isspace():
        return False
    return (
        unicodedata.category(char) in ("Mn", "Mc", "Me")
        or char == _JOINER
        or before == _JOINER
        or ord(char) in _TONES
        or ord(char) in _TAGS
        or (ord(char) in _JAMO and (ord(before) in _JAMO or ord(before) in _FIRST_JAMO))
        or (ord(char) in _FLAGS and _in_run(passage, at) % 2 == 1)
    )


def _in_run(passage: str, at: int) -> int:
    """How many letters of flags stand right before a place; two make a flag."""
    count = 0
    while count < at and ord(passage[at - count - 1]) in _FLAGS:
        count += 1
    return count


def covering(places: IntArray, start: int, end: int) -> tuple[int, int] | None:
    """The first and last of the tokens that have something of a stretch; None if none has."""
    inside = np.flatnonzero((places[:, 1] > start) & (places[:, 0] < end))
    return (int(inside[0]), int(inside[-1])) if len(inside) else None


def fairly(windows: Sequence[tuple[int, int]], tokens: int) -> list[NDArray[np.bool_]]:
    """For each window of a passage, which of its tokens no other window shows more around.

    A window is the first token and the one behind the last; of equal windows the first is taken.
    """
    around = np.full(tokens, -1.0)
    whose = np.full(tokens, -1)
    for number, (first, end) in enumerate(windows):
        at = np.arange(first, end)
        shown = np.minimum(at - first, end - 1 - at) + 0.01 * (end - first)  # as BERT's authors have it
        better = shown > around[first:end]
        around[first:end][better] = shown[better]
        whose[first:end][better] = number
    return [whose[first:end] == number for number, (first, end) in enumerate(windows)]


def stretches(tokens: int, room: int, stride: int) -> list[tuple[int, int]]:
    """Where windows with room for so many tokens begin and end, each at most `stride` behind the one before.

    A stride of more than half the room would break too many answers apart, so it is cut to that.
    """
    step = max(1, min(stride, room // 2))
    found = [(0, min(tokens, room))]
    while found[-1][1] < tokens:
        first = found[-1][0] + step
        found.append((first, min(first + room, tokens)))
    return found


def _log_sum(values: FloatArray) -> float:
    most = float(values.max())
    return most + float(np.log(np.exp(values - most).sum()))


def _log_softmax(values: FloatArray) -> FloatArray:
    return values - _log_sum(values)
