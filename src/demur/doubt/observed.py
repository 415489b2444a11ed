"""What a reader said of some questions, as arrays: one prediction for each, which all doubt is about."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from demur.errors import DataError, UsageError
from demur.files import replacing
from demur.reading.normalise import exact, normalise
from demur.reading.published import golds
from demur.risk.predictions import BoolArray, Predictions
from demur.types import FloatArray, IntArray, Pool

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Observed:
    """One best span for each question, in the window where it stands; an entry or a stretch for each.

    Positions of all windows stand one after the other, `bounds` says whose are whose; the first of each
    stands for no answer. A question whose passage has nothing to quote has that one position alone.
    """

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    """The best span, even where no answer is better."""
    says: BoolArray
    """Whether the reader answers with it."""
    window: IntArray
    first: IntArray
    last: IntArray
    """Positions of the best span in its window."""
    odds: FloatArray
    """By how much no answer is better than the best span: the log of the odds."""
    null: FloatArray
    """The probability of no answer, in the window where it is least."""
    second: FloatArray
    """The probability of the second best span."""
    wording: FloatArray
    """The share of the question's words that stand near the span."""
    longest: IntArray
    """How many tokens an answer may have."""
    bounds: IntArray
    starts: Floats
    ends: Floats
    """The logarithm of each position's probability."""
    fair: BoolArray
    """Whether a span may start here: in overlapping windows, where the token has most text around it."""
    pictures: NDArray[np.float16]
    """Positions × 2 × layers, as probes see them; of no layer, if there are none."""

    def __post_init__(self) -> None:
        whole, parts = len(self.ids), int(self.bounds[-1])
        for name in (
            "texts",
            "says",
            "window",
            "first",
            "last",
            "odds",
            "null",
            "second",
            "wording",
            "longest",
        ):
            if len(getattr(self, name)) != whole:
                raise UsageError(f"{name} needs one entry for each of {whole} questions")
        for name in ("starts", "ends", "fair", "pictures"):
            if len(getattr(self, name)) != parts:
                raise UsageError(f"{name} needs one entry for each of {parts} positions")

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def probability(self) -> FloatArray:
        """The probability of each best span: of its start times of its end."""
        return self.probability_of(self)

    @property
    def sizes(self) -> IntArray:
        """How many positions each window has."""
        return np.diff(self.bounds)

    def probability_of(self, fixed: Observed) -> FloatArray:
        """The probability that this reader gives the spans of another observation of the same windows.

        It is 0 where there was nothing to quote.
        """
        if self.ids != fixed.ids or (self.bounds != fixed.bounds).any():
            raise UsageError("the two saw different questions or windows; observe both with fixed=…")
        at = self.bounds[:-1]
        logs = self.starts[at + fixed.first].astype(np.float64) + self.ends[at + fixed.last]
        return np.asarray(np.exp(logs) * (fixed.first > 0))

    def take(self, places: Sequence[int] | IntArray) -> Observed:
        """The observation of some of the questions."""
        places = np.asarray(places, np.int64)
        sizes = self.sizes[places]
        bounds = np.append(0, np.cumsum(sizes))
        flat = np.repeat(self.bounds[places] - bounds[:-1], sizes) + np.arange(bounds[-1])
        parts: dict[str, Any] = {"bounds": bounds}
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name in ("starts", "ends", "fair", "pictures"):
                parts[each.name] = value[flat]
            elif isinstance(value, tuple):
                parts[each.name] = tuple(value[place] for place in places.tolist())
            elif each.name != "bounds":
                parts[each.name] = value[places]
        return replace(self, **parts)

    def predictions(self, pools: Sequence[Pool], confidence: FloatArray) -> Predictions:
        """The answers to questions of SQuAD, each right if it matches a gold exactly."""
        if tuple(pool.id for pool in pools) != self.ids:
            raise UsageError("these are not the questions that were observed; observe these first")
        gold = [golds(pool) for pool in pools]
        right = np.array([exact(text, each) for text, each in zip(self.texts, gold, strict=True)], np.bool_)
        answerable = np.array([any(map(normalise, each)) for each in gold], np.bool_)
        return Predictions(self.ids, confidence, right & self.says & answerable, answerable, self.says)

    def save(self, path: Path) -> None:
        """Write it as one file of arrays."""
        arrays: dict[str, Any] = {
            each.name: _packed(value) if isinstance(value, tuple) else value
            for each in fields(self)
            for value in [getattr(self, each.name)]
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            np.savez(file.buffer, **arrays)

    @classmethod
    def load(cls, path: Path) -> Observed:
        """What `save` wrote."""
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as found:
                parts: dict[str, Any] = {each.name: found[each.name] for each in fields(cls)}
            for name in ("ids", "texts"):
                parts[name] = tuple(json.loads(parts[name].tobytes()))
            return cls(**parts)
        except (ValueError, KeyError, OSError, EOFError, BadZipFile) as error:
            what = f"holds no observation ({type(error).__name__})"
            raise DataError(what, path=path, fix="delete it, and observe again") from None


def _packed(texts: tuple[str, ...]) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(texts).encode("ascii"), np.uint8)
